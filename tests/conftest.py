"""What every test stands on: an event loop, real tools or a reason why not, and no process left behind.

Orphans are found too: the test process is the reaper of its descendants, so a
debuggee whose adapter has gone becomes a child of ours and is seen.
"""

import contextlib
import ctypes
import difflib
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import psutil
import pytest

import bootstrap
from dapkit.transport.tasks import loop_options
from interpreters import OURS, free_threaded
from linux_only import needs_linux
from missing import missing, require_root
from windows_lacks import is_not_for_windows

PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
ENVIRONMENT = {
    "DAPKIT_CHECK_MARKS": "1",
    # debugpy writes warnings to the program's output, or lets the other threads run on, when it finds itself slow.
    "PYDEVD_WARN_SLOW_RESOLVE_TIMEOUT": "600",
    "PYDEVD_WARN_EVALUATION_TIMEOUT": "600",
    "PYDEVD_UNBLOCK_THREADS_ON_VARIABLES_TIMEOUT": "600",
}
"""Of all that tests start: marks of the engine are checked, and no debugger looks at the clock."""
ENGINE = (Path(__file__).parent / "e2e/engine", Path(__file__).parent / "e2e/native")
"""Folders of tests that each free-threaded Python of the machine has to pass as well."""
IS_WINDOWS: bool = sys.platform == "win32"
ENDING_SECONDS = 20.0
"""How long after a test its processes may take to end; a machine that is busy with other things is slow in that."""

hypothesis.settings.register_profile(
    "any speed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any speed")  # before other conftests make theirs from it


def pytest_configure() -> None:
    """Have what tests start find its environment, and do nothing at signals that we ignore.

    What the tests start has the default actions of signals.

    A shell ignores SIGINT and SIGQUIT for what it starts in the background, and what is ignored is inherited.
    """
    os.environ.update(ENVIRONMENT)
    for number in (signal.SIGINT, *(getattr(signal, name) for name in ("SIGQUIT", "SIGHUP") if hasattr(signal, name))):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose tests."""
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Run tests marked thorough, too. Without it they run where a path is given, or --row.",
    )
    parser.addoption(
        "--row",
        metavar="NAME",
        help="Run the tests of one row of docs/reference/requests.md alone, such as setBreakpoints.",
    )
    parser.addoption(
        "--each-python",
        action="store_true",
        help="Run tests marked each_python with each version of Python; without it, with the one of the run.",
    )
    parser.addoption(
        "--free-threaded",
        action="store_true",
        help="Run the engine's tests marked each_python with the free-threaded Pythons of the machine alone.",
    )
    parser.addoption(
        "--each-adapter",
        action="store_true",
        help="Run tests marked each_adapter, too: they show with one more adapter what others show.",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Start two workers for a processor, since tests wait as well; none for a few files, which begin sooner."""
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    if len(paths) <= 3 and all(path.is_file() for path in paths):
        return 0
    return 2 * min(len(os.sched_getaffinity(0)), 8)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that debugs programs with the Python of this run, or where it matters and is wanted with each one."""
    if "python" not in metafunc.fixturenames:
        return
    matters = metafunc.definition.get_closest_marker("each_python") is not None
    each = matters and metafunc.config.getoption("--each-python")
    versions = list(bootstrap.VERSIONS if each else [OURS])
    if (each or metafunc.config.getoption("--free-threaded")) and matters and is_of_the_engine(metafunc):
        versions += free_threaded()
    metafunc.parametrize("python", versions, indirect=True, scope="session")


def is_of_the_engine(metafunc: pytest.Metafunc) -> bool:
    """Say whether a test shows what the engine does, in any build of Python: see the marker needs_gil."""
    return metafunc.definition.path.parent in ENGINE and metafunc.definition.get_closest_marker("needs_gil") is None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with tests that may take long, and put into the report what tables of the reference are made of."""
    row = config.getoption("--row")
    if row is not None:
        _check_row(row, items)
        _keep(config, items, lambda item: row in names_of_row(item))
    elif not config.getoption("--thorough") and config.args == config.getini("testpaths"):
        _keep(config, items, lambda item: item.get_closest_marker("thorough") is None)
    if not config.getoption("--each-adapter"):
        _keep(config, items, lambda item: item.get_closest_marker("each_adapter") is None)
    if os.environ.get("DAPKIT_SYSTEM") == "posix":
        _keep(config, items, lambda item: not needs_linux(item.nodeid))
    if sys.platform == "win32":
        _keep(config, items, lambda item: not is_not_for_windows(item.nodeid))
    if config.getoption("--free-threaded"):
        _keep(config, items, lambda item: python_of(item) in bootstrap.FREE_THREADED)
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)  # else one of them is left at the end
    for item in items:
        row = row_of(item)
        if row is None:
            continue
        item.user_properties.append(("row", row))
        python = python_of(item)
        if python is not None:
            item.user_properties.append(("python", python))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that cannot be imported on Windows, and elsewhere those that are for Windows alone."""
    if not collection_path.is_relative_to(config.rootpath):
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    if not IS_WINDOWS:
        return True if name == "tests/windows" else None
    return True if is_not_for_windows(f"{name}::*") else None


def _keep(config: pytest.Config, items: list[pytest.Item], is_kept: Callable[[pytest.Item], bool]) -> None:
    """Deselect all tests but some."""
    others = [item for item in items if not is_kept(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if is_kept(item)]


def _check_row(row: str, items: list[pytest.Item]) -> None:
    """Raise `pytest.UsageError` if no test belongs to a row."""
    rows = {name for item in items for name in names_of_row(item)}
    if row not in rows:
        near = difflib.get_close_matches(row, rows) or sorted(rows)
        raise pytest.UsageError(f"--row: no test belongs to the row {row!r}; did you mean {', '.join(near)}?")


def row_of(item: pytest.Item) -> str | None:
    """Return the row of the table of requests that a test belongs to, None if it belongs to none."""
    marker = item.get_closest_marker("row")
    return None if marker is None else str(marker.args[0])


def names_of_row(item: pytest.Item) -> set[str]:
    """Return the names of a test's row: `setBreakpoints: lines` is one of `setBreakpoints`, too."""
    row = row_of(item)
    return set() if row is None else {row, row.partition(":")[0]}


def python_of(item: pytest.Item) -> str | None:
    """Return the version of Python that a test debugs programs with, None if it has no choice."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    version = parameters.get("python")
    return version if isinstance(version, str) else None


@pytest.fixture
def root() -> None:
    """Run a test that is another user for a while, or gives files away."""
    require_root()


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, object]]:
    """Run coroutine tests on asyncio, and its event loop, which is what dapkit's own programs run on."""
    return "asyncio", dict(loop_options())


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], Path]:
    """Return a function that finds a program by name, or ends the test.

    A missing program skips the test, with the reason; with CI=true it fails it.

        def test_lldb_dap_stops(require_tool):
            adapter = require_tool("lldb-dap-22")
    """

    def find(name: str) -> Path:
        path = shutil.which(name)
        if path is None:
            missing(f"{name} is not installed")
        return Path(path)

    return find


@pytest.fixture(scope="session", autouse=True)
def _adopt_orphans() -> None:
    """Make this process the parent of every descendant that loses its own."""
    if sys.platform == "linux":  # elsewhere an orphan is not found
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@pytest.fixture(autouse=True)
def _no_process_is_left(_adopt_orphans: None) -> Iterator[None]:
    """Fail a test after which a process that it started still runs; end that process."""
    before = children()
    yield
    deadline = time.monotonic() + ENDING_SECONDS
    left: list[str] = []
    while started := children() - before:  # once more after each round: ending a parent brings its children to us
        for pid in reaped(started):
            started.discard(pid)  # first: the init of a namespace ends after all of its processes were reaped
        for pid in started:
            if not has_ended(pid, deadline):
                left.append(f"{pid} {command_line(pid)}")
                psutil.Process(pid).kill()
            with contextlib.suppress(ChildProcessError, OSError):  # reaped meanwhile by what started it
                os.waitpid(pid, 0)
    if left:
        pytest.fail("the test left processes running, which were killed:\n" + "\n".join(left), pytrace=False)


def reaped(pids: set[int]) -> set[int]:
    """Reap those of some children that have ended, and return them."""
    if sys.platform == "win32":
        return set()
    ended = set()
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0]:
                ended.add(pid)
    return ended


def children() -> set[int]:
    """Return the processes whose parent is this one, ended but unreaped ones included."""
    if sys.platform == "win32":
        return {child.pid for child in psutil.Process().children()}
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()  # the usual case, for the price of one system call
    if sys.platform != "linux":
        return {child.pid for child in psutil.Process().children()}
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return {pid for pid in pids if parent(pid) == os.getpid()}


def parent(pid: int) -> int | None:
    """Return the parent of a process, or None if the process has gone."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(status.rpartition(")")[2].split()[1])  # the name before the last parenthesis may hold anything


def has_ended(pid: int, deadline: float) -> bool:
    """Wait until a child has ended, at most until the deadline."""
    if sys.platform != "linux":
        _, alive = psutil.wait_procs([psutil.Process(pid)], max(0.0, deadline - time.monotonic()))
        return not alive
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(process, select.POLLIN)
        return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
    finally:
        os.close(process)


def command_line(pid: int) -> str:
    """Return what a process was started as."""
    if sys.platform != "linux":
        return " ".join(psutil.Process(pid).cmdline())
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
