import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap
import works_with_table
from works_with_table import Claim, Limit, Shown, Subject, collected, page, subjects

EVERY = ("3.12", "3.13", "3.14", "3.15")


@pytest.mark.thorough
def test_page_says_what_marks_of_tests_and_the_list_of_editors_say() -> None:
    subprocess.run([sys.executable, works_with_table.__file__, "--check"], check=True)
    written = works_with_table.PAGE.read_text(encoding="utf-8")
    assert all(f"| {name} |" in written or f"| [{name}](" in written for name in subjects())


def test_rows_have_what_was_shown_tried_and_left_out() -> None:
    known = {
        "Vi": Subject(kind="editor", version="1.0", page="../vi.md", tried=("steps",), untested="it has no package"),
        "numpy": Subject(kind="library", package="numpy", limits=(Limit("all", "too much"),)),
    }
    claims = [Claim("numpy", "arrays", EVERY), Claim("numpy", "arrays", EVERY), Claim("numpy", "scalars", ("3.13",))]
    text = page(known, claims, [Shown("Vi", Limit("colours", "it has none"))] * 2)
    version = works_with_table.locked_versions()["numpy"]
    assert [line for line in text.splitlines() if line.startswith("| ") and "---" not in line] == [
        "| | version | what works | Python |",
        "| [Vi](../vi.md) | 1.0 | *tried*: steps | |",
        "| [Vi](../vi.md) | 1.0 | *not tested*: it has no package | |",
        "| with | what | why |",
        "| Vi | colours | it has none |",
        "| | version | what works | Python |",
        f"| numpy | {version} | arrays | 3.12, 3.13, 3.14, 3.15 |",
        f"| numpy | {version} | scalars | 3.13 |",
        "| with | what | why |",
        "| numpy | all | too much |",
    ]


def test_mark_about_something_that_is_not_listed_is_refused_and_so_is_a_listed_thing_without_a_word() -> None:
    with pytest.raises(SystemExit, match="lacks emcas"):
        page({}, [Claim("emcas", "all", EVERY)], [])
    with pytest.raises(SystemExit, match="no test says anything"):
        page({"Emacs": Subject(kind="editor")}, [], [])


@pytest.mark.thorough
def test_marks_are_read_with_the_versions_of_python_that_a_test_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--each-adapter', action='store_true')"
    )
    (tmp_path / "test_marked.py").write_text(
        "import pytest\n"
        "@pytest.fixture\n"
        "def python(): return 3\n"
        "@pytest.mark.works_with('Vi', 'first')\n"
        "@pytest.mark.works_with('Vi', 'second')\n"
        "def test_one(): pass\n"
        "@pytest.mark.each_python\n"
        "@pytest.mark.limit_of('Vi', 'colours', 'it has none')\n"
        "@pytest.mark.works_with('Vi', 'third')\n"
        "def test_each(python): pass\n"
    )
    monkeypatch.setattr(works_with_table, "TESTS", tmp_path)
    found = collected()
    ours = bootstrap.VERSIONS[:1]
    assert found.claims == [Claim("Vi", "first", ours), Claim("Vi", "second", ours), Claim("Vi", "third", EVERY)]
    assert found.limits == [Shown("Vi", Limit("colours", "it has none"))]
