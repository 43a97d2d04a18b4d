from pathlib import Path

import pytest

import made_files


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(made_files, "ROOT", tmp_path)
    return tmp_path / "page.md"


def run(monkeypatch: pytest.MonkeyPatch, page: Path, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["tools/some_page.py", *words])
    return made_files.run("Write a page.", lambda: {page: "one\ntwo\n"})


def test_what_is_written_is_as_it_has_to_be(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, page) == 0
    assert page.read_text() == "one\ntwo\n"
    assert capsys.readouterr().out == "2 lines in page.md\n"
    assert run(monkeypatch, page, "--check") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("present", ["", "one\n2\n"])
def test_check_shows_what_differs_and_says_what_to_run(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], present: str
) -> None:
    if present:
        page.write_text(present)
    assert run(monkeypatch, page, "--check") == 1
    shown, said = capsys.readouterr()
    assert "+two" in shown.splitlines()
    assert said == "out of date: 1 of 1; run tools/some_page.py without --check\n"
    assert page.exists() == bool(present)


def test_file_that_is_not_to_be_there_differs(page: Path) -> None:
    assert made_files.check({page: ""}) == 0
    page.write_text("one\n")
    assert made_files.check({page: ""}) == 1


def test_tables_are_put_between_their_marks(page: Path) -> None:
    page.write_text("A\n<!-- a -->\nold\n<!-- end of a -->\nB\n<!-- b -->\n<!-- end of b -->\n")
    made = made_files.with_tables(page, {"a": lambda: made_files.table(("x", "y"), [("1", "2")]), "b": lambda: ["z"]})
    assert made == (
        "A\n<!-- a -->\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n<!-- end of a -->\nB\n"
        "<!-- b -->\n\nz\n\n<!-- end of b -->\n"
    )


def test_page_without_the_marks_of_a_table_is_refused(page: Path) -> None:
    page.write_text("<!-- a -->\n")
    with pytest.raises(SystemExit, match=r"page\.md lacks the marks <!-- a --> and <!-- end of a -->"):
        made_files.with_tables(page, {"a": list})
