"""Install dapkit as users do, into empty environments, and debug with it.

    check_install.py UV TOOLS

UV is the program, TOOLS the folder with auditwheel. The wheel is installed for every interpreter that is at hand, and
the sdist for one where there is no C compiler; each with the newest of all it needs, since the lock file does not count
for users. In each a program is debugged from launch to its end; with the extra `mcp` by the official MCP client,
which starts the installed `dapkit mcp`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bootstrap import surroundings
from build_wheel import build

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300

SESSION = """
import importlib.util, sys
from pathlib import Path
import dapkit
from dapkit.client import BlockingSession, Session
import dapkit.python.adapter
from dapkit.python.adapter.launch.supervisor import parent_command

has_c = importlib.util.find_spec("dapkit.python.debuggee._native") is not None
assert has_c is (sys.argv[1] == "C"), has_c
parent = Path(parent_command("")[0])
supervisor = Path(dapkit.python.adapter.__file__).with_name("dapkit-supervisor")
assert parent == (supervisor if has_c else Path(sys.executable)), parent

with BlockingSession(Session.spawn([sys.executable, "-m", "dapkit.python"])) as session:
    session.add_breakpoint("app.py", 2, condition="x == 21")
    session.launch({"program": "app.py"})
    frame = session.stack_trace(session.next_stop().thread_id).stack_frames[0]
    assert session.evaluate("x * 2", frame_id=frame.id).result == "42"
print("debugged with dapkit", dapkit.__version__, "on", sys.version.split()[0], "with C" if has_c else "without C")
"""

AGENT = """
import importlib.metadata, os, sys
import anyio
from mcp import Client, StdioServerParameters

async def main():
    async with Client(StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))) as client:
        async def debug(**arguments):
            result = await client.call_tool("debug", arguments, meta={"dapkit/details": True})
            assert not result.is_error, result
            return result.structured_content["details"]
        stopped = await debug(action="launch", program="app.py", adapter="dapkit", breakpoints=["app.py:2"])
        assert stopped["snapshot"]["line"] == 2, stopped
        value = (await debug(action="evaluate", expression="x * 2"))["evaluation"]["result"]
        assert value == "42", value
        ended = await debug(action="continue")
        assert (ended["state"], ended["snapshot"]["exitCode"]) == ("terminated", 0), ended
    print("debugged over MCP with mcp", importlib.metadata.version("mcp"))

anyio.run(main)
"""


def main(uv: str, tools: Path, folder: Path) -> None:
    """Build, install everywhere, debug."""
    (folder / "run").mkdir(mode=0o700)
    (folder / "app.py").write_text("x = 21\nprint(x)\n")
    (folder / "bin").mkdir()
    sdist, wheel = build(uv, tools, folder / "dist")
    pythons = _interpreters()
    for number, python in enumerate(pythons):
        extras = "[mcp]" if number == 0 else ""
        _check(uv, python, folder, f"dapkit{extras} @ {wheel.as_uri()}", has_compiler=True)
    _check(uv, pythons[-1], folder, f"dapkit @ {sdist.as_uri()}", has_compiler=False)


def _interpreters() -> list[str]:
    command = [str(ROOT / "tools/bootstrap.sh"), "--interpreters"]
    listed = subprocess.run(command, check=True, timeout=SECONDS, capture_output=True, text=True).stdout
    return [line.split(maxsplit=1)[1] for line in listed.splitlines()]


def _check(uv: str, python: str, folder: Path, wanted: str, *, has_compiler: bool) -> None:
    """Install into an empty environment of an interpreter, and debug there."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        bin_folder = Path(made, "fresh", "bin")
        environment = {**surroundings(), "DAPKIT_RUNTIME_DIR": str(folder / "run")}
        environment["PATH"] = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
        building = environment if has_compiler else {**environment, "PATH": str(folder / "bin"), "CC": "no-compiler"}

        def run(*command: str | Path, env: dict[str, str] = environment) -> None:
            subprocess.run(command, check=True, timeout=SECONDS, cwd=folder, env=env)

        run(uv, "venv", "--quiet", "--python", python, bin_folder.parent)
        run(uv, "pip", "install", "--quiet", "--python", bin_folder / "python", wanted, env=building)
        run(bin_folder / "python", "-c", SESSION, "C" if has_compiler else "Python")
        run(bin_folder / "dapkit", "--version")
        run("test", "-s", bin_folder.parent / "share/man/man1/dapkit.1")
        if "[mcp]" in wanted:
            try:
                run(bin_folder / "python", "-c", AGENT, bin_folder / "dapkit")
            finally:
                run(bin_folder / "dapkit", "hub", "stop")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(str(Path(sys.argv[1]).absolute()), Path(sys.argv[2]).absolute(), Path(made))
