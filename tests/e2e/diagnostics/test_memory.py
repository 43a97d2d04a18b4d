"""What the heap of a program holds, for real sessions."""

import ast
import json
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dapkit.cli import exit_codes
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.memory import HeapSnapshot, compare, load, memory, saved
from dapkit.diagnostics.sessions import Where
from dapkit.system.selection import LINUX, NAME
from e2e.diagnostics.commands import as_json, dapkit, menu, start_running
from interpreters import interpreter
from private_files import is_for_its_owner
from screens import keep_picture, terminal

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(300)]

GROWING = """
    class Order:
        def __init__(self, number):
            self.number = number
            self.note = f"order {number}"

    class Shop:
        def __init__(self):
            self.orders = [Order(number) for number in range(2000)]

        def serve(self):
            self.orders += [Order(number) for number in range(1000)]

    def main():
        shop = Shop()
        print("open")
        shop.serve()
        print("served")
        return shop

    main()
"""

STATE = """
import gc, os, sys, threading, tracemalloc
def state(names):
    return {
        "modules": sorted(sys.modules), "threads": sorted(thread.name for thread in threading.enumerate()),
        "tasks": len(os.listdir("/proc/self/task")), "descriptors": len(os.listdir("/proc/self/fd")),
        "gc": [gc.isenabled(), gc.get_threshold(), gc.get_debug(), len(gc.callbacks), gc.get_freeze_count()],
        "tracing": [tracemalloc.is_tracing(), tracemalloc.get_traceback_limit()], "interval": sys.getswitchinterval(),
        "profile": [repr(sys.getprofile()), repr(threading.getprofile())], "finders": len(sys.meta_path),
        "path": list(sys.path), "names": sorted(names), "globals": sorted(globals()),
    }
def changed(before, after):
    return [(name, value, after[name]) for name, value in before.items() if after[name] != value]
"""

LEAKING = """
import time, sys, os
kept = []
def grow():
    kept.append(bytearray(10_000))
def rest():
    time.sleep(0.01)
def main():
    print("ready", flush=True)
    while not os.path.exists("end"):
        grow()
        rest()
    print("done", flush=True)
main()
"""


def printed(project: Path) -> str:
    """Return what the program has written, without the fence."""
    return "\n".join(line.removeprefix("| ") for line in dapkit(project, "output").strip().split("\n"))


def row(table: dict[str, Any], name: str) -> tuple[int, int]:
    return next(((row["count"], row["size"]) for row in table["rows"] if row["name"] == name), (0, 0))


def written(project: Path, text: str, name: str = "shop.py") -> Path:
    program = project / name
    program.write_text(textwrap.dedent(text).lstrip())
    return program


def stopped_at_growth(project: Path, *options: str) -> None:
    """Have a program stand before it makes 1,000 objects, and have it stop again behind that."""
    written(project, GROWING)
    dapkit(project, "launch", *options, "--timeout", "60", "-b", "shop.py:15", "-b", "shop.py:17", "shop.py")


@pytest.fixture(scope="session")
def python(request: pytest.FixtureRequest) -> str:
    """Return the interpreter that programs run in; dapkit is not installed there."""
    return str(interpreter(request.param))


@pytest.fixture(params=["dapkit", "debugpy"])
def adapter(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.thorough
def test_own_classes_are_counted_and_growth_is_exact(project: Path, adapter: str) -> None:
    stopped_at_growth(project, "--adapter", adapter)
    before = as_json(project, "memory")
    count, size = row(before["heap"]["types"], "__main__.Order")
    assert count == 2000
    assert 2000 * 32 <= size <= 2000 * 200
    assert row(before["heap"]["holders"], "__main__.Order")[1] > size
    assert before["resident"] > before.get("proportional", 1) > 0
    assert "proportional" in before or NAME != LINUX
    assert is_for_its_owner(Path(before["path"]))
    assert Path(before["path"]).parent == Path(as_json(project, "open-artifacts")["folder"])
    dapkit(project, "continue")
    changes = as_json(project, "memory", "--compare", "last")
    [growth] = [row for row in changes["types"] if row["name"] == "__main__.Order"]
    assert growth["count"] == 1000
    assert growth["size"] * 2 == size
    assert changes["before"]["path"] == before["path"]
    text = dapkit(project, "memory", "--compare", before["path"], "--by", "type", "--limit", "3")
    assert "+1,000" in text
    assert "Growth by line" not in text


@pytest.mark.thorough
@pytest.mark.each_python
def test_each_python_counts_its_objects(project: Path, python: str) -> None:
    stopped_at_growth(project, "--options", json.dumps({"python": python}))
    before = memory(Where.of(project))
    dapkit(project, "continue")
    changes = compare(before, memory(Where.of(project)))
    [growth] = [row for row in changes.types if row.name == "__main__.Order"]
    assert (growth.count, growth.size * 3) == (1000, growth.now)
    assert [row for row in changes.types if "dapkit" in row.name] == []


@pytest.mark.thorough
def test_program_is_the_same_afterwards(project: Path, adapter: str) -> None:
    (project / "state.py").write_text(STATE)
    written(
        project,
        """
            import state
            def main():
                local = [1, 2]
                print("warm")  # debugpy loads much with the first evaluation
                before = state.state(locals())
                after = state.state([name for name in locals() if name != "before"])
                print("same" if after == before else state.changed(before, after))
            main()
        """,
    )
    dapkit(project, "launch", "--adapter", adapter, "--timeout", "60", "-b", "shop.py:4", "-b", "shop.py:6", "shop.py")
    dapkit(project, "evaluate", "local")
    dapkit(project, "continue")
    stood = as_json(project, "stack-trace")["details"]["stackFrames"]
    dapkit(project, "memory")
    assert as_json(project, "stack-trace")["details"]["stackFrames"] == stood
    frame = stood[0]["id"]
    assert "[1, 2]" in dapkit(project, "evaluate", "--frame-id", str(frame), "local")
    dapkit(project, "continue")
    assert printed(project) == "warm\nsame"


@pytest.mark.thorough
def test_program_that_waits_in_native_code_is_not_stopped(project: Path) -> None:
    written(project, "import time\nprint('asleep', flush=True)\ntime.sleep(100_000)\n")
    start_running(project, "shop.py")
    found = memory(Where.of(project))
    assert found.heap is not None
    assert found.heap.objects > 1000
    [session] = as_json(project, "sessions")["details"]["sessions"]
    assert (session["status"], session.get("stopReason")) == ("running", None)


@pytest.mark.thorough
def test_program_that_runs_goes_on_without_a_stop(project: Path) -> None:
    where = leaking(project)
    found = memory(where)
    assert found.heap is not None
    again = memory(where)
    [growth] = [row for row in compare(found, again).types if row.name == "bytearray"]
    assert growth.count > 0
    assert growth.size > 10_000 * growth.count
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
def test_program_that_computes_all_the_time_goes_on(project: Path) -> None:
    text = """
        import os, threading
        def compute():
            while not os.path.exists("end"):
                sum(range(1000))
        threads = [threading.Thread(target=compute) for _ in range(3)]
        for thread in threads:
            thread.start()
        compute()
        print("done", flush=True)
    """
    written(project, text)
    start_running(project, "shop.py")
    for _ in range(3):
        assert memory(Where.of(project)).complete
    assert end(project) == "done"


@pytest.mark.thorough
def test_other_adapters_look_only_at_a_program_that_stands(project: Path) -> None:
    leaking(project, "--adapter", "debugpy")
    error = dapkit(project, "memory", expect=exit_codes.WRONG_STATE)
    assert "debugpy looks at its objects only while it stands" in error


@pytest.mark.thorough
def test_lines_are_those_of_tracemalloc(project: Path, adapter: str) -> None:
    stopped_at_growth(project, "--adapter", adapter, "--env", "PYTHONTRACEMALLOC=1")
    before = memory(Where.of(project))
    dapkit(project, "continue")
    changes = compare(before, memory(Where.of(project)))
    assert changes.lines is not None
    lines = {row.name: row for row in changes.lines}
    made = lines[f"{project / 'shop.py'}:11"]  # the objects, in one list
    assert made.count >= 1000
    noted = lines[f"{project / 'shop.py'}:4"]
    assert noted.count >= 1000
    assert [name for name in lines if "/dapkit/python/debuggee/" in name or "dapkit: heap" in name] == []
    text = dapkit(project, "memory", "--by", "line")
    assert "By line (tracemalloc):" in text
    assert "self.orders += [Order(number) for number in range(1000)]" in text
    assert "By type:" not in text


@pytest.mark.thorough
def test_without_tracemalloc_it_is_said_how_to_know_lines(project: Path) -> None:
    stopped_at_growth(project)
    text = dapkit(project, "memory")
    assert "-X tracemalloc" in text
    assert "--attach" in text


@pytest.mark.thorough
def test_snapshots_have_names_and_no_values(project: Path) -> None:
    secret = "planted" + "-" + "value"
    written(
        project,
        f"password = '{secret[:7]}' + '-value'\nkept = {{password: [password], 'api_key': password}}\ndone = 1\n",
    )
    dapkit(project, "launch", "--timeout", "60", "--env", f"API_TOKEN={secret}", "-b", "shop.py:3", "shop.py")
    path = Path(as_json(project, "memory")["path"])
    assert secret not in path.read_text()
    assert "api_key" not in path.read_text()


@pytest.mark.thorough
def test_comparison_needs_a_snapshot(project: Path) -> None:
    stopped_at_growth(project)
    assert "No snapshot of this session is kept." in dapkit(project, "memory", "--compare", "last", expect=2)
    assert "shop.py is not a snapshot of a heap" in dapkit(project, "memory", "--compare", "shop.py", expect=2)
    assert saved(Where.of(project)) == []


@pytest.mark.thorough
def test_snapshot_is_read_again_from_its_file(project: Path) -> None:
    stopped_at_growth(project)
    made = memory(Where.of(project))
    [path] = saved(Where.of(project))
    assert load(path) == made


@pytest.mark.thorough
def test_c_program_is_refused_with_what_can_be_done(
    project: Path, compiled: Callable[[str], Path], require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-dap-22")
    dapkit(project, "launch", "--adapter", "lldb-dap", "--timeout", "60", "-b", "main", str(compiled("squares.c")))
    error = dapkit(project, "memory", expect=exit_codes.UNSUPPORTED)
    assert "is native code: only Python's objects are known." in error
    assert "heaptrack" in error


@pytest.mark.thorough
def test_go_program_is_refused_with_what_can_be_done(project: Path, require_tool: Callable[[str], Path]) -> None:
    require_tool("dlv")
    require_tool("go")
    (project / "hello.go").write_text('package main\n\nfunc main() {\n\tprintln("hello")\n}\n')
    dapkit(project, "launch", "--adapter", "dlv", "--timeout", "120", "-b", "hello.go:4", "hello.go")
    error = dapkit(project, "memory", expect=exit_codes.UNSUPPORTED)
    assert "is Go: only Python's objects are known." in error
    assert "go tool pprof" in error


@pytest.mark.thorough
def test_program_that_has_ended_is_an_error(project: Path) -> None:
    stopped_at_growth(project)
    dapkit(project, "terminate")
    assert "has ended" in dapkit(project, "memory", expect=exit_codes.WRONG_STATE)


# memray


def leaking(project: Path, *options: str) -> Where:
    """Have a program run that keeps what it allocates, until there is a file `end`."""
    written(project, LEAKING, "leak.py")
    start_running(project, *options, "leak.py")
    return Where.of(project)


def end(project: Path) -> str:
    """Have that program end, and return what it wrote."""
    (project / "end").touch()
    dapkit(project, "wait", "--timeout", "60")
    return printed(project)


@pytest.fixture
def _memray(monkeypatch: pytest.MonkeyPatch, require_tool: Callable[[str], Path]) -> None:
    """Have memray, and a debugger that gets into a running program."""
    pytest.importorskip("memray")
    ours = Path(__file__).parents[3] / ".tools" / "bin"
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{ours}")
    require_tool("gdb")


def line_of_growth(project: Path) -> str:
    return f"{project / 'leak.py'}:4"


def allocated(found: HeapSnapshot) -> dict[str, tuple[int, int]]:
    assert found.allocations is not None
    return {row.name: (row.count, row.size) for row in found.allocations.lines.rows}


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_memray_sees_what_a_running_program_allocates_and_keeps(project: Path, adapter: str) -> None:
    where = leaking(project, "--adapter", adapter)
    reports: list[str] = []
    found = memory(where, attach=True, seconds=2, on_progress=lambda text, _: reports.append(text))
    count, size = allocated(found)[line_of_growth(project)]
    assert count > 0
    assert size >= count * 5_000  # the list grows there, too
    assert [name for name in allocated(found) if "/memray/" in name or "debuggee" in name] == []
    assert "memray: 1 of 2 s" in reports
    assert "By line" not in found.as_text(by="type") or adapter == "debugpy"
    assert f"{line_of_growth(project)}  kept.append(bytearray(10_000))" in found.as_text()
    assert "stay mapped in the program" in found.as_text()
    assert (found.heap is None) is (adapter == "debugpy")
    assert [path.name for path in Path(found.path).parent.iterdir() if "memray" in path.name] == []
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_memray_is_taken_back_from_the_program(project: Path) -> None:
    (project / "state.py").write_text(STATE)
    text = LEAKING.replace("def main():\n", "def main():\n    import state\n    before = state.state([])\n")
    text = text.replace('print("done", flush=True)', "print(state.changed(before, state.state([])))")
    written(project, text, "leak.py")
    start_running(project, "leak.py")
    for _ in range(2):
        found = memory(Where.of(project), attach=True, seconds=1)
        assert allocated(found)[line_of_growth(project)][0] > 0
    assert "Nothing of memray is left in the program that was not there before." in found.as_text()
    ready, changed = end(project).splitlines()
    assert ready == "ready"
    [(name, before, after)] = ast.literal_eval(changed)
    assert (name, after - before) == ("descriptors", 2)  # the pipe that is spoken of


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_memray_ends_early_with_what_it_has(project: Path) -> None:
    where = leaking(project)
    stop = threading.Event()

    def look(text: str, _percentage: float | None) -> None:
        if text == "memray: 1 of 3000 s":
            stop.set()

    found = memory(where, attach=True, seconds=3000, on_progress=look, stop=stop)
    assert found.allocations is not None
    assert found.allocations.seconds < 2000
    assert allocated(found)[line_of_growth(project)][0] > 0
    assert not found.complete
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_command_ends_with_what_it_has_when_it_is_interrupted(project: Path) -> None:
    leaking(project)
    command = [sys.executable, "-m", "dapkit.cli", "memory", "--attach", "--seconds", "3000"]
    with terminal(command, project, {}, columns=200, lines=60) as screen:
        screen.wait("memray: 1 of 3000 s")
        screen.type("\x03")
        screen.wait("still there, by line (memray):")
        screen.wait(f"{line_of_growth(project)}  kept.append(bytearray(10_000))")
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_memray_ends_with_the_command_that_has_asked_for_it(project: Path) -> None:
    leaking(project)
    command = [sys.executable, "-m", "dapkit.cli", "memory", "--attach", "--seconds", "3000"]
    with terminal(command, project, {}, columns=200, lines=60) as screen:
        screen.wait("memray: 1 of 3000 s")
        screen.process.kill()
    found = memory(Where.of(project), attach=True, seconds=1)  # which there can be one of at a time
    assert allocated(found)[line_of_growth(project)][0] > 0
    assert [path.name for path in Path(found.path).parent.iterdir() if "memray" in path.name] == []
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_memray_that_is_not_wanted_any_more_before_it_begins_does_not_begin(project: Path) -> None:
    where = leaking(project)
    stop = threading.Event()
    stop.set()
    found = memory(where, attach=True, stop=stop)
    assert found.allocations is None
    assert found.heap is not None
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_program_that_stops_at_a_breakpoint_meanwhile_stays_there(project: Path) -> None:
    where = leaking(project)

    def look(text: str, _percentage: float | None) -> None:
        if text == "memray: 1 of 4 s":
            dapkit(project, "set-breakpoint", "leak.py:6")

    found = memory(where, attach=True, seconds=4, on_progress=look)
    assert allocated(found)[line_of_growth(project)][0] > 0
    [session] = as_json(project, "sessions")["details"]["sessions"]
    assert (session["status"], session["stopReason"], session["line"]) == ("stopped", "breakpoint", 6)
    dapkit(project, "remove-breakpoint", "leak.py:6")
    (project / "end").touch()
    dapkit(project, "continue", "--timeout", "60")
    assert printed(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_program_that_ends_meanwhile_gives_what_was_seen(project: Path) -> None:
    where = leaking(project)

    def look(text: str, _percentage: float | None) -> None:
        if text == "memray: 1 of 3000 s":
            (project / "end").touch()

    found = memory(where, attach=True, seconds=3000, on_progress=look)
    assert allocated(found)[line_of_growth(project)][0] > 0
    assert "The program has ended." in found.as_text()


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_program_with_a_profile_function_is_refused(project: Path) -> None:
    profiled = "import threading\nthreading.setprofile(lambda *_: None)\n"
    written(project, profiled + LEAKING.lstrip(), "leak.py")
    start_running(project, "leak.py")
    with pytest.raises(DiagnosticsError, match="the program has a profile function") as raised:
        memory(Where.of(project), attach=True, seconds=1)
    assert raised.value.code == "tool_failed"
    assert end(project) == "ready\ndone"


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_program_that_stands_allocates_nothing(project: Path) -> None:
    stopped_at_growth(project)
    error = dapkit(project, "memory", "--attach", expect=exit_codes.WRONG_STATE)
    assert "stands still: it allocates nothing." in error


@pytest.mark.thorough
def test_without_memray_it_is_said_how_to_install_it(project: Path) -> None:
    stopped_at_growth(project)
    script = (
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'memray' else find(name, *more)\n"
        "from dapkit.cli.main import main; main()"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, "memory", "--attach"], cwd=project, capture_output=True, text=True, check=False
    )
    assert answer.returncode == exit_codes.NO_ADAPTER
    assert "pip install 'dapkit[profile]'" in answer.stderr


# The menu


@pytest.mark.thorough
def test_menu_shows_a_snapshot_and_what_has_changed(project: Path) -> None:
    stopped_at_growth(project)
    dapkit(project, "memory")
    dapkit(project, "continue")
    with menu(project, "memory", columns=100, lines=48) as screen:
        screen.wait("By type:")
        screen.wait("Held by:")
        screen.wait("allocations with memray.")
        screen.wait("esc Back")
        keep_picture(screen, "memory", "dapkit diagnose: memory")
        screen.type("\x1b[F")  # the end
        screen.wait("Growth by type:")
        screen.wait("+1,000")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
        screen.type("\x1b")
        assert screen.wait_for_the_end() == 0


@pytest.mark.thorough
def test_menu_says_what_is_not_possible(
    project: Path, compiled: Callable[[str], Path], require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-dap-22")
    dapkit(project, "launch", "--adapter", "lldb-dap", "--timeout", "60", "-b", "main", str(compiled("squares.c")))
    with menu(project, "memory") as screen:
        screen.wait("is native code: only Python's objects are known.")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")


@pytest.mark.thorough
@pytest.mark.usefixtures("_memray")
def test_menu_offers_memray_for_a_program_that_runs(project: Path) -> None:
    leaking(project)
    with menu(project, "memory", columns=120, lines=48) as screen:
        screen.wait("Trace the allocations of the next 10 s with memray? y: yes.")
        screen.type("y")
        screen.wait("memray: 1 of 10 s. Escape ends it")
        screen.type("\x1b")
        screen.wait("still there, by line (memray):")
        screen.wait("leak.py:4")
        screen.type("q")
        screen.wait("Type a name, or use the arrows.")
    assert end(project) == "ready\ndone"
