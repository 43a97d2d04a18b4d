"""Child processes: each Python among them is debugged in a session of its own."""

import os
import socket
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
import pytest

from dapkit.client import Ended, Session, StartRefused, Stopped
from dapkit.protocol import DisconnectArguments, OutputEvent, ProcessEvent
from dapkit.python import limits as adapter_limits
from dapkit.python.adapter import PythonAdapter
from dapkit.python.adapter.children.children import Children
from dapkit.transport import connect_unix, memory_pair, private_folder
from e2e.python.adapter_client import ADAPTER, AdapterClient
from e2e.python.listening_program import running, running_command
from e2e.python.processes import ended, kill, only_line, output_of
from e2e.python.raw_client import RawConversation, raw_client
from interpreters import interpreter

pytestmark = [pytest.mark.row("startDebugging"), pytest.mark.timeout(400)]

PATIENCE = 120.0
"""Seconds that a child may take to come; many processes may want the processor."""

WORK = """
    import os

    def work(n=3):
        y = n * 2
        return y
"""
INSIDE = 5
"""The line of `work` where `y` is known."""

MULTIPROCESSING = """
    import multiprocessing, sys
    from work import work

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        process = context.Process(target=work, args=(3,), name="special")
        process.start()
        process.join()
        sys.exit(process.exitcode)
"""

EXECUTOR = """
    import concurrent.futures, multiprocessing, sys
    from work import work

    if __name__ == "__main__":
        context = multiprocessing.get_context(sys.argv[1])
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            sys.exit(pool.submit(work, 3).result() - 6)
"""

SPAWN = """
import os, sys
line = "import child" if os.name == "posix" else '"import child"'
os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", line)
"""

STARTS: Final[dict[str, tuple[str, tuple[str, ...], str]]] = {
    "subprocess": (
        "import subprocess, sys; sys.exit(subprocess.call([sys.executable, 'child.py', '-x']))", (), "child.py",
    ),
    "shell": (
        "import subprocess, sys; subprocess.check_call(f'{sys.executable} -m child; true', shell=True)", (), "child",
    ),
    "environment of its own": (
        "import subprocess, sys; subprocess.check_call([sys.executable, 'child.py'], env={'PYTHONPATH': 'nowhere'})",
        (), "child.py",
    ),
    "fork": (
        "import os, sys\nfrom work import work\nif not os.fork(): work(); os._exit(0)\nsys.exit(os.wait()[1])",
        (), "prog.py: fork",
    ),
    "exec": ("import os, sys; os.execv(sys.executable, [sys.executable, 'child.py'])", (), "child.py"),
    "posix_spawn": (
        "import os, sys; me = sys.executable; os.posix_spawn(me, [me, 'child.py'], os.environ); sys.exit(os.wait()[1])",
        (), "child.py",
    ),
    "spawn of os": (SPAWN, (), "-c import child"),
    "multiprocessing by fork": (MULTIPROCESSING, ("fork",), "prog.py: special"),
    "multiprocessing by spawn": (MULTIPROCESSING, ("spawn",), "prog.py: special"),
    "multiprocessing by a server of forks": (MULTIPROCESSING, ("forkserver",), "prog.py: fork"),
    "executor by spawn": (EXECUTOR, ("spawn",), "prog.py: SpawnProcess-1"),
    "executor by a server of forks": (EXECUTOR, ("forkserver",), "prog.py: fork"),
}  # fmt: skip
"""Ways to start a child that calls `work`: the program, its arguments, and what its session is called."""
ON_EACH_PYTHON = ("subprocess", "fork", "exec", "multiprocessing by spawn", "multiprocessing by a server of forks")
"""Those that differ by the version of Python."""


async def child_of(session: Session, count: int = 1) -> Session:
    """Return the newest of so many children, once it stands still."""
    child = (await session.wait_for_children(count, deadline=PATIENCE))[-1]
    await child.settled(deadline=PATIENCE)
    return child


async def where(session: Session) -> tuple[str, int, str]:
    """Return the file and line where a child stands, and `y` there."""
    assert isinstance(session.state, Stopped), session.state
    [frame, *_] = (await session.stack_trace(session.state.thread_id)).stack_frames
    assert frame.source is not None
    found = await session.evaluate("y", frame_id=frame.id)
    return Path(str(frame.source.path)).name, frame.line, found.result


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("way", ON_EACH_PYTHON)
async def test_child_has_a_session_with_the_breakpoints_of_its_parent(
    driver: AdapterClient, python: str, way: str
) -> None:
    await _follow(driver, python, way)


@pytest.mark.thorough
@pytest.mark.parametrize("way", [way for way in STARTS if way not in ON_EACH_PYTHON])
async def test_child_that_is_started_in_another_way_has_a_session(driver: AdapterClient, python: str, way: str) -> None:
    await _follow(driver, python, way)


async def _follow(driver: AdapterClient, python: str, way: str) -> None:
    text, args, name = STARTS[way]
    work = driver.write(WORK, "work.py")
    driver.write("from work import work\nwork()\n", "child.py")
    await driver.session.add_breakpoint(work, INSIDE)
    await driver.start(text, python=python, args=args, type="python")
    child = await child_of(driver.session)
    assert await where(child) == ("work.py", INSIDE, "6")
    assert child.debugged_process is not None
    assert child.debugged_process.name == name
    await child.resume(deadline=PATIENCE)
    assert await driver.session.wait_until_ended(deadline=PATIENCE) == Ended(0)
    assert child.violations == ()


WORKERS = """
    import multiprocessing, sys
    from work import work

    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        processes = [context.Process(target=work, args=(number,)) for number in range(int(sys.argv[1]))]
        for process in processes: process.start()
        for process in processes: process.join()
        print(sorted(process.exitcode for process in processes) == [0] * len(processes))
"""


@pytest.mark.thorough
async def test_64_workers_all_stop_at_a_breakpoint_and_go_on(driver: AdapterClient, python: str) -> None:
    work = driver.write(WORK, "work.py")
    await driver.session.add_breakpoint(work, INSIDE)
    await driver.start(WORKERS, python=python, args=("64",))
    children = await driver.session.wait_for_children(64, deadline=PATIENCE)
    values = set()
    for child in children:
        await child.settled(deadline=PATIENCE)
        values.add((await where(child))[2])
    assert values == {str(number * 2) for number in range(64)}
    for child in children:
        await child.resume(deadline=PATIENCE)
    assert await driver.session.wait_until_ended(deadline=PATIENCE) == Ended(0)
    assert driver.output("stdout") == "True\n"


@pytest.mark.thorough
async def test_breakpoint_set_later_reaches_the_children(driver: AdapterClient, python: str) -> None:
    work = driver.write("import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\ny = 1\n", "child.py")
    await driver.start("import subprocess, sys; subprocess.call([sys.executable, 'child.py'])", python=python)
    [child] = await driver.session.wait_for_children(1, deadline=PATIENCE)
    await child.wait_for(ProcessEvent, since=0, deadline=PATIENCE)
    await driver.session.add_breakpoint(work, 3)
    await child.settled(deadline=PATIENCE)
    assert isinstance(child.state, Stopped)
    (driver.folder / "go").touch()
    for breakpoint_ in child.breakpoints:
        await driver.session.remove_breakpoint(breakpoint_.number)
    await child.resume(deadline=PATIENCE)
    assert await driver.session.wait_until_ended(deadline=PATIENCE) == Ended(0)


NESTED = """
    import subprocess, sys
    from work import work
    depth = int(sys.argv[1])
    if depth:
        sys.exit(subprocess.call([sys.executable, "prog.py", str(depth - 1)]))
    work()
"""
NESTED_FORKS = """
    import os, sys
    from work import work
    depth = int(sys.argv[1])
    while depth and not os.fork():
        depth -= 1
    if depth:
        sys.exit(os.wait()[1])
    work()
"""


@pytest.mark.thorough
@pytest.mark.parametrize("program", [NESTED, NESTED_FORKS], ids=["started", "forked"])
async def test_children_of_children_are_sessions_below_theirs(driver: AdapterClient, python: str, program: str) -> None:
    work = driver.write(WORK, "work.py")
    await driver.session.add_breakpoint(work, INSIDE)
    await driver.start(program, python=python, args=("3",))
    session = driver.session
    for _ in range(3):
        [session] = await session.wait_for_children(1, deadline=PATIENCE)
    await session.settled(deadline=PATIENCE)
    assert await where(session) == ("work.py", INSIDE, "6")
    await session.resume(deadline=PATIENCE)
    assert await driver.session.wait_until_ended(deadline=PATIENCE) == Ended(0)


FAMILY = """
    import subprocess, sys
    subprocess.call([sys.executable, "child.py"])
    subprocess.call([sys.executable, "-m", "other"])
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ({"subProcess": False}, []),
        ({"subProcessExclude": ["oth*"]}, ["child.py"]),
        ({"subProcessInclude": ["oth*"]}, ["other"]),
        ({}, ["child.py", "other"]),
    ],
)
async def test_keys_choose_which_children_are_debugged(
    driver: AdapterClient, python: str, keys: dict[str, object], names: list[str]
) -> None:
    driver.write("print('ran')", "child.py")
    driver.write("print('ran')", "other.py")
    assert await driver.run(FAMILY, python=python, **keys) == Ended(0)
    children = [child.debugged_process for child in driver.session.children]
    assert [process.name for process in children if process is not None] == names
    assert driver.output("stdout") == "ran\nran\n"


NOT_FOLLOWED = """
    import os, subprocess, sys
    subprocess.call([sys.executable, "child.py"])
    subprocess.call([sys.executable, "child.py"])
    if not os.fork():
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("program", [NOT_FOLLOWED, "import os\nif not os.fork(): print('ran'); os._exit(0)\nos.wait()"])
@pytest.mark.thorough
async def test_client_without_sessions_for_children_gets_one_line(tmp_path: Path, python: str, program: str) -> None:
    (tmp_path / "prog.py").write_text(textwrap.dedent(program))
    (tmp_path / "child.py").write_text(
        "import os; print('ran', 'DAPKIT_CHILD' in os.environ, 'PYTHONPATH' in os.environ)"
    )
    async with raw_client() as client:
        await client.initialize(adapterID="other")
        await client.send("launch", {"program": str(tmp_path / "prog.py"), "cwd": str(tmp_path), "python": python})
        await client.event("initialized")
        await client.ask("configurationDone")
        await client.event("terminated")
    assert client.output("console").count("Child processes run on undebugged") == 1
    assert client.output("stdout") in ("ran False False\n" * 2, "ran\n")


SEES_ITSELF = """
    import gc, os, sys
    print(gc.collect())
    found = {str(getattr(each, "__module__", type(each).__module__)) for each in gc.get_objects()}
    print(sorted(found - {"ast"}))  # which the interpreter makes when it compiles something, as what is in no cache
    print({name: value for name, value in os.environ.items() if name in ("DAPKIT_CHILD", "PYTHONPATH")})
    print([path for path in sys.path if "dapkit" in path], "sitecustomize" in sys.modules)
    print(sys.argv, sys.orig_argv[1:], sys.flags.safe_path, len(sys._current_frames()))
    print([name for name in sys.modules if "dapkit" in name])
"""


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("is_followed", [True, False])
@pytest.mark.parametrize("is_customized", [False, True])
async def test_child_sees_nothing_of_the_debugger(
    driver: AdapterClient, python: str, is_customized: bool, is_followed: bool
) -> None:
    driver.write(SEES_ITSELF, "child.py")
    if is_customized:
        (driver.folder / "somewhere").mkdir()
        driver.write("import sys\nsys.argv.append(__name__)", "somewhere/sitecustomize.py")
    plain = await output_of([python, "child.py", "x"], driver.folder, _environment())
    program = "import os, subprocess, sys\nsubprocess.call([sys.executable, 'child.py', 'x'], env=dict(os.environ))"
    exclude = [] if is_followed else ["*"]
    assert await driver.run(program, python=python, env=_environment(), subProcessExclude=exclude) == Ended(0)
    assert driver.output("stdout") == plain
    assert len(driver.session.children) == is_followed


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONPATH": "somewhere"}


MISTAKES = """
    import os, pathlib, signal, subprocess, sys, _posixsubprocess

    class Refuses(dict):
        def keys(self):
            raise ZeroDivisionError("no keys")

    class HasKeys:
        def keys(self):
            return ["A"]
        def values(self):
            return ["1"]

    class Longer(dict):
        def __len__(self):
            return 2

    class NoPath:
        def __fspath__(self):
            return 5

    class Interrupted:
        calls = 0
        def __fspath__(self):
            self.calls += 1
            if self.calls == 1:
                signal.raise_signal(signal.SIGINT)
            return "nowhere"

    me = sys.executable
    pathlib.Path("python3").touch()
    MISTAKES = {
        "nothing": lambda: os.execv(),
        "by name": lambda: os.execv(path=me, argv=[me]),
        "descriptor": lambda: os.execv(10 ** 6, [me]),
        "number": lambda: os.execve(10 ** 6, [me], {}),
        "kind of path": lambda: os.execv(None, [me]),
        "path that is none": lambda: os.execv(NoPath(), [me]),
        "zero in path": lambda: os.execv("python3\\0", [me]),
        "surrogate in path": lambda: os.execv("\\ud800", [me]),
        "no such file": lambda: os.execv("nowhere/python3", [me]),
        "not executable": lambda: os.execv("./python3", [me]),
        "nowhere on PATH": lambda: os.execvp("python3.nowhere", [me]),
        "text": lambda: os.execv(me, "text"),
        "empty list": lambda: os.execv(me, []),
        "empty name": lambda: os.execv(me, [""]),
        "kind of argument": lambda: os.execv(me, [me, 5]),
        "zero in argument": lambda: os.execv(me, [me, "a\\0b"]),
        "surrogate in argument": lambda: os.execve(me, [me, "\\ud800"], {}),
        "argument by name": lambda: os.execve(env={}, path=me, argv=[5]),
        "too many": lambda: os.execve(me, [me], {}, 5),
        "unknown name": lambda: os.execve(me, [me], environment={}),
        "no environment": lambda: os.execve(me, [me], None),
        "text as environment": lambda: os.execve(me, [me], "text"),
        "list as environment": lambda: os.execve(me, [me], [("A", "1")]),
        "kind of value": lambda: os.execve(me, [me], {"A": 1}),
        "kind of name": lambda: os.execve(me, [me], env={1: "A"}),
        "equals in name": lambda: os.execve(me, [me], {"A=B": "1"}),
        "name without letters": lambda: os.execve(me, [me], {"": "1"}),
        "zero in value": lambda: os.execve(me, [me], {"A": "\\0"}),
        "mapping that refuses": lambda: os.execve(me, [me], Refuses()),
        "no mapping": lambda: os.execve(me, [me], HasKeys()),
        "mapping that lies": lambda: os.execve(me, [me], Longer(A="1")),
        "spawn without environment": lambda: os.posix_spawn(me, [me]),
        "spawn with a number": lambda: os.posix_spawn(me, [me], 5),
        "spawn with a wrong group": lambda: os.posix_spawn(me, [me], {}, setpgroup="x"),
        "spawn of a descriptor": lambda: os.posix_spawn(1, [me], {}),
        "spawn of nothing": lambda: os.posix_spawnp("python3.nowhere", [me], os.environ),
        "inherited": lambda: os.waitpid(os.posix_spawn(me, [me, "-c", "pass"], None), 0)[1],
        "argument of Popen": lambda: subprocess.Popen([me, 5]),
        "value of Popen": lambda: subprocess.Popen([me], env={"A": 5}),
        "folder of Popen": lambda: subprocess.Popen([me], cwd=5),
        "no folder of Popen": lambda: subprocess.Popen([me], cwd="nowhere"),
        "preparation of Popen": lambda: subprocess.Popen([me], preexec_fn=5),
        "two of fork_exec": lambda: _posixsubprocess.fork_exec(1, 2),
        "numbers of fork_exec": lambda: _posixsubprocess.fork_exec(*range(22)),
        "interrupt": lambda: os.execv(Interrupted(), [me]),
    }
    for name, mistake in MISTAKES.items():
        try:
            print(f"{name}:", mistake())
        except BaseException as error:
            print(f"{name}: {type(error).__name__}: {error}")
"""


@pytest.mark.each_python
@pytest.mark.thorough
async def test_mistakes_at_the_start_of_a_child_are_those_of_the_program(driver: AdapterClient, python: str) -> None:
    program = driver.write(MISTAKES)
    plain = await output_of([python, program], driver.folder)
    assert await driver.run(MISTAKES, python=python) == Ended(0)
    assert driver.output("stdout").splitlines() == plain.splitlines()
    assert driver.output("stderr") == ""


STANDS = """
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "child.py"])
    print(os.getpid(), child.pid, flush=True)
    child.wait()
    time.sleep(60)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("console", ["internalConsole", "integratedTerminal"])
@pytest.mark.parametrize("way", ["terminate", "disconnect", "killed"])
async def test_end_of_the_session_ends_the_tree(tmp_path: Path, python: str, way: str, console: str) -> None:
    (tmp_path / "prog.py").write_text(textwrap.dedent(STANDS))
    (tmp_path / "child.py").write_text("x = 1\nopen('late', 'w')\n")
    async with Session.spawn(ADAPTER) as session:
        driver = AdapterClient(session, tmp_path)
        await session.add_breakpoint(tmp_path / "child.py", 1)
        await driver.launch(program="prog.py", python=python, console=console, redirectOutput=True)
        child = await child_of(session)
        assert isinstance(child.state, Stopped)
        pids = [int(word) for word in (await only_line(driver)).split()]
        if way == "terminate":
            await session.terminate()
            await session.wait_until_ended(deadline=PATIENCE)
        elif way == "killed":
            assert session.adapter_pid
            kill(session.adapter_pid)
    await ended(*pids)
    assert way == "terminate" or not (tmp_path / "late").exists()


async def test_released_tree_runs_on(driver: AdapterClient, python: str) -> None:
    driver.write("import os, time\nx = 1\nopen('late', 'w')\n", "child.py")
    await driver.session.add_breakpoint(driver.folder / "child.py", 2)
    await driver.start(STANDS.replace("time.sleep(60)", "open('last', 'w')"), python=python)
    await child_of(driver.session)
    pids = [int(word) for word in (await only_line(driver)).split()]
    await driver.session.detach()
    await ended(*pids)
    assert (driver.folder / "late").exists()
    assert (driver.folder / "last").exists()


async def test_a_program_that_ends_while_its_children_are_released_is_released(
    tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prog.py").write_text("import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n")
    adapter = PythonAdapter()
    release = Children.release

    async def release_and_end(self: Children) -> None:
        await release(self)
        (tmp_path / "go").touch()
        with anyio.fail_after(PATIENCE):
            while adapter.run and adapter.run.debuggee is not None:  # noqa: ASYNC110 - no event
                await anyio.sleep(0.01)

    monkeypatch.setattr(Children, "release", release_and_end)
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(adapter.serve_stream, theirs)
        client = RawConversation(ours)
        await client.initialize()
        await client.send("launch", {"program": str(tmp_path / "prog.py"), "cwd": str(tmp_path), "python": python})
        await client.event("initialized")
        await client.ask("configurationDone")
        answer = await client.ask("disconnect", {"terminateDebuggee": False})
        await client.event("terminated")
        await ours.aclose()
    assert answer["success"], answer


async def test_child_whose_client_is_gone_runs_on(tmp_path: Path, python: str) -> None:
    (tmp_path / "prog.py").write_text(
        "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, 'child.py']))\n"
    )
    (tmp_path / "child.py").write_text("import sys\nx = 1\nsys.exit(5)\n")
    async with raw_client() as parent:
        await parent.initialize(supportsStartDebuggingRequest=True)
        await parent.send("launch", {"program": str(tmp_path / "prog.py"), "python": python})
        await parent.event("initialized")
        assert (await parent.ask("configurationDone"))["success"]
        asked = await parent.until(lambda message: message.get("command") == "startDebugging")
        await parent.accept(asked)
        configuration = asked["arguments"]["configuration"]
        async with await connect_unix(Path(configuration["adapterSocket"])) as stream:
            child = RawConversation(stream)
            await child.initialize()
            await child.send("attach", configuration)
            await child.event("initialized")
            place = {"source": {"path": str(tmp_path / "child.py")}, "breakpoints": [{"line": 2}]}
            await child.ask("setBreakpoints", place)
            await child.ask("configurationDone")
            await child.event("stopped")
        assert await parent.event("exited") == {"exitCode": 5}


async def test_children_outlive_a_parent_that_ends(driver: AdapterClient, python: str) -> None:
    driver.write("x = 1\nprint('child is done', flush=True)\n", "child.py")
    await driver.session.add_breakpoint(driver.folder / "child.py", 2)
    await driver.start("import subprocess, sys; subprocess.Popen([sys.executable, 'child.py'])", python=python)
    child = await child_of(driver.session)
    await driver.session.wait_for(
        OutputEvent, since=0, where=lambda event: "still debugged (1)" in event.output, deadline=PATIENCE
    )
    await child.resume(deadline=PATIENCE)
    assert await driver.session.wait_until_ended(deadline=PATIENCE) == Ended(0)
    assert driver.output("stdout") == "child is done\n"


KILLED_POOL = """
    import multiprocessing
    from work import work

    if __name__ == "__main__":
        pool = multiprocessing.get_context("spawn").Pool(4)
        pool.map_async(work, range(100))
        for process in multiprocessing.active_children():
            process.kill()
        pool.terminate()
        print("done")
"""


@pytest.mark.thorough
async def test_pool_that_is_killed_leaves_nothing(driver: AdapterClient, python: str) -> None:
    driver.write(WORK, "work.py")
    assert await driver.run(KILLED_POOL, python=python) == Ended(0)
    assert driver.output("stdout") == "done\n"
    assert driver.output("important") == ""


async def test_child_that_cannot_be_followed_is_remarked_on_and_runs(driver: AdapterClient, python: str) -> None:
    program = "import subprocess, sys; subprocess.call([sys.executable, '-I', '-c', 'print(1)'])"
    no_user_site = {"PYTHONNOUSERSITE": "1"}  # else the interpreter itself looks for a module that there is not
    everything = [{"path": "*", "include": True}]
    assert await driver.run(program, python=python, rules=everything, env=no_user_site) == Ended(0)
    assert driver.output("stdout") == "1\n"
    assert "is started with -E, -I or -S" in driver.output("console")


@pytest.mark.thorough
async def test_child_of_an_older_python_runs_on_undisturbed(driver: AdapterClient) -> None:
    older = interpreter("3.11")
    driver.write("import os; print(os.environ.get('PYTHONPATH'))", "child.py")
    program = f"import subprocess; subprocess.check_call([{str(older)!r}, 'child.py'])"
    assert await driver.run(program, env={"PYTHONPATH": "here"}) == Ended(0)
    assert driver.output("stdout") == "here\n"
    assert driver.session.children == ()


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize("way", ["subprocess", "exec", "multiprocessing by spawn"])
async def test_children_are_followed_without_the_extension(
    without_extension: Mapping[str, str], tmp_path: Path, python: str, way: str
) -> None:
    text, args, _ = STARTS[way]
    async with Session.spawn(ADAPTER, env=without_extension) as session:
        driver = AdapterClient(session, tmp_path)
        work = driver.write(WORK, "work.py")
        driver.write("from work import work\nwork()\n", "child.py")
        await session.add_breakpoint(work, INSIDE)
        await driver.start(text, python=python, args=args)
        child = await child_of(session)
        assert await where(child) == ("work.py", INSIDE, "6")
        await child.resume(deadline=PATIENCE)
        assert await session.wait_until_ended(deadline=PATIENCE) == Ended(0)


@pytest.mark.thorough
async def test_client_of_debugpy_is_asked_by_its_event_and_has_to_show_the_token(tmp_path: Path, python: str) -> None:
    (tmp_path / "prog.py").write_text("import subprocess, sys; sys.exit(subprocess.call([sys.executable, 'child.py']))")
    (tmp_path / "child.py").write_text("x = 1\nprint('ran')\n")
    async with raw_client() as client:
        await client.start(program=str(tmp_path / "prog.py"), cwd=str(tmp_path), python=python)
        await client.ask("configurationDone")
        asked = await client.event("debugpyAttach")
        assert asked["name"].startswith("child.py [")
        host, port = asked["connect"]["host"], asked["connect"]["port"]
        async with Session.connect(host, port) as stranger:
            with pytest.raises(StartRefused, match="missing or wrong"):
                await stranger.attach({**asked, "adapterAccessToken": "0"})
        async with Session.connect(host, port) as stranger:
            with pytest.raises(StartRefused, match="only the session of a child"):
                await stranger.launch({"program": str(tmp_path / "prog.py")})
        held = [socket.create_connection((host, port)) for _ in range(300)]
        async with Session.connect(host, port) as child:
            await child.add_breakpoint(tmp_path / "child.py", 2)
            await child.attach(asked)
            stop = await child.next_stop(deadline=PATIENCE)
            [frame] = (await child.stack_trace(stop.thread_id)).stack_frames
            assert frame.line == 2
            await child.resume(deadline=PATIENCE)
        for stranger_of_another_user in held:
            stranger_of_another_user.close()
        assert (await client.event("exited"))["exitCode"] == 0


LISTENS = """
    import dapkit, subprocess, sys
    dapkit.listen()
    dapkit.wait_for_client()
    subprocess.call([sys.executable, "child.py"])
    print("detached" if sys.stdin.readline() else "", flush=True)
    subprocess.call([sys.executable, "child.py"])
    print("done", flush=True)
"""


@pytest.mark.thorough
async def test_children_of_a_program_that_is_attached_to_are_followed_until_it_is_released(
    tmp_path: Path, python: str
) -> None:
    (tmp_path / "child.py").write_text("x = 1\nprint(x, flush=True)\n")
    with running(LISTENS, tmp_path, python, stdin=subprocess.PIPE) as program:
        program.read_place()
        async with Session.spawn(ADAPTER) as session:
            await session.add_breakpoint(tmp_path / "child.py", 2)
            await session.attach(program.connect)
            child = await child_of(session)
            await child.resume(deadline=PATIENCE)
            await ended((await child.wait_for(ProcessEvent, since=0)).system_process_id or 0)
        assert program.process.stdin is not None
        program.process.stdin.write("go on\n")
        program.process.stdin.flush()
        assert [program.line() for _ in range(4)] == ["1", "detached", "1", "done"]


STARTS_CHILDREN_EARLY = """
    import os, subprocess, sys, time

    def wait():
        n = 0
        while True:
            n += 1
            time.sleep(0.01)

    subprocess.Popen([sys.executable, "child.py"])
    if not os.fork():
        wait()
    HERE
    print(dapkit.listen(0) if "dapkit" in globals() else "", end="", flush=True)
    time.sleep(300)
"""
WAITS = "import time\nn = 0\nwhile True:\n    n += 1\n    time.sleep(0.01)\n"


@pytest.mark.thorough
@pytest.mark.each_python
async def test_children_that_were_started_before_a_client_came_are_offered_at_each_attach(
    tmp_path: Path, python: str
) -> None:
    await _attach_twice_to_early_children(tmp_path, python)


async def test_children_that_run_already_are_offered_at_each_attach(tmp_path: Path, python: str) -> None:
    await _attach_twice_to_early_children(tmp_path, python)


async def _attach_twice_to_early_children(folder: Path, python: str) -> None:
    (folder / "child.py").write_text(WAITS)
    command = [python, "-m", "dapkit", "--listen", "0", str(folder / "prog.py")]
    with running_command(STARTS_CHILDREN_EARLY.replace("HERE", "pass"), folder, command) as program:
        program.read_place()
        await _until_family_waits(program.process.pid, 2)
        processes: list[set[int]] = []
        for _ in range(2):
            async with Session.spawn(ADAPTER) as session:
                await session.add_breakpoint(folder / "child.py", 4)
                await session.add_breakpoint(folder / "prog.py", 6)
                await session.attach(program.connect)
                children = await session.wait_for_children(2, deadline=PATIENCE)
                places = set()
                for child in children:
                    stop = await child.next_stop(deadline=PATIENCE)
                    assert isinstance(stop, Stopped)
                    frame = (await child.stack_trace(stop.thread_id)).stack_frames[0]
                    places.add((Path(str(frame.source and frame.source.path)).name, frame.line))
                assert places == {("child.py", 4), ("prog.py", 6)}
                events = [await child.wait_for(ProcessEvent, since=0) for child in children]
                processes.append({event.system_process_id or 0 for event in events})
                assert sorted(Path(event.name).name for event in events) == ["child.py", "prog.py: fork"]
                await session.detach()
            await _until_family_waits(program.process.pid, 2)
        assert processes[0] == processes[1]
        for process in processes[0]:
            kill(process)


STARTS_A_CHILD_LATER = """
    import subprocess, sys, time
    while not input():
        pass
    subprocess.Popen([sys.executable, "child.py"])
    time.sleep(300)
"""


@pytest.mark.thorough
async def test_child_that_was_left_suspended_is_taken_over_by_the_next_session(tmp_path: Path, python: str) -> None:
    (tmp_path / "child.py").write_text(WAITS)
    command = [python, "-m", "dapkit", "--listen", "0", str(tmp_path / "prog.py")]
    with running_command(STARTS_A_CHILD_LATER, tmp_path, command, stdin=subprocess.PIPE) as program:
        program.read_place()
        assert program.process.stdin is not None
        async with Session.spawn(ADAPTER) as session:
            await session.add_breakpoint(tmp_path / "child.py", 4)
            await session.attach(program.connect)
            program.process.stdin.write("go\n")
            program.process.stdin.flush()
            child = await child_of(session)
            process = (await child.wait_for(ProcessEvent, since=0)).system_process_id or 0
            await child.request(DisconnectArguments(suspend_debuggee=True))
            await session.detach()
        await _until_family_waits(program.process.pid, 1)
        async with Session.spawn(ADAPTER) as session:
            await session.attach(program.connect)
            child = await child_of(session)
            assert isinstance(child.state, Stopped)
            assert child.state.reason == "pause"
            [frame] = (await child.stack_trace(child.state.thread_id)).stack_frames
            assert frame.line == 4
            await session.detach()
        kill(process)


async def _until_family_waits(process: int, count: int) -> None:
    """Wait until so many children of a process have the socket by which a later session invites them."""
    with anyio.fail_after(PATIENCE):
        while len(list(private_folder().glob(f"family-{process}????????-*"))) < count:  # noqa: ASYNC110 - no event
            await anyio.sleep(0.02)


async def test_client_that_accepts_a_child_and_never_comes_is_asked_once(
    tmp_path: Path, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As Eclipse LSP4E, whose session of a child goes to the adapter that serves the parent, and is refused there.
    monkeypatch.setattr(adapter_limits, "CHILD_SECONDS", 0.3)
    (tmp_path / "child.py").write_text("print('ran', flush=True)\n")
    text = "import subprocess, sys\nfor _ in range(3): subprocess.check_call([sys.executable, 'child.py'])\n"
    (tmp_path / "prog.py").write_text(text)
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(PythonAdapter().serve_stream, theirs)
        client = RawConversation(ours)
        await client.initialize(supportsStartDebuggingRequest=True)
        await client.send("launch", {"program": str(tmp_path / "prog.py"), "cwd": str(tmp_path), "python": python})
        await client.event("initialized")
        await client.send("configurationDone")
        await client.accept(await client.until(lambda message: message.get("command") == "startDebugging"))
        await client.event("terminated")
        await ours.aclose()
    assert client.output("stdout") == "ran\n" * 3
    assert [message["command"] for message in client.heard if message["type"] == "request"] == ["startDebugging"]
    assert "no session came within 0.3 s; later children are not offered" in client.output("important")
