"""A profile as text, as JSON and as folded stacks; what is kept of very many and very deep stacks."""

import json

import pytest

from dapkit.diagnostics import limits
from dapkit.diagnostics.profiling.call_tree import call_tree
from dapkit.diagnostics.profiling.samples import OMITTED, OTHERS, WAITING, SampledFrame, StackCounts
from unit.diagnostics.profiling.profiles import BUSY, MAIN, SPIN, SPIN_LATER, WAIT, profile


def test_functions_are_counted_by_their_own_samples_and_with_what_they_call() -> None:
    rows = [(row.frame.function, row.own, row.total, row.waiting, row.line) for row in BUSY.functions]
    assert rows == [("spin", 90, 90, 0, 4), ("Event.wait", 10, 10, 10, 359), ("main", 0, 100, 0, 9)]


def test_recursion_counts_once_in_the_total() -> None:
    [row] = profile({(SPIN, SPIN_LATER, SPIN): 4}).functions
    assert (row.own, row.total) == (4, 4)


def test_text_says_what_waits_and_how_much() -> None:
    text = BUSY.as_text()
    assert text.startswith(
        "Work profile of app.py, process 7\n100 samples in 2.0 s, 50 a second of each thread, by py-spy"
    )
    assert "with the time that they wait: 10 % of the samples." in text
    [line] = [line for line in text.splitlines() if line.endswith("waiting")]
    assert line.split() == ["10.0", "%", "10.0", "%", "Event.wait", "(threading.py:359)", "waiting"]
    assert "Only time on a processor: about 2.00 s." in profile(BUSY.stacks, waiting_included=False).as_text()


def test_calls_are_indented_where_a_stack_branches() -> None:
    inner = SampledFrame("inner", "app.py", 2, "own")
    text = profile({(MAIN, SPIN, inner): 75, (MAIN, SPIN, WAIT): 25}).as_text()
    assert text.split("Calls:\n")[1].splitlines() == [
        "100.0 % main (app.py)",
        "100.0 %   spin (app.py)",
        " 75.0 %     inner (app.py)",
        " 25.0 %     Event.wait (threading.py)",
    ]


def test_profile_without_samples_is_a_message() -> None:
    assert profile({}).as_text().endswith("There is no sample: the program did nothing that could be seen.")
    assert "</svg>" in profile({}).svg()


def test_folded_stacks_have_no_separator_in_a_name() -> None:
    strange = SampledFrame("a;b\nc", "we;ird.py", 3, "own")
    assert profile({(MAIN, strange, WAITING): 3}).folded() == "main (app.py:9);a:b\\nc (we:ird.py:3);(waiting) 3\n"


def test_json_has_every_frame_once() -> None:
    shown = json.loads(json.dumps(BUSY.as_json()))
    names = [frame["function"] for frame in shown["frames"]]
    stacks = {tuple(names[number] for number in row["frames"]): row["samples"] for row in shown["stacks"]}
    assert len(shown["frames"]) == 5  # a line each
    assert stacks == {("main", "spin"): 30, ("main", "Event.wait", "(waiting)"): 10}
    assert sum(row["samples"] for row in shown["stacks"]) == shown["samples"] == 100
    assert (shown["waitingIncluded"], shown["functions"][0]["self"]) == (True, 90)


def test_very_deep_stack_keeps_both_ends() -> None:
    counts = StackCounts()
    counts.add(tuple(SampledFrame(f"f{number}") for number in range(5000)))
    [stack] = counts.counts
    assert len(stack) == limits.PROFILE_FRAMES
    assert (stack[0].function, stack[-1].function) == ("f0", "f4999")
    assert OMITTED in stack


def test_more_stacks_than_are_kept_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PROFILE_STACKS", 3)
    counts = StackCounts()
    for number in (0, 1, 2, 3, 4, 1):
        counts.add((SampledFrame(f"f{number}"),))
    assert counts.counts[OTHERS,] == 2
    assert counts.counts[SampledFrame("f1"),] == 2
    assert sum(counts.counts.values()) == 6


def test_tree_has_room_for_the_most_frequent_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PROFILE_NODES", 4)
    rare = tuple(SampledFrame(f"r{number}") for number in range(10))
    root = call_tree({rare: 1, (MAIN, SPIN): 5})
    assert (root.count, root.children[MAIN.without_line].count) == (6, 5)
    assert root.children[rare[0]].children == {}


def test_folded_stacks_are_cut_after_the_most_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PROFILE_FOLDED_CHARACTERS", 30)
    assert profile({(WAIT, MAIN): 1, (SPIN,): 9}).folded() == "spin (app.py:4) 9\n"
