"""Reports, the machine, and the folder of a session, for real sessions."""

import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.cli import exit_codes
from dapkit.diagnostics import limits
from e2e.diagnostics.commands import as_json, dapkit, menu
from private_files import is_for_its_owner
from screens import keep_picture

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(300)]

ENVIRONMENT, ARGUMENT, OUTPUT, VARIABLE, PASSWORD, QUERY, LITERAL = (
    "planted-0-environment",
    "planted-1-argument",
    "planted-2-output",
    "planted-3-variable",
    "planted-4-password",
    "planted-5-query",
    "planted-6-literal",
)
PLANTED = (ENVIRONMENT, ARGUMENT, OUTPUT, VARIABLE, PASSWORD, QUERY, LITERAL)

PROGRAM = f"""
import os, sys
api_key = "{LITERAL}"
password = "planted-3-" + "variable"
url = "https://ada:" + "planted-4-" + "password@shop.example/?api_key=" + "planted-5-" + "query"
print("api_key=" + "planted-2-" + "output")
print("given", os.environ["API_TOKEN"], *sys.argv[1:])
print(url)
done = 1
"""


def stopped(project: Path) -> None:
    """Have a program with many secrets stand at its last line, after some looks at it."""
    (project / "secrets.py").write_text(PROGRAM.lstrip())
    dapkit(
        project,
        *("launch", "-b", "secrets.py:8", "--timeout", "60", "--env", f"API_TOKEN={ENVIRONMENT}"),
        *("--", "secrets.py", "--password", ARGUMENT),
    )
    for expression in ("password", "url", "dict(password=password)", "api_key"):
        dapkit(project, "evaluate", expression)
    dapkit(project, "stack-trace")


def unpacked(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {entry.name: content.read() for entry in tar if (content := tar.extractfile(entry)) is not None}


@pytest.mark.thorough
def test_report_has_everything_of_a_session_and_no_secret(project: Path) -> None:
    stopped(project)
    folder = Path(as_json(project, "open-artifacts")["folder"])
    folder.mkdir(mode=0o700, parents=True)
    binary = bytes(range(256)) * 100
    (folder / "heap.bin").write_bytes(binary)
    os.mkfifo(folder / "pipe")
    written = as_json(project, "dump")
    path = Path(written["path"])
    assert path.parent == folder
    assert path.name.startswith("dapkit-report-")
    assert is_for_its_owner(path)
    files = unpacked(path)
    assert set(files) >= {
        *("README.md", "system.txt", "system.json", "settings.json", "configuration.json", "session.json"),
        *("transcript.md", "output.txt", "wire.jsonl", "hub.log", "artifacts/heap.bin"),
    }
    assert sorted(files) == sorted(written["files"])
    assert files["artifacts/heap.bin"] == binary
    assert any(line.startswith("artifacts/pipe: not a regular file") for line in written["leftOut"])
    assert b"artifacts/pipe: not a regular file" in files["README.md"]
    actions = [entry["action"] for entry in json.loads(files["session.json"])["entries"]]
    assert actions == ["launch", *["evaluate"] * 4, "stack_trace"]
    assert json.loads(files["configuration.json"])["arguments"]["args"] == ["--password", "[redacted]"]
    messages = [json.loads(line) for line in files["wire.jsonl"].splitlines()]
    assert messages[0]["name"] == "initialize"
    assert 0 < len(files["hub.log"].splitlines()) <= limits.REPORT_LOG_LINES
    found = [(name, secret) for name, content in files.items() for secret in PLANTED if secret.encode() in content]
    assert found == []
    assert b"[redacted]" in files["output.txt"]


@pytest.mark.thorough
def test_report_holds_no_secret_even_where_answers_may(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_REDACT_ENABLED", "false")
    stopped(project)
    assert VARIABLE in dapkit(project, "evaluate", "password")
    files = unpacked(Path(as_json(project, "dump")["path"]))
    assert [(name, secret) for name, content in files.items() for secret in PLANTED if secret.encode() in content] == []


@pytest.mark.thorough
def test_report_has_the_latest_child_sessions(project: Path) -> None:
    (project / "parent.py").write_text(
        "import subprocess, sys\n"
        "for number in range(12):\n"
        "    subprocess.run([sys.executable, 'child.py', str(number)], check=True)\n"
        "done = 1\n"
    )
    (project / "child.py").write_text("import sys\nprint(sys.argv)\n")
    dapkit(project, "launch", "-b", "parent.py:4", "--timeout", "120", "parent.py")
    written = as_json(project, "dump")
    files = unpacked(Path(written["path"]))
    children = sorted(int(name.split("/")[1]) for name in files if name.endswith("session.json") and "/" in name)
    assert children == list(range(3, 13))
    assert "children: 2 older ones" in written["leftOut"]
    messages = [json.loads(line) for line in files["children/12/wire.jsonl"].splitlines()]
    assert {message["channel"] for message in messages} == {"child 12"}


@pytest.mark.thorough
def test_report_of_a_c_program(
    project: Path, compiled: Callable[[str], Path], require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-dap-22")
    program = compiled("squares.c")
    dapkit(project, "launch", "--adapter", "lldb-dap", "--timeout", "60", "-b", "main", str(program))
    files = unpacked(Path(as_json(project, "dump")["path"]))
    assert json.loads(files["configuration.json"])["adapter"] == "lldb-dap"
    assert b"main" in files["transcript.md"]


@pytest.mark.thorough
def test_report_of_a_go_program(project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("dlv")
    require_tool("go")
    (project / "hello.go").write_text('package main\n\nfunc main() {\n\tprintln("hello")\n}\n')
    (project / "go.mod").write_text("module hello\n")
    dapkit(project, "launch", "--adapter", "dlv", "--timeout", "120", "-b", "hello.go:4", "hello.go")
    files = unpacked(Path(as_json(project, "dump")["path"]))
    assert json.loads(files["configuration.json"])["adapter"] == "dlv"
    assert b"main.main" in files["transcript.md"]


@pytest.mark.thorough
def test_report_without_a_session_has_the_machine_and_the_log(project: Path) -> None:
    written = as_json(project, "dump")
    assert "system.txt" in written["files"]
    assert "session.json" not in written["files"]
    assert any(line.startswith("the session: There is no session") for line in written["leftOut"])


@pytest.mark.thorough
def test_report_goes_to_the_file_that_is_named_and_replaces_none(project: Path) -> None:
    dapkit(project, "dump", "-o", "report.tar.gz")
    assert "README.md" in unpacked(project / "report.tar.gz")
    before = (project / "report.tar.gz").read_bytes()
    assert "File exists" in dapkit(project, "dump", "-o", "report.tar.gz", expect=exit_codes.FAILED)
    assert (project / "report.tar.gz").read_bytes() == before
    assert not list(project.glob(".report*"))


@pytest.mark.thorough
def test_earlier_report_is_named_and_another_archive_is_kept(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    first = Path(as_json(project, "dump")["path"])
    (first.parent / "core.tar.gz").write_bytes(b"\x1f\x8b\0")
    second = as_json(project, "dump")
    assert second["leftOut"] == [f"artifacts/{first.name}: an earlier report"]
    assert unpacked(Path(second["path"]))["artifacts/core.tar.gz"] == b"\x1f\x8b\0"


@pytest.mark.thorough
def test_name_of_a_file_does_not_steer_the_terminal(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    (Path(as_json(project, "dump")["path"]).parent / "red\x1b[31m\n.txt").touch()
    for words in (["open-artifacts"], ["dump"]):
        text = dapkit(project, *words)
        assert "\x1b" not in text
        assert "red\\x1b[31m" in text


@pytest.mark.thorough
def test_unknown_session_is_an_error(project: Path) -> None:
    dapkit(project, "launch", "app.py")
    error = dapkit(project, "dump", "-s", "nowhere", expect=exit_codes.NO_SESSION)
    assert "nowhere" in error


@pytest.mark.thorough
def test_folder_of_a_session_is_printed_where_it_cannot_be_opened(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    assert dapkit(project, "open-artifacts").startswith("Nothing was written about debug-1 yet.")
    path = Path(as_json(project, "dump")["path"])
    folder, line = dapkit(project, "open-artifacts").splitlines()
    assert folder == str(path.parent)
    assert line.endswith(path.name)


@pytest.mark.thorough
def test_old_folders_go_only_when_asked_and_never_of_a_live_session(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    live = Path(as_json(project, "dump")["path"]).parent
    old = live.with_name("debug-0-20200101-000000")
    old.mkdir()
    (old / "heap.bin").write_bytes(b"1234")
    for path in (live / "x", live, old / "heap.bin", old):
        path.touch()
        os.utime(path, (1, 1))
    for path in live.iterdir():
        os.utime(path, (1, 1))
    refused = dapkit(project, "clear-cache", expect=exit_codes.REFUSED)
    assert "--yes removes it" in refused
    listed = as_json(project, "clear-cache", "--dry-run")
    assert [Path(folder["path"]) for folder in listed["folders"]] == [old]
    removal = as_json(project, "clear-cache", "--yes")
    assert (len(removal["removed"]), removal["size"], removal["failed"]) == (1, 4, [])
    assert not old.exists()
    assert live.exists()


def test_age_of_what_goes_is_a_setting(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_ARTIFACTS_DAYS", "7")
    assert dapkit(project, "clear-cache").endswith("is older than 7 days.\n")
    assert dapkit(project, "clear-cache", "--days", "2").endswith("is older than 2 days.\n")


@pytest.mark.thorough
def test_system_is_shown_as_a_table_and_as_json(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", ENVIRONMENT)
    text = dapkit(project, "system")
    assert "  architecture " in text
    assert ENVIRONMENT not in text
    assert as_json(project, "system")["Environment"].get("API_TOKEN") == "[redacted]"


@pytest.mark.thorough
def test_menu_shows_the_machine(project: Path) -> None:
    with menu(project, "system") as screen:
        screen.wait("architecture")
        screen.wait("esc Back")
        keep_picture(screen, "system", "dapkit diagnose: system")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type("\x1b")
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_menu_writes_a_report(project: Path) -> None:
    stopped(project)
    with menu(project, "dump") as screen:
        screen.wait("dapkit-report-")
        screen.wait("README.md")
        screen.wait("esc Back")
        keep_picture(screen, "dump", "dapkit diagnose: dump")


@pytest.mark.thorough
def test_menu_shows_the_folder_of_the_session(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    dapkit(project, "dump")
    with menu(project, "open-artifacts") as screen:
        screen.wait("dapkit-report-")
        screen.wait("esc Back")
        keep_picture(screen, "open-artifacts", "dapkit diagnose: open-artifacts")


@pytest.mark.thorough
def test_menu_lists_old_folders_and_removes_them_after_a_question(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    place = Path(as_json(project, "clear-cache", "-n")["place"])
    for number in range(3):
        old = place / "shop-12345678" / f"debug-{number}-20200101-000000"
        old.mkdir(parents=True)
        os.utime(old, (1, 1))
    with menu(project, "clear-cache") as screen:
        screen.wait("Remove 3 folders? y: yes. Escape: no.")
        for number in range(3):
            screen.wait(f"debug-{number}-20200101-000000")
        keep_picture(screen, "clear-cache", "dapkit diagnose: clear-cache")
        screen.type("y")
        screen.wait("3 folders removed")
    assert not (place / "shop-12345678").exists()
