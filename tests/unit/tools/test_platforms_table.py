from pathlib import Path

import pytest

import made_files
import platforms_table

FEATURES = """\
[[feature]]
name = "launch"
tests."e2e/python" = "launch"

[[feature]]
name = "the hub"
tests."e2e" = "hub"
tests."unit" = ""
difference = "None."
"""
PAGE = "Before.\n\n<!-- features by system -->\n<!-- end of features by system -->\n\nAfter.\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three files of tests; no reports yet."""
    for name in ("e2e/python/test_launch.py", "e2e/hub/test_client.py", "unit/test_settings.py"):
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).touch()
    (tmp_path / "features.toml").write_text(FEATURES)
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "build").mkdir()
    for name, path in {
        "ROOT": "",
        "TESTS": "tests",
        "FEATURES": "features.toml",
        "PAGE": "page.md",
        "REPORTS": "build",
    }.items():
        monkeypatch.setattr(platforms_table, name, tmp_path / path)
    monkeypatch.setattr(made_files, "ROOT", tmp_path)
    return tmp_path


def report(project: Path, name: str, cases: dict[str, str]) -> None:
    """Write a report with these outcomes, by the names of test cases."""
    tests = []
    for case, outcome in cases.items():
        module, _, function = case.partition("::")
        tests.append(f'<testcase classname="tests.{module}" name="{function}">{outcome}</testcase>')
    (project / "build" / name).write_text(f"<testsuite>{''.join(tests)}</testsuite>")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["platforms_table.py", *arguments])
    return made_files.run("", platforms_table.make)


def rows(project: Path) -> list[str]:
    return [line for line in (project / "page.md").read_text().splitlines() if line.startswith("|")][2:]


def test_functions_are_counted_that_passed_in_all_their_cases(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linux = {
        "e2e.python.test_launch::test_a[3.12]": "",
        "e2e.python.test_launch::test_a[3.13]": "",
        "e2e.python.test_launch::test_b": "<skipped/>",
        "e2e.hub.test_client::test_c": "",
        "unit.test_settings::test_d": "",
    }
    report(project, "python.xml", linux)
    report(project, "posix.xml", linux | {"e2e.python.test_launch::test_a[3.13]": "<failure/>"})
    report(project, "windows.xml", {"e2e.hub.test_client::test_c": ""})
    report(project, "windows-units.xml", {"unit.test_settings::test_d": "", "unit.test_settings::test_e": ""})
    assert run(monkeypatch) == 0
    assert rows(project) == ["| launch | 1 of 1 | no | no |  |", "| the hub | 2 of 2 | 2 of 2 | 3 of 3 | None. |"]
    assert run(monkeypatch, "--check") == 0


def test_system_without_a_report_keeps_its_numbers(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(project, "python.xml", {"e2e.hub.test_client::test_c": ""})
    report(project, "posix.xml", {"e2e.hub.test_client::test_c": ""})
    assert run(monkeypatch) == 0
    (project / "build/posix.xml").unlink()
    report(project, "python.xml", {"e2e.hub.test_client::test_c": "", "unit.test_settings::test_d": ""})
    assert run(monkeypatch) == 0
    assert rows(project)[1] == "| the hub | 2 of 2 | 1 of 1 | no | None. |"


def test_changed_feature_makes_the_page_out_of_date(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(project, "python.xml", {"e2e.hub.test_client::test_c": ""})
    assert run(monkeypatch) == 0
    (project / "features.toml").write_text(FEATURES.replace("None.", "Some."))
    assert run(monkeypatch, "--check") == 1


def test_tests_of_no_feature_are_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "tests/e2e/python/test_attach.py").touch()
    with pytest.raises(SystemExit, match=r"test_attach\.py belongs to no feature"):
        run(monkeypatch, "--check")


def test_feature_without_tests_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "tests/e2e/python/test_launch.py").unlink()
    with pytest.raises(SystemExit, match="has no tests 'launch'"):
        run(monkeypatch, "--check")
