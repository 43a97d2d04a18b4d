"""Threads in an answer: those at the same place are shown once."""

from dapkit.agent.results.values import FrameRow, ThreadsResult, ThreadStack
from dapkit.agent.text import render
from dapkit.protocol import Source, Thread
from unit.agent.samples import STOPPED


def _frames(line: int) -> list[FrameRow]:
    return [FrameRow(id=line, index=0, name="fetch", line=line, column=1, source=Source(path="main.go"))]


def test_threads_with_equal_stacks_are_shown_once() -> None:
    threads = [Thread(id=number, name=f"[Go {number}] main.fetch") for number in range(1, 31)]
    stacks = [ThreadStack(thread_id=thread.id, frames=_frames(22 if thread.id > 2 else 9)) for thread in threads]
    text = render(ThreadsResult(snapshot=STOPPED, threads=threads, more=0, stacks=stacks))
    assert "- 2 x [Go 1] main.fetch (threads 1, 2)\n  - #9 fetch @ main.go:9" in text
    assert "- 28 x [Go 3] main.fetch (threads 3, 4, 5, 6, 7, 8, 9, 10, ...)\n  - #22 fetch @ main.go:22" in text
    assert text.count("fetch @") == 2


def test_names_that_differ_by_number_are_put_together_where_they_are_many() -> None:
    few = [Thread(id=number, name=f"worker-{number}") for number in range(1, 4)]
    many = [Thread(id=number, name=f"pool-{number}") for number in range(10, 20)]
    text = render(ThreadsResult(snapshot=STOPPED, threads=[*few, *many], more=0))
    assert text.splitlines()[-4:] == [
        "- 1: worker-1",
        "- 2: worker-2",
        "- 3: worker-3",
        "- 10 x pool-10 (threads 10, 11, 12, 13, 14, 15, 16, 17, ...)",
    ]
