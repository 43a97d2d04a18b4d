"""The life of a session: start, configuration, stops, and the end of the program or of the link."""

import os
import select
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient, Refused

PROGRAM = """
    import sys
    def add(a, b):
        total = a + b
        return total
    def main():
        items = [1, 2, {"k": (1,)}]
        x = add(1, 2)
        print("x", x)
        return x
    main()
    sys.exit(3)
"""


@pytest.mark.each_python
def test_program_stops_at_a_breakpoint_shows_itself_and_runs_to_its_end(start: Start) -> None:
    peer = start(PROGRAM)
    placed = peer.configure(lines=[3])
    assert [(one["verified"], one["line"]) for one in placed] == [(True, 3)]
    stopped = peer.stopped("breakpoint")
    assert stopped == {
        "reason": "breakpoint",
        "threadId": 1,
        "allThreadsStopped": True,
        "hitBreakpointIds": [placed[0]["id"]],
    }
    assert [(frame["name"], frame["line"]) for frame in peer.stack()] == [("add", 3), ("main", 7), ("<module>", 10)]
    assert {name: row["value"] for name, row in peer.locals().items()} == {"a": "1", "b": "2"}
    assert peer.locals(frame=1)["items"]["value"] == "[1, 2, {'k': (1,)}]"
    peer.go()
    assert peer.finish() == (3, "x 3\n", "")
    *_, last = peer.events()
    assert (last["event"], last["body"]) == ("exited", {"exitCode": 3})


@pytest.mark.each_python
def test_uncaught_exception_is_reported_as_without_a_debugger(start: Start, python: str, tmp_path: Path) -> None:
    peer = start(
        """
        import json
        def f():
            json.loads('{')
        try:
            f()
        except ValueError as e:
            raise KeyError(1) from e
        """
    )
    plain = subprocess.run([python, "prog.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    peer.configure()
    assert peer.finish() == (plain.returncode, plain.stdout, plain.stderr)
    assert plain.returncode == 1


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize(
    "text",
    [
        "x = (\n",
        "raise SystemExit('said')",
        "import sys; sys.exit(300)",
        "raise KeyboardInterrupt",
        "import atexit; atexit.register(print, 'last'); print('first')",
        "import threading, time\nt = threading.Thread(target=lambda: (time.sleep(0.1), print('thread')))\nt.start()\n",
        "import os; print('unflushed', flush=True); os._exit(5)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "import sys; sys.excepthook = lambda *a: print('hook', a[0], a[2].tb_frame.f_code.co_name); 1/0",
        "import threading\nt = threading.Thread(target=lambda: 1/0, name='T')\nt.start()\nt.join()\n",
        "def f(n): f(n + 1)\ntry:\n    f(0)\nexcept RecursionError:\n    print('deep')\n",
        "import traceback\ntry:\n    1/0\nexcept Exception:\n    traceback.print_exc()\n",
        "x = '\\d'\n",
        "# -*- coding: latin-1 -*-\nprint(ascii('é'))\n",
        "\ufeffprint('bom')\n",
    ],
)
def test_program_ends_as_it_does_without_a_debugger(start: Start, python: str, tmp_path: Path, text: str) -> None:
    peer = start(text)
    plain = subprocess.run([python, "prog.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    peer.configure(lines=[1])
    while not peer.ended:
        message = peer.read(time.monotonic() + 30)
        if message is not None and message.get("event") == "stopped":
            peer.send("continue", threadId=message["body"]["threadId"])
    assert peer.finish() == (plain.returncode, plain.stdout, plain.stderr)


def test_exit_code_is_told_last_and_after_atexit(start: Start) -> None:
    peer = start("import atexit, sys\natexit.register(print, 'bye')\nprint('hello')\nsys.exit('failed')\n")
    peer.configure()
    assert peer.finish() == (1, "hello\nbye\n", "failed\n")
    *_, last = peer.events()
    assert last["body"] == {"exitCode": 1}


WHAT_IS_SEEN = """
    import sys
    known = set(sys.modules)
    names = sorted(name for name in globals() if name != "known")
    import threading, os
    print(sys.argv, __name__, names)
    print(repr(__loader__).split(" at ")[0], type(__spec__), globals().get("__file__"), __builtins__.__name__)
    print(sys.path)
    print([t.name for t in threading.enumerate()])
    print(sys.gettrace(), sys.getprofile(), sys.excepthook is sys.__excepthook__)
    print(sorted(name for name in known if "dapkit" not in name))
    print(sys.modules["__main__"].__dict__ is globals(), list(globals())[:5])
    print(sorted(os.listdir("/proc/self/task"))[1:] == [], len(os.environ))
"""


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("kind", ["program", "module", "code", "folder", "zip"])
def test_program_sees_itself_started_by_python(python: str, tmp_path: Path, kind: str) -> None:
    text = textwrap.dedent(WHAT_IS_SEEN).replace("\n    ", "\n")
    (tmp_path / "json.py").write_text("raise ImportError('the program has its own json')\n")
    (tmp_path / "prog.py").write_text(text)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__main__.py").write_text(text)
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("__main__.py", text)
    ours, theirs = {
        "program": (["--program", "./prog.py"], ["./prog.py"]),
        "module": (["--module", "prog"], ["-m", "prog"]),
        "code": (["--code", text], ["-c", text]),
        "folder": (["--program", "folder"], ["folder"]),
        "zip": (["--program", "zip"], ["zip"]),
    }[kind]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    plain = subprocess.run(
        [python, *theirs, "a", "-b"], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment
    )
    with EngineClient(python, tmp_path, *ours, "a", "-b") as peer:
        peer.configure()
        code, output, errors = peer.finish()
    assert (code, errors) == (0, "")
    ours_lines, plain_lines = output.splitlines(), plain.stdout.splitlines()
    assert ours_lines.pop() != plain_lines.pop()  # the one more thread of the system
    assert ours_lines == plain_lines


@pytest.mark.each_python
def test_program_may_have_files_named_like_modules_that_the_engine_uses(start: Start, tmp_path: Path) -> None:
    names = ["select", "values", "link", "threads", "queue", "opcode", "monitor"]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"mine = {name!r}\n")
    peer = start(  # a module that is built into the interpreter is found before any file
        f"import sys, {', '.join(names)}\n"
        "stop = 1\n"
        f"print(*(name for name in {names} if name in sys.builtin_module_names or sys.modules[name].mine == name))\n"
    )
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    peer.go()
    assert peer.finish() == (0, "select values link threads queue opcode monitor\n", "")


RUNS_ON = """
    import sys, time
    def work():
        n = 0
        while not sys.stdin.closed:
            n += 1
            time.sleep(0.01)
    try:
        print("on", flush=True)
        work()
    finally:
        print("finally", flush=True)
"""


def gone(peer: EngineClient) -> int:
    return peer.process.wait(DEADLINE)


@pytest.mark.parametrize("stopped", [True, False])
def test_program_dies_when_the_link_breaks(start: Start, stopped: bool) -> None:
    peer = start(RUNS_ON)
    peer.configure(lines=[5] if stopped else [])
    if stopped:
        peer.stopped("breakpoint")
    peer.connection.close()
    assert gone(peer) == 129


def test_program_that_was_never_configured_dies_with_the_link(start: Start) -> None:
    peer = start(RUNS_ON)
    peer.connection.close()
    assert gone(peer) == 129


@pytest.mark.parametrize(
    "nonsense", [b"Content-Length: x\r\n\r\n", b"Content-Length: 3\r\n\r\n[1]", b"GET / HTTP/1.1\r\n\r\n"]
)
def test_program_dies_when_the_other_end_speaks_nonsense(start: Start, nonsense: bytes) -> None:
    peer = start(RUNS_ON)
    peer.connection.sendall(nonsense)
    assert gone(peer) == 129


def test_no_process_is_left_when_the_adapter_is_killed(python: str, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(textwrap.dedent(RUNS_ON))
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from pathlib import Path; from e2e.engine.engine_client import EngineClient\n"
        f"peer = EngineClient({python!r}, Path({str(tmp_path)!r}), '--program', 'prog.py')\n"
        "peer.configure(lines=[5]); peer.stopped(); print(peer.process.pid, flush=True); input()\n"
    )
    adapter = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with adapter:
        assert adapter.stdout is not None
        number = int(adapter.stdout.readline())
        watch = os.pidfd_open(number)
        adapter.kill()
    assert select.select([watch], [], [], DEADLINE)[0], "the program outlives its debugger"
    os.close(watch)


def test_disconnect_ends_the_program_or_lets_it_run_on(start: Start) -> None:
    peer = start(RUNS_ON)
    peer.configure(lines=[5])
    peer.stopped("breakpoint")
    peer.ask("disconnect")
    assert gone(peer) == 129


def test_program_runs_on_undebugged_after_disconnect_without_termination(start: Start) -> None:
    peer = start(
        """
        import sys, threading
        def work(n):
            total = 0
            for i in range(n):
                total += i
            return total
        t = threading.Thread(target=work, args=(10,))
        t.start(); t.join()
        work(10)
        m = sys.monitoring
        print({(m.get_tool(n), m.get_events(n), m.get_local_events(n, work.__code__)) for n in range(6)})
        """
    )
    peer.configure(lines=[5])
    peer.stopped("breakpoint")
    peer.ask("disconnect", terminateDebuggee=False)
    assert peer.process.communicate(timeout=20)[0] == b"{(None, 0, 0)}\n"
    assert peer.process.returncode == 0


@pytest.mark.parametrize("stopped", [True, False])
def test_terminate_lets_finally_blocks_run(start: Start, stopped: bool) -> None:
    peer = start(RUNS_ON)
    peer.configure(lines=[5] if stopped else [])
    if stopped:
        peer.stopped("breakpoint")
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    peer.ask("terminate")
    code, output, _ = peer.finish()
    assert (code, output) == (-2, "finally\n")
    *_, last = peer.events()
    assert (last["event"], last["body"]) == ("exited", {"exitCode": 130})


def test_terminate_is_refused_by_a_program_that_ignores_signals(start: Start) -> None:
    peer = start("""
        import signal
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        x = 1
    """)
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    with pytest.raises(Refused, match="ignores interrupts"):
        peer.ask("terminate")


@pytest.mark.each_python
def test_child_of_a_fork_runs_undebugged(start: Start) -> None:
    peer = start(
        """
        import os, sys
        def work():
            return 1
        pid = os.fork()
        if pid == 0:
            work()
            print("child", [sys.monitoring.get_events(tool) for tool in range(6)], flush=True)
            os._exit(7)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        work()
        """
    )
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    peer.go()
    assert peer.finish() == (0, "child [0, 0, 0, 0, 0, 0]\nparent 7\n", "")  # and no warning of a fork with threads


def test_another_tool_in_the_place_of_the_debugger_is_reported(python: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.monitoring.use_tool_id(4, 'other')\n")
    (tmp_path / "prog.py").write_text("x = 1\n")
    with EngineClient(python, tmp_path, "--program", "prog.py", env={"PYTHONPATH": str(tmp_path)}) as peer:
        _, errors = peer.process.communicate(timeout=20)
    assert b"in use by another (other)" in errors
    assert peer.process.returncode == 1


def test_file_that_does_not_exist_is_told_as_python_does(python: str, tmp_path: Path) -> None:
    plain = subprocess.run([python, "gone.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    with EngineClient(python, tmp_path, "--program", "gone.py") as peer:
        peer.configure()
        assert peer.finish() == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.thorough
def test_many_forks_leave_the_link_alive(start: Start) -> None:
    peer = start(
        """
        import os
        def fork():
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        for n in range(50):
            fork()
        print("done")
        """
    )
    peer.configure(lines=[9])
    for _ in range(20):
        assert len(peer.ask("threads")["threads"]) == 1
    peer.stopped("breakpoint")
    assert peer.value("n") == "49"
    peer.go()
    assert peer.finish() == (0, "done\n", "")


PROPERTY = """
    import sys
    from hypothesis import HealthCheck, given, settings, strategies as st
    from hypothesis.errors import HypothesisWarning
    import warnings
    warnings.simplefilter("error", HypothesisWarning)
    class Point:
        x = 0
    point = Point()
    @settings(database=None, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.integers())
    def small(n):
        point.x = n
        assert n < 1000
    try:
        small()
    except AssertionError as error:
        print(*error.__notes__)
    print("end")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("watches", [False, True], ids=["breakpoint", "data breakpoint"])
def test_hypothesis_finds_its_tool_free(start: Start, *, watches: bool) -> None:
    peer = start(PROPERTY)
    alone = subprocess.run([sys.executable, peer.folder / "prog.py"], capture_output=True, text=True, check=True).stdout
    peer.configure(lines=[14])
    peer.stopped("breakpoint")
    if watches:
        found = peer.ask("dataBreakpointInfo", name="point.x", frameId=peer.stack()[0]["id"])
        wanted = {"dataId": found["dataId"], "accessType": "write", "condition": "False"}
        [placed] = peer.ask("setDataBreakpoints", breakpoints=[wanted])["breakpoints"]
        assert placed["verified"], placed
    peer.go()
    assert peer.finish()[:2] == (0, alone)
    assert "n=1000" in alone


IMPORTS_DEBUGPY = """
    import sys
    if WHEN:
        from debugpy.server import api
    x = 1
    from debugpy.server import api
    def f():
        breakpoint()
        return 1
    f()
    print(sys.breakpointhook.__module__)
"""


@pytest.mark.parametrize("when", [True, False], ids=["before", "after"])
@pytest.mark.thorough
def test_breakpoint_stops_in_a_program_that_only_imports_debugpy(start: Start, *, when: bool) -> None:
    peer = start(IMPORTS_DEBUGPY.replace("WHEN", str(when)))
    peer.configure()
    peer.stopped("breakpoint")
    assert peer.at() == ("f", 7)
    peer.ask("disconnect", terminateDebuggee=False)
    output, _ = peer.process.communicate(timeout=DEADLINE)
    assert output == b"debugpy._vendored.force_pydevd\n"  # as without a client


def test_hook_of_the_program_itself_is_kept(start: Start) -> None:
    peer = start("import sys\nsys.breakpointhook = lambda: print('mine')\nbreakpoint()\n")
    peer.configure()
    assert peer.finish()[:2] == (0, "mine\n")
