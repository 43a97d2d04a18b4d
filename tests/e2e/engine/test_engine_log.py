"""The log of the engine's decisions, DAPKIT_ENGINE_LOG."""

from pathlib import Path

import pytest

from e2e.engine.conftest import Start

PROGRAM = """
    import os, subprocess, sys
    def double(x):
        y = x * 2
        return y
    def unwatched():
        return 1
    unwatched()
    print(double(4))
    print(sorted(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd < 200)[:-1])
    print(subprocess.run([sys.executable, "-c", "import os; print(len(os.listdir('/proc/self/fd')))"],
                         close_fds=False, capture_output=True, text=True).stdout)
    if os.fork() == 0:
        print(any("engine.log" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


def topics(log: Path) -> list[tuple[str, str]]:
    lines = [line.split(" ", 4) for line in log.read_text().splitlines()]
    return [(topic, details) for _seconds, _process, _thread, topic, details in lines]


def test_log_tells_what_was_looked_at_and_watched_and_how_threads_stopped_and_went_on(
    start: Start, tmp_path: Path
) -> None:
    log = tmp_path / "engine.log"
    with start(PROGRAM, env={"DAPKIT_ENGINE_LOG": str(log)}) as peer:
        peer.configure(lines=[3])
        peer.stopped("breakpoint")
        assert peer.step() == ("double", 4)
        peer.go()
        assert peer.finish()[0] == 0
    decisions = topics(log)
    assert ("look", "prog.py:5 unwatched: not again") in decisions
    assert ("events", "prog.py:2 double: site PY_START LINE afresh") in decisions
    main = next(details.split()[1].strip(":") for topic, details in decisions if topic == "stop")
    told = [
        f"{topic} {details}".replace(main, "MAIN") for topic, details in decisions if topic not in {"look", "events"}
    ]
    assert [text for text in told if "exempt" not in text][:16] == [
        "state program: configuring -configured-> going",
        "stop thread MAIN: breakpoint",
        "state thread MAIN: running -park-> stopped",
        "state program: going -stop-> all stopped",
        "state thread MAIN: stopped -step-> stopped",
        "step thread MAIN: next by statement in prog.py:2 double, for step",
        "resume all threads",
        "state program: all stopped -resume-> going",
        "state thread MAIN: running -step-> stepping",
        "go thread MAIN",
        "state thread MAIN: stepping -step ended-> running",
        "stop thread MAIN: step",
        "state thread MAIN: running -park-> stopped",
        "state program: going -stop-> all stopped",
        "resume all threads",
        "state program: all stopped -resume-> going",
    ]


@pytest.mark.thorough
def test_program_does_not_see_the_log(start: Start, tmp_path: Path) -> None:
    outputs = []
    for number, log in enumerate(["", str(tmp_path / "engine.log")]):
        with start(PROGRAM, env={"DAPKIT_ENGINE_LOG": log}, name=f"prog{number}.py") as peer:
            peer.configure()
            code, output, errors = peer.finish()
        assert (code, errors) == (0, "")
        outputs.append(output.splitlines())
    assert outputs[0] == outputs[1]
    assert outputs[0][-1] == "False"


def test_log_that_cannot_be_written_is_left_alone(start: Start, tmp_path: Path) -> None:
    with start(PROGRAM, env={"DAPKIT_ENGINE_LOG": str(tmp_path / "missing/engine.log")}) as peer:
        peer.configure(lines=[3])
        peer.stopped("breakpoint")
        peer.go()
        assert peer.finish()[0] == 0


@pytest.mark.each_python
def test_function_with_a_breakpoint_is_looked_at_once_however_often_it_is_called(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    text = "def often(n):\n    if n < 0:\n        n = 0\n    return n\nfor n in range(20):\n    often(n)\n"
    with start(text, env={"DAPKIT_ENGINE_LOG": str(log)}) as peer:
        peer.configure(lines=[3])
        assert peer.finish()[0] == 0
    looks = [details for topic, details in topics(log) if topic == "look" and "often" in details]
    assert looks == ["prog.py:1 often: not again"]
