"""What py-spy writes, and what is made of it: frames, whose threads these are, and what waits."""

from collections import Counter
from pathlib import Path

import pytest

from dapkit.diagnostics.profiling import py_spy
from dapkit.diagnostics.profiling.py_spy import ThreadStacks, share_that_ran, with_waiting
from dapkit.diagnostics.profiling.samples import DEBUGGER, SampledFrame

ENGINE = Path(py_spy.__file__).parents[2] / "python" / "debuggee"
PROJECT = Path("/home/ada/shop")


def fold(*lines: str) -> ThreadStacks:
    return py_spy.fold("".join(f"{line}\n" for line in lines).encode(), PROJECT)


def stack_of(*frames: str) -> list[str]:
    [(_, stack)] = fold(f"thread (1): T;{';'.join(frames)} 1")
    return [str(frame) for frame in stack]


def test_frames_are_read_with_their_files_and_whose_they_are() -> None:
    [(thread, stack)] = fold(
        "thread (26030): MainThread;<module> (/home/ada/shop/app.py:12);<lambda> (/srv/lib.py:4);"
        "dumps (/usr/lib/python3.13/json/__init__.py:231);get (/v/site-packages/requests/api.py:73) 199"
    )
    assert thread == "thread (26030): MainThread"
    assert stack == (
        SampledFrame("<module>", "app.py", 12, "own"),
        SampledFrame("<lambda>", "/srv/lib.py", 4, "own"),
        SampledFrame("dumps", "json/__init__.py", 231, "library"),
        SampledFrame("get", "requests/api.py", 73, "library"),
    )


def test_separators_in_names_are_no_separators() -> None:
    assert stack_of("a();b (/home/ada/shop/we;ird (1).py:3)", "c (/home/ada/shop/a b:c.py:4)") == [
        "a();b (we;ird (1).py:3)",
        "c (a b:c.py:4)",
    ]


def test_unreadable_lines_are_left_out() -> None:
    whole = "thread (1): T;f (/a.py:1) 3\n"
    found = py_spy.fold(f"{whole}nonsense\nthread (1): T;f (/a.py:1) x\nthread (2): U;f (/a.p".encode(), PROJECT)
    assert list(found.values()) == [3]


def test_threads_of_the_debugger_are_hidden_and_counted() -> None:
    ours = f"begin ({ENGINE}/connection/thread.py:25);Link.serve ({ENGINE}/connection/link.py:267)"
    their_thread = "/v/site-packages/debugpy/_vendored/pydevd/_pydevd_bundle/pydevd_daemon_thread.py"
    theirs = f"Thread._bootstrap (/usr/lib/python3.13/threading.py:1);run ({their_thread}:53)"
    found = fold(f"thread (2);{ours} 40", f"thread (3): pydevd;{theirs};wait (/usr/lib/python3.13/threading.py:9) 2")
    assert found == {("debugger", (DEBUGGER,)): 42}


@pytest.mark.parametrize(
    "around",
    [
        [f"<module> ({ENGINE}/starting/entry.py:193)", f"run_to_end.<locals>.run_unseen ({ENGINE}/program/main.py:49)"],
        ["_run_module_as_main (<frozen runpy>:198)", "<module> (/v/site-packages/debugpy/__main__.py:71)"],
        [f"<module> ({ENGINE}/starting/entry.py:193)", "_run_code (<frozen runpy>:88)"],
    ],
)
def test_what_is_around_the_program_is_left_out(around: list[str]) -> None:
    assert stack_of(*around, "<module> (/home/ada/shop/app.py:12)") == ["<module> (app.py:12)"]


def test_what_the_interpreter_has_around_a_program_that_no_debugger_has_started_stays() -> None:
    frames = ["_run_module_as_main (<frozen runpy>:198)", "<module> (/home/ada/shop/app.py:12)"]
    assert stack_of(*frames) == ["_run_module_as_main (<frozen runpy>:198)", "<module> (app.py:12)"]


def test_work_of_the_debugger_within_the_program_is_one_mark() -> None:
    frames = ["f (/home/ada/shop/app.py:1)", f"a ({ENGINE}/callbacks.py:1)", f"b ({ENGINE}/callbacks.py:2)"]
    assert stack_of(*frames) == ["f (app.py:1)", "[debugger]"]


F, G = SampledFrame("f", "app.py", 1, "own"), SampledFrame("g", "app.py", 2, "own")


def test_line_that_holds_the_lock_runs_and_another_of_the_thread_waits() -> None:
    everything: ThreadStacks = Counter({("t", (F,)): 50, ("t", (G,)): 100})
    with_lock: ThreadStacks = Counter({("t", (F,)): 45})
    running: ThreadStacks = Counter({("t", (F,)): 1, ("t", (G,)): 9})  # a moment too early, as of short bursts
    assert list(with_waiting(everything, with_lock, running)) == [("t", (F,), 50, 0), ("t", (G,), 0, 100)]


def test_threads_that_share_the_lock_wait_for_half_of_the_time() -> None:
    everything: ThreadStacks = Counter({(name, (F,)): 1000 for name in "ab"})
    with_lock: ThreadStacks = Counter({("a", (F,)): 520, ("b", (F,)): 480})
    assert list(with_waiting(everything, with_lock, Counter())) == [("a", (F,), 520, 480), ("b", (F,), 480, 520)]


def test_code_that_has_let_go_of_the_lock_runs_if_the_system_says_so() -> None:
    assert share_that_ran(1000, 0, 990) == 1.0
    assert share_that_ran(1000, 0, 30) == 0.0


def test_lines_that_were_hardly_seen_run_since_a_thread_waits_in_few_lines() -> None:
    assert share_that_ran(3, 0, 0) == 1.0


def test_rounding_loses_no_sample() -> None:
    everything: ThreadStacks = Counter({("t", (SampledFrame(f"f{n}"), F)): 10 for n in range(100)})
    rows = list(with_waiting(everything, Counter({("t", (F,)): 333}), Counter()))
    assert sum(ran for _, _, ran, _ in rows) == 333
    assert all(ran + waited == 10 for _, _, ran, waited in rows)
