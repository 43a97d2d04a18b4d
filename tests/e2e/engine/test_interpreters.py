"""Programs that make other interpreters in their process, and interpreters that are built in another way."""

from pathlib import Path

import pytest

from e2e.engine.conftest import Start, starting
from e2e.engine.engine_client import EngineClient
from interpreters import interpreter

pytestmark = [pytest.mark.row("launch"), pytest.mark.each_python]

SAID = (
    "This program uses subinterpreters. Code in them is not debugged: "
    "breakpoints, exception breakpoints and steps do not stop there.\n"
)
LIMITS = (
    "This Python is a free-threaded build: time travel does not work, "
    "and data breakpoints on variables, attributes and items of dicts are checked at each line, which is slower.\n"
)
HELPER = """
def work(number):
    total = number
    try:
        raise ValueError
    except ValueError:
        total += 1
    return total
"""
DIRECT = """
    import sys
    try:
        import _interpreters as interpreters
    except ImportError:  # 3.12
        import _xxsubinterpreters as interpreters
    def main():
        for number in range(3):
            other = interpreters.create()
            assert interpreters.run_string(other, "import helper; print(helper.work(1), flush=True)") is None
            interpreters.destroy(other)
        stop = 1
    main()
"""
EXECUTOR = """
    import sys
    if sys.version_info < (3, 14):
        from concurrent.futures import ThreadPoolExecutor as Executor
    else:
        from concurrent.futures import InterpreterPoolExecutor as Executor
    from helper import work
    def main():
        with Executor(2) as executor:
            print(list(executor.map(work, range(6))), flush=True)
        stop = 1
    if __name__ == "__main__":
        main()
"""


LIBRARY = """
    import asyncio
    from concurrent import interpreters
    from concurrent.futures import InterpreterPoolExecutor as Executor
    from helper import work
    async def looped():
        with Executor(1) as executor:
            return await asyncio.get_running_loop().run_in_executor(executor, work, 4)
    def main():
        other = interpreters.create()
        other.exec("import helper; helper.work(1)")
        results = [other.call(work, 2)]
        other.call_in_thread(work, 3).join()
        other.close()
        results.append(asyncio.run(looped()))
        stop = 1
        print(results, flush=True)
    main()
"""


def console(peer: EngineClient) -> list[str]:
    seen = [message["body"] for message in peer.messages if message.get("event") == "output"]
    return [body["output"] for body in seen if body["category"] == "console"]


def started(start: Start, text: str, folder: Path) -> EngineClient:
    (folder / "helper.py").write_text(HELPER.lstrip())
    peer = start(text, env={"PYTHONPATH": str(folder)})
    line = next(n for n, line in enumerate(text.strip().splitlines(), 1) if "stop = 1" in line)
    peer.ask("initialize", adapterID="test")
    peer.event("initialized")
    peer.ask("launch")
    peer.ask("setBreakpoints", source={"path": str(folder / "helper.py")}, breakpoints=[{"line": 7}])
    peer.ask("setBreakpoints", source={"path": str(folder / "prog.py")}, breakpoints=[{"line": line}])
    peer.ask("setExceptionBreakpoints", filters=["uncaught"])
    peer.ask("configurationDone")
    return peer


def test_code_in_other_interpreters_runs_undebugged_which_is_said_once(start: Start, tmp_path: Path) -> None:
    peer = started(start, DIRECT, tmp_path)
    peer.stopped("breakpoint")
    assert peer.at()[0] == "main"
    assert console(peer) == [SAID]
    peer.go()
    assert peer.finish() == (0, "2\n2\n2\n", "")


def test_pool_of_interpreters_gives_its_results(start: Start, tmp_path: Path) -> None:
    peer = started(start, EXECUTOR, tmp_path)
    for _ in range(6):
        stop = peer.stopped("breakpoint")
        if peer.at(stop["threadId"])[0] == "main":  # a pool of interpreters, whose workers do not stop
            break
        peer.go(stop["threadId"])
    else:
        peer.stopped("breakpoint")
    is_pool = peer.value("sys.version_info >= (3, 14)", thread=1) == "True"
    assert console(peer) == ([SAID] if is_pool else [])
    peer.go()
    assert peer.finish() == (0, "[1, 2, 3, 4, 5, 6]\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["3.14", "3.15"])
def test_interpreters_of_the_standard_library_are_said_once(version: str, tmp_path: Path) -> None:
    with starting(str(interpreter(version)), tmp_path) as start:
        peer = started(start, LIBRARY, tmp_path)
        peer.stopped("breakpoint")
        assert peer.at()[0] == "main"
        assert console(peer) == [SAID]
        peer.go()
        assert peer.finish() == (0, "[3, 5]\n", "")


def test_what_does_not_work_on_a_free_threaded_build_is_said_once_at_the_start(start: Start) -> None:
    peer = start("import sys\nfor i in range(5):\n    print(i)\n")
    peer.configure(breakpoints=[{"line": 3, "condition": "i == 3"}])
    peer.stopped("breakpoint")
    assert peer.value("i") == "3"
    assert peer.notices == ([LIMITS] if peer.value("'t' in getattr(sys, 'abiflags', '')") == "True" else [])
    peer.go()
    assert peer.finish() == (0, "0\n1\n2\n3\n4\n", "")
