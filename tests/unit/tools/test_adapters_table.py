import json
from pathlib import Path

import pytest

import adapters_table
from dapkit.agent.command_words import OF_ADAPTERS

ALL = dict.fromkeys(OF_ADAPTERS, "yes")
COLUMNS = {
    "one 1: C": {**ALL, "goto": "it lacks `supportsGotoTargetsRequest`", "attach": "one cannot attach"},
    "one 1: C++": {**ALL, "goto": "it lacks `supportsGotoTargetsRequest`"},
    "two: Go": {**ALL, "goto": "it lacks `supportsGotoTargetsRequest`"},
}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    written = tmp_path / "adapters.md"
    monkeypatch.setattr(adapters_table, "PAGE", written)
    monkeypatch.setattr(adapters_table, "ROOT", tmp_path)
    return written


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr("sys.argv", ["adapters_table.py", *arguments])
    adapters_table.main()


def test_a_page_can_be_read_again() -> None:
    assert adapters_table.columns_of(adapters_table.page(COLUMNS)) == COLUMNS


def test_the_same_reason_of_several_adapters_is_one_row() -> None:
    page = adapters_table.page(COLUMNS)
    assert "| `goto` | it lacks `supportsGotoTargetsRequest` | one 1: C, C++; two: Go |" in page


def test_the_languages_of_an_adapter_share_a_column() -> None:
    page = adapters_table.page(COLUMNS)
    assert "| action | one 1: C, C++ | two: Go |" in page
    assert "| `launch` | yes | yes |" in page
    assert "| `attach` | C++ | yes |" in page
    assert "| `goto` | no | no |" in page


def test_the_page_is_about_all_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, "--check")


def test_a_page_that_lacks_an_action_is_out_of_date(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = adapters_table.page(COLUMNS)
    page.write_text(whole)
    run(monkeypatch, "--check")
    page.write_text(whole.replace("| `launch` | yes | yes |\n", ""))
    with pytest.raises(SystemExit, match=r"adapters\.md is out of date"):
        run(monkeypatch, "--check")


def test_an_adapter_that_could_not_be_tried_keeps_its_column(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.write_text(adapters_table.page(COLUMNS))
    tried = tmp_path / "python.xml"
    entries = [f'<property name="adapter" value="{title}"/>' for title in COLUMNS]
    verdicts = json.dumps({**ALL, "pause": "never"}).replace('"', "&quot;")
    entries[2] += f'<property name="verdicts" value="{verdicts}"/>'
    tried.write_text(f"<suite>{''.join(f'<testcase>{entry}</testcase>' for entry in entries)}</suite>")
    run(monkeypatch, "--report", str(tried))
    written = adapters_table.written()
    assert written["one 1: C"] == COLUMNS["one 1: C"]
    assert (written["two: Go"]["pause"], written["two: Go"]["goto"]) == ("never", "yes")


def test_an_adapter_that_was_left_out_of_the_run_keeps_its_column(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.write_text(adapters_table.page(COLUMNS))
    tried = tmp_path / "python.xml"
    verdicts = json.dumps({**ALL, "pause": "never"}).replace('"', "&quot;")
    entry = f'<property name="adapter" value="two: Go"/><property name="verdicts" value="{verdicts}"/>'
    tried.write_text(f"<suite><testcase>{entry}</testcase></suite>")
    run(monkeypatch, "--report", str(tried))
    written = adapters_table.written()
    assert written["one 1: C"] == COLUMNS["one 1: C"]
    assert written["two: Go"]["pause"] == "never"


def test_a_report_without_adapters_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "python.xml"
    empty.write_text("<suite/>")
    with pytest.raises(SystemExit, match="has no adapter"):
        run(monkeypatch, "--report", str(empty))
