"""The page for people who come from debugpy has all that the debugpy of the tests has, and says what the code does."""

import json
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import from_debugpy_page
from dapkit.program_api.command_line import read
from from_debugpy_page import things

DEBUGPY = Path(str(distribution("debugpy").locate_file("debugpy")))
PYDEVD = DEBUGPY / "_vendored" / "pydevd"

OF_OTHER_REQUESTS = {
    *("adapterID", "clientID", "supportsRunInTerminalRequest", "terminateDebuggee", "threadId"),
    *("pydevdSystemInfo", "restart", "startDebugging", "terminate"),
}
"""What debugpy's adapter reads or sends by the same functions, but not as a key of a configuration."""


def text_of(*paths: str) -> str:
    return "".join((DEBUGPY / path).read_text(encoding="utf-8") for path in paths)


def test_page_says_what_becomes_of_each_thing() -> None:
    subprocess.run([sys.executable, from_debugpy_page.__file__, "--check"], check=True)


def test_page_has_every_key_that_debugpy_reads() -> None:
    adapter = text_of("adapter/clients.py", "adapter/launchers.py")
    read = set(re.findall(r"\brequest\(\s*\"(\w+)\"", adapter)) | set(re.findall(r"arguments\.get\(\"(\w+)\"", adapter))
    session = text_of("_vendored/pydevd/_pydevd_bundle/pydevd_process_net_command_json.py")
    options = text_of("_vendored/pydevd/_pydevd_bundle/pydevd_json_debug_options.py")
    [started] = re.findall(r"def _set_debug_options\(.*?\n    def ", session, re.DOTALL)
    read |= set(re.findall(r"\bargs\.get\(\"(\w+)\"", started + options)) | set(
        re.findall(r"\"(\w+)\" in args", options)
    )
    read |= set(re.findall(r"args\.get\(\"(break\w+)\"", session))
    assert len(read) > 40
    assert read - OF_OTHER_REQUESTS - things().keys.keys() == set()


def test_page_has_every_flag_function_and_variable_of_debugpy() -> None:
    functions = re.findall(r"^@_api\(.*\)\ndef (\w+)|^def (get_cli_options)", text_of("public_api.py"), re.MULTILINE)
    assert {one or other for one, other in functions} == things().functions.keys()
    sources = [path for path in DEBUGPY.rglob("*.py") if "tests" not in str(path)]
    text = "".join(path.read_text(encoding="utf-8", errors="replace") for path in sources)
    variables = set(re.findall(r"(?:env|getenv|environ)\b[^)\n]{0,60}?[\"']((?:DEBUGPY|PYDEVD)_[A-Z_]+)[\"']", text))
    assert len(variables) > 30
    assert variables - things().variables.keys() == set()


DEBUGPY_READS = """
import json, sys
import debugpy
from debugpy import server   # which makes pydevd importable
import pydevd
from debugpy.server import cli
fresh = dict(vars(cli.Options)), dict(cli.options.config)
for line in json.load(sys.stdin):
    cli.options.__dict__.clear()
    cli.options.config = dict(fresh[1])
    sys.argv = ["debugpy", *line.split()]
    cli.parse_args()
    names = [name for name in fresh[0] if not name.startswith("_")]
    print(json.dumps({**{name: getattr(cli.options, name) for name in names}, "arguments": sys.argv[1:]}))
"""


def test_command_lines_mean_to_dapkit_what_they_mean_to_debugpy() -> None:
    lines = [switch.example for switch in things().switches.values() if " " in switch.example]
    command = [sys.executable, "-c", DEBUGPY_READS]
    done = subprocess.run(command, input=json.dumps(lines), capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    for line, theirs in zip(lines, map(json.loads, said), strict=True):
        ours = vars(read(line.split()))
        assert {name: theirs[name] for name in theirs if name != "address"} == {
            name: ours[name] for name in theirs if name != "address"
        }
        assert tuple(theirs["address"]) == ours["address"]


def test_page_has_every_switch_of_debugpy() -> None:
    table = re.findall(r"^    \(\"(.*?)\" *,", text_of("server/cli.py"), re.MULTILINE)
    assert len(table) > 12
    for pattern in table:
        words = [word for word in things().switches if re.fullmatch(pattern, word)]
        assert words or pattern == "", pattern  # a file
