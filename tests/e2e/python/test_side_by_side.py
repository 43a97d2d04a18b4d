"""The same configuration given to debugpy and to our adapter by the same client: what can be seen is the same."""

import json
import os
import shlex
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from e2e.python.adapter_client import ADAPTER
from e2e.python.raw_client import Message, RawClient, raw_client

pytestmark = pytest.mark.row("launch")

ADAPTERS = {"debugpy": (sys.executable, "-m", "debugpy.adapter"), "ours": ADAPTER}

EXITS = """
    import sys, threading
    def zero(): sys.exit(0)
    def nothing(): sys.exit()
    def one(): sys.exit(1)
    def three(): sys.exit(3)
    def five(): sys.exit(5)
    def true(): sys.exit(True)
    def text(): sys.exit("failed")
    def caught():
        try:
            sys.exit(7)
        except SystemExit:
            pass
    for way in (zero, nothing, one, three, five, true, text, caught):
        thread = threading.Thread(target=way)
        thread.start()
        thread.join()
    def main(): sys.exit(4)
    main()
"""

LIBRARY_TEXT = Path(json.__file__).read_text()


class Run(NamedTuple):
    """What a session has shown: the functions it stopped in, and how the program ended."""

    stops: list[str]
    exit_code: int
    output: str


async def run_under(which: str, folder: Path, filters: list[str], **launch: object) -> Run:
    """Run a program, going on from each stop."""
    async with raw_client(ADAPTERS[which], log="" if which == "ours" else ".*") as client:
        await client.initialize()
        start = await client.send("launch", {"console": "internalConsole", "cwd": str(folder), **launch})
        await client.event("initialized")
        await client.ask("setExceptionBreakpoints", {"filters": filters})
        await client.ask("configurationDone")
        assert (await client.answer(start))["success"]
        stops: list[str] = []
        while (stop := await _next_stop(client, len(stops))) is not None:
            frames = await client.ask("stackTrace", {"threadId": stop["threadId"]})
            stops.append(_name_of(frames["body"]["stackFrames"][0]))
            await client.ask("continue", {"threadId": stop["threadId"]})
        ended = await client.event("exited")
        return Run(stops, ended["exitCode"], client.output("stdout"))


def _name_of(frame: Message) -> str:
    """Call a frame by its function, or by its file and line where it is a module's."""
    name: str = frame["name"].removesuffix(" (Current frame)")
    return f"{Path(frame['source']['path']).name}:{frame['line']} {name}" if name == "<module>" else name


async def _next_stop(client: RawClient, seen: int) -> dict[str, int] | None:
    """Return the stop after so many others, None at the end."""

    def stops() -> list[dict[str, int]]:
        return [message["body"] for message in client.heard if message.get("event") == "stopped"]

    await client.until(lambda message: message.get("event") == "terminated" or len(stops()) > seen)
    return stops()[seen] if len(stops()) > seen else None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("filters", "launch", "stops"),
    [
        (["uncaught"], {}, ["one", "three", "five", "true", "text", "main"]),
        (["uncaught"], {"django": True}, ["one", "five", "true", "text", "main"]),
        (
            ["uncaught"],
            {"breakOnSystemExitZero": True, "jinja": True},
            ["zero", "nothing", "one", "three", "five", "true", "text", "main"],
        ),
        (
            ["uncaught"],
            {"breakOnSystemExit": [None, {"from": 3, "to": 5}], "django": True},
            ["nothing", "three", "five", "text", "main"],
        ),
        (["userUnhandled"], {"debugOptions": ["Django"]}, ["one", "five", "true", "text", "main"]),
    ],
)
async def test_exit_codes_stop_the_program_as_with_debugpy(
    tmp_path: Path, filters: list[str], launch: dict[str, object], stops: list[str]
) -> None:
    (tmp_path / "prog.py").write_text(textwrap.dedent(EXITS))
    for which in ADAPTERS:
        run = await run_under(which, tmp_path, filters, program=str(tmp_path / "prog.py"), **launch)
        assert (which, run.stops, run.exit_code) == (which, stops, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("just_my_code", [True, False])
async def test_program_that_a_library_runs_stops_first_in_a_file_of_the_user(
    tmp_path: Path, *, just_my_code: bool
) -> None:
    (tmp_path / "test_mine.py").write_text("\ndef test_that(): pass\n")
    launch = {"stopOnEntry": True, "justMyCode": just_my_code}
    for which in ADAPTERS:
        # Our own plugin is not a library's here, where it is developed.
        args = ["-q", "-p", "no:cacheprovider", "-p", "no:dapkit", "test_mine.py"]
        run = await run_under(which, tmp_path, [], **launch, module="pytest", args=args)
        assert (which, run.stops, run.exit_code) == (which, ["test_mine.py:2 <module>"], 0)


@pytest.mark.thorough
async def test_text_of_arguments_is_left_to_the_shell_of_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "shown.txt").touch()
    (tmp_path / "prog.py").write_text("import json, sys\njson.dump(sys.argv[1:], open('said', 'w'))\n")
    launch = {"program": str(tmp_path / "prog.py"), "console": "integratedTerminal", "cwd": str(tmp_path)}
    for which, command in ADAPTERS.items():
        (tmp_path / "said").unlink(missing_ok=True)
        async with raw_client(command, log="" if which == "ours" else ".*") as client:
            await client.initialize(supportsRunInTerminalRequest=True, supportsArgsCanBeInterpretedByShell=True)
            await client.send("launch", {**launch, "args": "*.txt \"$HOME\" 'a b' | cat -"})
            asked = await client.until(lambda message: message.get("command") == "runInTerminal")
            wanted = asked["arguments"]
            assert wanted["argsCanBeInterpretedByShell"] is True
            env = {**os.environ, "HOME": "/my home", **wanted.get("env", {})}
            async with await anyio.open_process(" ".join(wanted["args"]), cwd=tmp_path, env=env) as shell:
                await client.accept(asked)
                await client.event("initialized")
                await client.ask("configurationDone")
                await client.event("terminated")
                await client.send("disconnect")
                await shell.wait()
        assert (which, json.loads((tmp_path / "said").read_text())) == (which, ["shown.txt", "/my home", "a b"])


@pytest.mark.thorough
async def test_files_outside_of_every_mapping_can_be_opened_by_reference(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("import json\njson.loads('1')\nx = 1\n")
    mappings = [{"localRoot": "/elsewhere", "remoteRoot": str(tmp_path)}]
    launch = {"program": str(tmp_path / "prog.py"), "pathMappings": mappings, "justMyCode": False}
    line = next(at for at, text in enumerate(LIBRARY_TEXT.splitlines(), 1) if "_default_decoder.decode" in text)
    for which, command in ADAPTERS.items():
        async with raw_client(command, log="" if which == "ours" else ".*") as client:
            await client.initialize()
            await client.send("launch", {**launch, "console": "internalConsole"})
            await client.event("initialized")
            await client.ask("setFunctionBreakpoints", {"breakpoints": [{"name": "json.loads"}, {"name": "loads"}]})
            own = {"path": "/elsewhere/prog.py"}
            await client.ask("setBreakpoints", {"source": own, "breakpoints": [{"line": 2}]})
            await client.ask("configurationDone")
            await client.until_stopped(1)
            await client.ask("continue", {"threadId": 1})
            await client.until_stopped(2)
            [newest, caller, *_] = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
            source = newest["source"]
            assert (caller["source"]["path"], caller["source"].get("sourceReference") or 0) == (own["path"], 0)
            assert (source["path"], source["sourceReference"] > 0) == (json.__file__, True)
            for about in ({"source": source}, {}):
                text = await client.ask("source", {**about, "sourceReference": source["sourceReference"]})
                assert text["body"]["content"] == LIBRARY_TEXT, which
            placed = await client.ask("setBreakpoints", {"source": source, "breakpoints": [{"line": line}]})
            assert placed["body"]["breakpoints"][0]["verified"]
            await client.ask("continue", {"threadId": 1})
            await client.until_stopped(3)
            [newest, *_] = (await client.ask("stackTrace", {"threadId": 1}))["body"]["stackFrames"]
            assert (which, newest["name"], newest["line"]) == (which, "loads", line)
            await client.ask("continue", {"threadId": 1})
            await client.event("terminated")
            await client.send("disconnect")


@pytest.mark.thorough
@pytest.mark.parametrize(("args", "is_said"), [("*.txt", True), ("'$HOME' a", False), (["$HOME"], False)])
async def test_text_of_arguments_is_split_where_no_shell_takes_part(
    tmp_path: Path, args: str | list[str], *, is_said: bool
) -> None:
    (tmp_path / "prog.py").write_text("import sys\nprint(sys.argv[1:])\n")
    async with raw_client() as client:
        await client.start(program=str(tmp_path / "prog.py"), args=args)
        await client.event("exited")
        words = args if isinstance(args, list) else shlex.split(args)
        assert client.output("stdout") == f"{words}\n"
        assert client.output("console").startswith("args: the text was split into words") is is_said


@pytest.mark.thorough
async def test_client_that_knows_no_threads_pauses_and_continues_the_program(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("import os\nprint('begun')\nwhile not os.path.exists('go'):\n    pass\n")
    async with raw_client() as client:
        await client.initialize()
        await client.send("launch", {"program": str(tmp_path / "prog.py")})
        await client.event("initialized")
        await client.ask("configurationDone")
        await client.event("output", category="stdout")
        assert not (await client.ask("continue"))["success"]  # it runs
        assert (await client.ask("pause"))["success"]
        await client.event("stopped", reason="pause")
        for unknown in (0, 7):
            refused = await client.ask("continue", {"threadId": unknown})
            assert refused["message"] == f"there is no thread {unknown}; there are [1]"
        (tmp_path / "go").touch()
        assert (await client.ask("continue", {}))["body"] == {"allThreadsContinued": True}
        assert (await client.event("exited"))["exitCode"] == 0
