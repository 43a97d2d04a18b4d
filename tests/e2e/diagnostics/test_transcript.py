"""Transcripts of real sessions, in Python, C and Go: what is in them, and that no secret is."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.cli import exit_codes
from dapkit.diagnostics.sessions import Where
from dapkit.diagnostics.transcript import as_markdown, transcript_of, write
from e2e.diagnostics.commands import as_json, dapkit, menu
from private_files import is_for_its_owner

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(240)]

MARK = "planted"
"""Is in every secret of these programs, and in nothing else."""

PYTHON = f"""\
import os, sys

class Order:
    def __init__(self, name, prices):
        self.name, self.prices = name, prices

def total(order):
    result = 0
    for price in order.prices:
        result += price
    return result

def main():
    password = "{MARK}-0-literal"
    config = {{"api_key": "plan" + "ted-1-variable", "host": "db.example"}}
    url = "https://ada:{MARK}-2-password@shop.example/?token={MARK}-3-query"
    orders = [Order("first", [1, 2]), Order("second", [5])]
    for order in orders:
        print(order.name, total(order))
    print("token=" + os.environ["API_TOKEN"], *sys.argv[1:])
    print(url, password, config["api_key"], file=sys.stderr)
    raise ValueError("cannot log in by " + url)

main()
"""

C = f"""\
#include <stdio.h>
#include <stdlib.h>

static int add(int first, int second) {{
    int result = first + second;
    return result;
}}

int main(int argc, char **argv) {{
    const char *password = "{MARK}-0-literal";
    const char *url = "https://ada:{MARK}-2-password@shop.example/?token={MARK}-3-query";
    int total = 0;
    for (int number = 1; number <= 2; number++) {{
        total = add(total, number);
    }}
    printf("token=%s %s %s\\n", getenv("API_TOKEN"), argv[2], url);
    printf("password: %s, total %d\\n", password, total);
    fflush(stdout);
    return argc == 3 ? 3 : 4;
}}
"""

GO = f"""\
package main

import (
	"fmt"
	"os"
)

func add(first, second int) int {{
	result := first + second
	return result
}}

func main() {{
	password := "{MARK}-0-literal"
	var apiKey string = "{MARK}-1-variable"
	url := "https://ada:{MARK}-2-password@shop.example/?token={MARK}-3-query"
	total := 0
	for number := 1; number <= 2; number++ {{
		total = add(total, number)
	}}
	fmt.Println("token="+os.Getenv("API_TOKEN"), os.Args[2], url)
	fmt.Println("password:", password, "api_key:", apiKey, "total:", total)
}}
"""

SECRETS = ("--env", f"API_TOKEN={MARK}-4-environment")
ARGUMENTS = ("--password", f"{MARK}-5-argument")


def python_session(project: Path) -> None:
    """Have a program with many secrets end by an exception, after steps and looks at values."""
    (project / "app.py").write_text(PYTHON)
    launch = ("launch", "--timeout", "60", *SECRETS, "-b", "app.py:10", "-b", "app.py:14", "app.py", *ARGUMENTS)
    dapkit(project, *launch)
    dapkit(project, "continue")
    dapkit(project, "step-over")
    dapkit(project, "step-over")
    dapkit(project, "evaluate", "order.prices")
    dapkit(project, "evaluate", "nothing_of_this_name", expect=exit_codes.FAILED)
    dapkit(project, "evaluate", f"password = '{MARK}-6-expression'")
    dapkit(project, "evaluate", f"open('https://x.example/?access_token={MARK}-7-call')", expect=exit_codes.FAILED)
    dapkit(project, "set-breakpoint", "-c", f"password == '{MARK}-8-condition'", "app.py:8")
    dapkit(project, "remove-breakpoint", "app.py:10")
    dapkit(project, "continue")
    dapkit(project, "evaluate", "config")
    dapkit(project, "continue")


def all_forms(project: Path) -> dict[str, str]:
    """Write the transcript in each form there is, with messages; return the texts."""
    said = dapkit(project, "transcript", "--wire")
    paths = [Path(line.split(maxsplit=1)[1]) for line in said.splitlines()]
    assert [path.suffix for path in paths] == [".md", ".html"]
    assert all(is_for_its_owner(path) for path in paths)
    folder = Path(as_json(project, "open-artifacts")["folder"])
    assert {path.parent for path in paths} == {folder}
    return {
        "markdown": paths[0].read_text(encoding="utf-8"),
        "html": paths[1].read_text(encoding="utf-8"),
        "json": dapkit(project, "transcript", "--json", "--wire"),
        "stdout": dapkit(project, "transcript", "-o", "-"),
    }


def leaks(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(form, line[:300]) for form, text in texts.items() for line in text.splitlines() if MARK in line]


@pytest.mark.thorough
def test_transcript_of_a_python_program_has_all_that_was_done_and_no_secret(project: Path) -> None:
    python_session(project)
    texts = all_forms(project)
    assert leaks(texts) == []
    markdown = texts["markdown"]
    for part in (
        "# Debug session of `app.py`",
        "- Ended: `The program ended with exit code 1.`",
        "3. [`total` at `app.py:9`](#step-3): `step`",
        "`dapkit launch --env 'API_TOKEN=[redacted]' -b app.py:10 -b app.py:14 --timeout 60 app.py",
        "### 3. `dapkit step-over`",
        "->  9      for price in order.prices:",
        "Changed:\n\n```text\nresult: 0 -> 1\n```",
        "Changed:\n\n```text\nprice: 1 -> 2\n```",
        "### 5. `dapkit evaluate order.prices`",
        "```text\n[1, 2]\n```",
        "NameError: name 'nothing_of_this_name' is not defined",
        "ValueError: cannot log in by https://[redacted]@shop.example/?token=[redacted]",
        "host",
        "messages on the wire</summary>",
    ):
        assert part in markdown
    found = json.loads(texts["json"])
    assert [step["number"] for step in found["steps"]] == list(range(1, 14))
    assert [step["success"] for step in found["steps"]].count(False) == 2
    before, ended = found["steps"][-3], found["steps"][-1]
    for line in ("first 3", "second 5", "token=[redacted] --password [redacted]"):  # others of the debugger are between
        assert line in before["output"].splitlines()
    assert "ValueError: cannot log in by" in ended["output"]
    assert ended["outcome"] == "The program ended with exit code 1."
    assert sum(len(step["wire"]) for step in found["steps"]) + len(found["laterWire"]) == found["wireKept"]


@pytest.mark.thorough
def test_transcript_of_a_c_program(project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("lldb-dap-22")
    compiler = require_tool("cc")
    (project / "sums.c").write_text(C)
    subprocess.run([compiler, "-g", "-O0", "-o", "sums", "sums.c"], cwd=project, check=True)
    launch = ("launch", "--adapter", "lldb-dap", "--timeout", "60", *SECRETS, "-b", "sums.c:14", "-b", "sums.c:19")
    dapkit(project, *launch, "./sums", *ARGUMENTS)
    dapkit(project, "step-over")
    dapkit(project, "evaluate", "total + 40")
    dapkit(project, "evaluate", "password")
    dapkit(project, "continue")
    dapkit(project, "continue")
    [scope, *_] = as_json(project, "scopes")["details"]["scopes"]
    dapkit(project, "variables", str(scope["variablesReference"]))
    dapkit(project, "continue")
    texts = all_forms(project)
    assert leaks(texts) == []
    markdown = texts["markdown"]
    assert "- Adapter: `lldb-dap`" in markdown
    assert "-> 14          total = add(total, number);" in markdown
    assert "total: 0 -> 1" in markdown
    assert "```text\n41\n```" in markdown
    assert "The program ended with exit code 3." in markdown
    assert "token=[redacted] [redacted] https://[redacted]@shop.example/?token=[redacted]" in markdown
    assert "password: [redacted], total 3" in markdown


@pytest.mark.thorough
def test_transcript_of_a_go_program(project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("dlv")
    require_tool("go")
    (project / "go.mod").write_text("module example.com/sums\n\ngo 1.19\n")
    (project / "main.go").write_text(GO)
    launch = ("launch", "--timeout", "120", *SECRETS, "-b", "main.go:14", "-b", "main.go:19", ".", *ARGUMENTS)
    dapkit(project, *launch)
    dapkit(project, "continue")
    dapkit(project, "step-over")
    dapkit(project, "evaluate", "total + 40")
    dapkit(project, "evaluate", "apiKey")
    dapkit(project, "breakpoints", "clear")
    dapkit(project, "continue")
    texts = all_forms(project)
    assert leaks(texts) == []
    markdown = texts["markdown"]
    assert "- Adapter: `dlv`" in markdown
    assert "-> 19          total = add(total, number)" in markdown
    assert "total: 0 -> 1" in markdown
    assert "```text\n41\n```" in markdown
    assert "The program ended with exit code 0." in markdown
    assert "password: [redacted] api_key: [redacted] total: 3" in markdown


@pytest.mark.thorough
def test_secrets_are_left_out_whatever_the_settings_say(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAPKIT_REDACT_ENABLED", "false")
    python_session(project)
    assert f"{MARK}-4-environment" in dapkit(project, "output")
    assert leaks(all_forms(project)) == []


@pytest.mark.thorough
def test_session_that_has_ended_has_a_transcript_and_two_sessions_have_one_each(project: Path) -> None:
    for _ in range(2):
        dapkit(project, "launch", "-b", "app.py:5", "app.py")
        dapkit(project, "terminate")
    assert as_json(project, "transcript")["session"] == "debug-2"
    first = as_json(project, "transcript", "-s", "debug-1")
    assert (first["session"], first["over"]) == ("debug-1", True)
    assert [step["outcome"] for step in first["steps"]] == ["", "The session was terminated."]


@pytest.mark.thorough
def test_file_is_what_its_name_says_and_is_replaced(project: Path) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    page = project / "page.html"
    page.write_text("old")
    page.chmod(0o644)
    assert dapkit(project, "transcript", "-o", "page.html") == f"Page:     {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert is_for_its_owner(page)
    text = project / "page.txt"
    assert dapkit(project, "transcript", "-o", "page.txt", "--format", "markdown") == f"Markdown: {text}\n"
    below = project / "below"
    below.mkdir()
    assert len(dapkit(project, "transcript", "-o", "below").splitlines()) == 2
    assert sorted(path.suffix for path in below.iterdir()) == [".html", ".md"]
    assert dapkit(project, "transcript", "-o", "-", "--format", "html").startswith("<!doctype html>")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "page.txt"], "Unknown format: give --format"),
        (["-o", "-", "--format", "both"], "Only one format goes to stdout"),
        (["-o", "page.html", "--format", "both"], "Both formats need a folder"),
        (["-o", "-", "--open"], "--open opens the page"),
        (["--json", "--open"], "--json prints the transcript"),
    ],
)
def test_words_that_do_not_go_together_are_refused(project: Path, words: list[str], said: str) -> None:
    assert said in dapkit(project, "transcript", *words, expect=exit_codes.USAGE)


@pytest.mark.thorough
def test_errors_say_what_is_wrong(project: Path) -> None:
    assert "There is no session" in dapkit(project, "transcript", expect=exit_codes.NO_SESSION)
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    said = dapkit(project, "transcript", "-o", "nowhere/page.html", expect=exit_codes.FAILED)
    assert f"{project}/nowhere/page.html cannot be written: No such file or directory" in said
    assert "debug-9" in dapkit(project, "transcript", "-s", "debug-9", expect=exit_codes.NO_SESSION)


@pytest.mark.thorough
def test_page_is_opened_by_the_desktop_if_there_is_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dapkit(project, "launch", "-b", "app.py:5", "app.py")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(variable, raising=False)
    ours = project / "bin"
    ours.mkdir()
    (ours / "xdg-open").write_text('#!/bin/sh\necho noise\necho noise >&2\necho "$1" > "$0.opened"\n')
    (ours / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", f"{ours}{os.pathsep}{os.environ['PATH']}")
    dapkit(project, "transcript", "--open")
    assert not (ours / "xdg-open.opened").exists()
    monkeypatch.setenv("DISPLAY", ":99")
    said = dapkit(project, "transcript", "--open")
    assert "noise" not in said
    assert (ours / "xdg-open.opened").read_text().strip() == said.splitlines()[1].removeprefix("Page:").strip()


@pytest.mark.thorough
def test_python_functions_give_the_same(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python_session(project)
    monkeypatch.chdir(project)
    found = transcript_of(Where.of())
    assert [stop.number for _, stop in found.stops] == [1, 2, 3, 4, 5]
    assert found.stops[2][1].variables[0].was == "0"
    progress: list[str] = []
    written = write(Where.of(), on_progress=lambda text, _percentage: progress.append(text))
    assert progress == ["reading the session", "writing markdown", "writing html"]
    assert written.paths["markdown"].read_text(encoding="utf-8") == as_markdown(written.transcript)


@pytest.mark.thorough
def test_menu_writes_both_files_and_shows_how_the_text_begins(project: Path) -> None:
    python_session(project)
    with menu(project, "transcript") as screen:
        screen.wait("Page:")
        screen.wait("# Debug session of `app.py`")
        screen.wait("## Stops")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type("\x1b")
        assert screen.wait_for_the_end() == 0
    folder = Path(as_json(project, "open-artifacts")["folder"])
    assert sorted(path.suffix for path in folder.iterdir()) == [".html", ".md"]
