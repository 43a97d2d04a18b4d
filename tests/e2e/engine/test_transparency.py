"""What the interpreter tells of a program is what it would be without a debugger."""

import itertools
import json
import os
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient
from e2e.python.listening_program import SOURCES, Listening, client, running, running_command

RIGHTLY_DIFFERENT = {
    "tools": "sys.monitoring shows its tools: ours is `dapkit`",
    "atexit": "one more function is called at the exit, the last one, which reports it",
    "breakpointhook": "`breakpoint()` stops in the debugger",
    "threads begun": "the interpreter counts the thread that serves the debugger; nothing else shows it",
    "line_buffering of stdout": "a line is to be seen when it was written, as in a terminal, although this is a pipe",
}

IN_EXPRESSION = ("depth", "frames", "stack", "signals")
"""What is called for the client is called by the debugger, and one signal interrupts it if it takes too long."""

LOOK = """
    import sys
    first = {
        "modules": list(sys.modules),
        "importers": list(sys.path_importer_cache),
        "main": [(name, type(value).__name__) for name, value in globals().items()],
        "main's dict": sys.modules["__main__"].__dict__ is globals(),
    }
    import _thread, atexit, fcntl, gc, json, os, resource, signal, stat, threading, traceback, warnings

    def back(frame):
        found = []
        while frame is not None:
            found.append((frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_lineno))
            frame = frame.f_back
        return found

    def depth(n=0):
        try:
            return depth(n + 1)
        except RecursionError:
            return n

    def frames_at_rest():  # our thread may still be on its way into native code, where it has no frame
        for _ in range(200):
            if len(sys._current_frames()) == 1:
                break
            threading.Event().wait(0.05)
        return len(sys._current_frames())

    def descriptors():
        found = []
        for number in sorted(map(int, os.listdir("/proc/self/fd"))):
            try:
                kind = stat.S_IFMT(os.fstat(number).st_mode)
            except OSError:
                continue  # that of the listing
            if number < 200 or not fcntl.fcntl(number, fcntl.F_GETFD) & fcntl.FD_CLOEXEC:
                found.append((number, kind))
        new = os.open("/dev/null", os.O_RDONLY)
        os.close(new)
        return len(found), new, found

    def fail():
        try:
            [].missing
        except AttributeError as error:
            raise ExceptionGroup("some", [KeyError("x"), OSError(2, "y")]) from error

    def reports():
        found = []
        for action in (fail, lambda: compile("x = (", "text", "exec"), lambda: __import__("missing.part")):
            try:
                action()
            except Exception:
                found.append(traceback.format_exc())
        return found

    def look():
        mask = os.umask(0o22)
        os.umask(mask)
        return {
            **{name: getattr(sys, name) for name in ("orig_argv", "argv", "path", "warnoptions", "_xoptions", "flags")},
            "descriptors": min(descriptors() for _ in range(50)),  # a file of ours may be open for a moment
            "hooks": [
                repr(f) for f in (sys.excepthook, threading.excepthook, sys.unraisablehook, sys.displayhook)
            ],
            "breakpointhook": repr(sys.breakpointhook),
            "threads": [thread.name for thread in threading.enumerate()],
            "active threads": threading.active_count(),
            "current frames": frames_at_rest(),
            "threads begun": _thread._count(),
            "signals": [repr(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
            "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
            "wakeup": signal.set_wakeup_fd(-1),
            "environment": list(os.environ.items()),
            "cwd": os.getcwd(),
            "umask": mask,
            "limits": [
                (name, resource.getrlimit(getattr(resource, name))) for name in dir(resource) if "RLIMIT_" in name
            ],
            "relations": (os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()),
            "tracing": (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
            "coroutines": (*sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth()),
            "recursion limit": sys.getrecursionlimit(),
            "depth": depth(),
            "frames": back(sys._getframe()),
            "stack": traceback.format_stack(),
            "reports": reports(),
            "gc": (repr(gc.callbacks), gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.get_debug()),
            "gc lists of the debugger": sorted(
                {type(each).__name__ for each in gc.get_objects() if "dapkit" in type(each).__module__}
            ),
            "atexit": atexit._ncallbacks(),
            "filters": repr(warnings.filters),
            "intervals": (sys.getswitchinterval(), sys.get_int_max_str_digits()),
            "meta path": repr(sys.meta_path),
            "path hooks": [hook.__qualname__ for hook in sys.path_hooks],
            "streams": [
                (s.name, s.mode, s.encoding, s.errors, s.write_through, sorted(vars(s)))
                for s in (sys.stdin, sys.stdout, sys.stderr)
            ],
            "line_buffering of stdout": sys.stdout.line_buffering,
            "tools": [sys.monitoring.get_tool(number) for number in range(6)],
        }
"""

LOOKS = (
    LOOK
    + """
    seen = [first, look()]
    stop = 1
    seen.append(look())
    with open("seen.json", "w") as file:
        json.dump(seen, file)
"""
)
STOP = textwrap.dedent(LOOKS).lstrip("\n").splitlines().index("stop = 1") + 1

type Seen = list[dict[str, Any]]


def seen_by(folder: Path) -> Seen:
    seen: Seen = json.loads((folder / "seen.json").read_text())
    return seen


def plain_run(python: str, folder: Path, *arguments: str) -> Seen:
    subprocess.run(
        [python, *arguments],
        cwd=folder,
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "DAPKIT_CHECK_MARKS": "1"},
    )
    return seen_by(folder)


def differences(ours: dict[str, Any], plain: dict[str, Any], *more: str) -> dict[str, object]:
    assert ours.keys() == plain.keys()
    return {
        name: (ours[name], plain[name])
        if not isinstance(plain[name], list)
        else [pair for pair in itertools.zip_longest(ours[name], plain[name]) if pair[0] != pair[1]]
        for name in plain
        if ours[name] != plain[name] and name not in RIGHTLY_DIFFERENT and name not in more
    }


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (["--program", "./prog.py"], ["./prog.py"]),
        (["--module", "prog"], ["-m", "prog"]),
        (["--code", "import runpy; runpy.run_path('prog.py')"], ["-c", "import runpy; runpy.run_path('prog.py')"]),
    ],
    ids=["program", "module", "code"],
)
def test_launched_program_is_told_what_it_would_be_without_a_debugger(
    python: str, tmp_path: Path, ours: list[str], theirs: list[str]
) -> None:
    (tmp_path / "prog.py").write_text(textwrap.dedent(LOOKS).lstrip("\n"))
    plain_run(python, tmp_path, *theirs, "a", "-b")  # makes the caches of modules
    [main, before, after] = plain_run(python, tmp_path, *theirs, "a", "-b")
    with EngineClient(python, tmp_path, *ours, "--", "a", "-b") as peer:
        peer.configure(lines=[STOP])
        peer.stopped("breakpoint")
        peer.value("seen.append(look())")
        peer.go()
        assert peer.finish() == (0, "", "")
    [our_main, running, stopped, went_on] = seen_by(tmp_path)
    assert our_main == main
    assert differences(running, before) == {}
    assert differences(went_on, after) == {}
    assert differences(stopped, before, *IN_EXPRESSION) == {}


ATTACHED = (
    LOOK
    + """
    look()
    import dapkit
    dapkit.listen(("127.0.0.1", 0)) if "listen" in sys.argv else look()
    dapkit.wait_for_client() if "listen" in sys.argv else look()
    while len(sys._current_frames()) > 1:  # until the debugger's thread has done what the client has asked for
        pass
    seen = [look()]
    stop = 1
    seen.append(look())
    with open("seen.json", "w") as file:
        json.dump(seen, file)
"""
)
ATTACHED_STOP = textwrap.dedent(ATTACHED).lstrip("\n").splitlines().index("stop = 1") + 1


async def look_at_a_stop(program: Listening, line: int) -> None:
    """Attach to a program, have it look around once more where it stops, and let it run to its end."""
    program.read_place()
    async with client() as session:
        await session.add_breakpoint(program.file, line)
        await session.attach(program.connect)
        assert (await session.next_stop()).reason == "breakpoint"
        [frame, *_] = (await session.stack_trace(1)).stack_frames
        await session.evaluate("seen.append(look())", frame_id=frame.id)
        await session.resume()
        assert program.process.wait(30) == 0


@pytest.mark.thorough
@pytest.mark.each_python
async def test_attached_program_is_told_what_it_would_be_without_a_debugger(python: str, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": ""}
    with running(ATTACHED, tmp_path, python, "-----", env=environment) as program:
        assert program.process.wait(30) == 0
    before, after = seen_by(tmp_path)
    with running(ATTACHED, tmp_path, python, "listen", env=environment) as program:
        await look_at_a_stop(program, ATTACHED_STOP)
    running_, stopped, went_on = seen_by(tmp_path)
    ours = {"argv", "orig_argv"}  # which the test has given
    assert differences(running_, before, *ours) == {}
    assert differences(stopped, before, *IN_EXPRESSION, *ours) == {}
    assert differences(went_on, after, *ours) == {}


@pytest.mark.thorough
@pytest.mark.each_python
async def test_program_that_the_module_runs_is_told_what_it_would_be_without_it(python: str, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": ""}
    plain = [python, "-X", "utf8", "-W", "ignore", "prog.py", "a", "-b"]
    for _ in range(2):  # the first makes the caches of modules
        with running_command(LOOKS, tmp_path, plain, env=environment) as program:
            assert program.process.wait(30) == 0
    [main, before, after] = seen_by(tmp_path)
    module = ["-m", "dapkit", "--listen", "0", "--wait-for-client"]
    with running_command(LOOKS, tmp_path, [*plain[:-3], *module, *plain[-3:]], env=environment) as program:
        await look_at_a_stop(program, STOP)
    [our_main, running_, stopped, went_on] = seen_by(tmp_path)
    assert our_main == main
    assert differences(running_, before) == {}
    assert differences(went_on, after) == {}
    assert differences(stopped, before, *IN_EXPRESSION) == {}


@pytest.mark.each_python
def test_profiler_of_the_program_sees_nothing_of_the_debugger(start: Start) -> None:
    peer = start(
        """
        import cProfile, os, pstats
        def work():
            return sum(range(10))
        profile = cProfile.Profile()
        profile.enable()
        work()
        stop = 1
        while not os.path.exists("go"):
            work()
        profile.disable()
        own = {file for file, _, name in pstats.Stats(profile).stats if "debuggee" in file}
        print(sorted(own))
        """
    )
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    peer.go()
    for _ in range(3):
        peer.ask("threads")
    (peer.folder / "go").touch()
    assert peer.finish() == (0, "[]\n", "")
