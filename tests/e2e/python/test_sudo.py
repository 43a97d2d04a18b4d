"""Programs that run as root, debugged by a user who is not root: `sudo` in the terminal of the client.

That user is another one of this machine, whom sudo trusts in a view of the file system that only the test has.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dapkit.python.adapter.configuration.arguments import PythonLaunch
from dapkit.python.adapter.launch.command import command_for
from e2e.transport.strangers import NOBODY
from missing import missing

pytestmark = pytest.mark.usefixtures("root")

UNSHARE = "/usr/bin/unshare"
PROJECT = Path(__file__).parents[3]

WORLD = f"""
folder=$1
shift
mkdir "$folder/sudoers.d"
echo "#{NOBODY} ALL=(root) NOPASSWD: SETENV: ALL" >"$folder/sudoers.d/tests"
chmod 0440 "$folder/sudoers.d/tests"
mount --bind "$folder/sudoers.d" /etc/sudoers.d
# Programs in the home of root are to be found, and nothing else there.
for name in "{sys.base_prefix}" "{PROJECT}"; do
    case $name in /root/*) mkdir -p "$folder/home$name"; mount --rbind "$name" "$folder/home$name";; esac
done
if [ -d "$folder/home" ]; then mount --rbind "$folder/home/root" /root; fi
exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "$@"
"""

CLIENT = """
import anyio, os
from pathlib import Path
from dapkit.protocol import ProcessEvent
from e2e.python.adapter_client import adapter_client
from e2e.python.processes import computing

TERMINAL = {"console": "integratedTerminal", "sudo": True}

async def process(driver):
    return Path("/proc", str((await driver.session.wait_for(ProcessEvent, since=0)).system_process_id))

async def main():
    print("client", os.geteuid(), flush=True)
    async with adapter_client(Path.cwd()) as driver:
        text = "import os\\nuser, name = os.geteuid(), os.environ['NAME']\\nprint('done')\\n"
        await driver.start(text, 3, env={"NAME": "Ada"}, **TERMINAL)
        await driver.session.next_stop()
        variables = await driver.locals()
        print((await process(driver)).stat().st_uid, variables["user"].value, variables["name"].value, flush=True)
        print(await driver.resume(), flush=True)
    async with adapter_client(Path.cwd()) as driver:
        await driver.start("while True: pass\\n", **TERMINAL)
        looping = await process(driver)
        await driver.session.disconnect()
    while looping.exists():
        await anyio.sleep(0.05)
    print("disconnected", flush=True)
    async with adapter_client(Path.cwd()) as driver:
        # The engine cannot run meanwhile: the program gets SIGTERM.
        await driver.start("print('ready')\\nsum(range(10 ** 11))\\n", **TERMINAL)
        await (await driver.session.wait_for_terminal()).wait_for_output("ready")
        await computing((await driver.session.wait_for(ProcessEvent, since=0)).system_process_id)
        await driver.session.terminate()
        print(await driver.session.wait_until_ended(), flush=True)

anyio.run(main)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder of the other user's."""
    with TemporaryDirectory() as name:
        for path in (Path(name), Path(name, "project"), Path(name, "runtime")):
            path.mkdir(exist_ok=True)
            path.chmod(0o700)
            shutil.chown(path, NOBODY, NOBODY)
        yield Path(name)


def run_as_another_user(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user whom sudo trusts."""
    if shutil.which("sudo") is None:
        missing("sudo is not installed")
    closed = [path for path in (PROJECT, *PROJECT.parents) if not path.stat().st_mode & 0o001]
    if [path for path in closed if path != Path("/root")]:  # that one has a view of its own
        missing(f"{closed[0]} is closed to other users, so none of them can run this project")
    world = [UNSHARE, "--mount", "--propagation", "private", "sh", "-ec", WORLD, "sh", str(folder)]
    variables = {
        "DAPKIT_RUNTIME_DIR": str(folder / "runtime"),
        "HOME": str(folder),
        "PYTHONPATH": str(PROJECT / "tests"),
    }
    environment = {**os.environ, **variables}
    return subprocess.run(
        [*world, *command], cwd=folder / "project", env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.thorough
def test_program_that_sudo_runs_as_root_is_debugged_and_ended_by_a_user_who_is_not(folder: Path) -> None:
    done = run_as_another_user(folder, sys.executable, "-c", CLIENT)
    assert (done.stdout.splitlines(), done.stderr) == (
        [
            f"client {NOBODY}",
            "0 0 'Ada'",
            "Ended(exit_code=0, adapter_lost=False)",
            "disconnected",
            "Ended(exit_code=143, adapter_lost=False)",
        ],
        "",
    )


def test_password_needs_a_terminal(folder: Path) -> None:
    asked = "from dapkit.python.adapter.configuration.arguments import PythonLaunch as L; from pathlib import Path; "
    asked += "import dapkit.python.adapter.launch.command as c; c.command_for(L(code='pass', sudo=True), Path('link'))"
    done = run_as_another_user(folder, sys.executable, "-c", asked)
    assert "RequestFailed: sudo may ask for a password: it needs a terminal" in done.stderr


def test_adapter_that_is_root_itself_needs_no_sudo() -> None:
    command = command_for(PythonLaunch(code="pass", sudo=True, console="integratedTerminal"), Path("link"))
    assert command.as_root == ()
