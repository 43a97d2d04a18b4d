"""Install dapkit as users do, from a wheel and with the newest of all it needs, and let an agent debug with it.

    check_install.py UV [FOLDER]

The lock file holds what was tested last; here it does not count. What is run in the new environment is the official
MCP client, which starts the installed `dapkit mcp` and debugs a program from launch to its end.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bootstrap import surroundings

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300

AGENT = """
import importlib.metadata, os, sys
import anyio
from mcp import Client, StdioServerParameters

async def main():
    async with Client(StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))) as client:
        async def debug(**arguments):
            result = await client.call_tool("debug", arguments)
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


def main(uv: str, folder: Path) -> None:
    """Build, install, debug, and end the hub."""

    def run(*command: str | Path) -> None:
        subprocess.run(command, check=True, timeout=SECONDS, cwd=folder, env=environment)

    (folder / "run").mkdir(mode=0o700)
    (folder / "app.py").write_text("x = 21\nprint(x)\n")
    environment = {**surroundings(), "DAPKIT_RUNTIME_DIR": str(folder / "run")}
    environment["PATH"] = f"{folder / 'fresh' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    run(uv, "build", "--quiet", "--python", sys.executable, "--wheel", "--out-dir", folder / "dist", ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    run(uv, "venv", "--quiet", "--python", sys.executable, "fresh")
    python = folder / "fresh" / "bin" / "python"
    run(uv, "pip", "install", "--quiet", "--python", python, f"dapkit[mcp] @ {wheel.as_uri()}")
    dapkit = folder / "fresh" / "bin" / "dapkit"
    try:
        run(python, "-c", AGENT, dapkit)
    finally:
        run(dapkit, "hub", "stop")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(sys.argv[1], Path(made))
