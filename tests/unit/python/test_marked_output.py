"""Log messages and the output of a program, put in order by marks."""

from math import inf

import anyio
import pytest

from dapkit import limits
from dapkit.python.adapter.marked_output import STDERR, STDOUT, MarkedOutput, begun_mark, parts
from dapkit.python.debuggee.connection.output_marks import MARK_BEGINS


def mark(number: int, pipes: int = 3) -> str:
    return f"{MARK_BEGINS}{number}:{pipes}\0"


def test_what_was_read_is_split_at_marks_of_which_the_last_of_several_counts() -> None:
    data = f"a\0{mark(1)}{mark(2)}b{mark(3)}".encode()
    assert list(parts(data)) == [(b"a\0", 2), (b"b", 3), (b"", 0)]
    assert list(parts(b"plain")) == [(b"plain", 0)]


@pytest.mark.parametrize("before", ["text", mark(12344), f"{mark(12344)}text", "\0text"])
def test_beginning_of_a_mark_is_kept_back_wherever_it_was_cut(before: str) -> None:
    given, whole = before.encode(), mark(12345).encode()
    assert [begun_mark(given + whole[:cut]) for cut in range(len(whole) + 1)] == [*range(len(whole)), 0]


async def test_number_that_is_too_long_is_no_mark() -> None:
    text = f"{MARK_BEGINS}{'9' * 5000}:3\0"
    assert list(parts(text.encode())) == [(text.encode(), 0)]
    assert [part async for part in MarkedOutput().in_order(text)] == [text]


async def test_no_pipe_waits_for_a_message_until_the_last_that_hurries_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MARK_SECONDS", inf)
    marked = MarkedOutput()
    with anyio.fail_after(60), marked.hurrying():
        with marked.hurrying():
            pass
        await marked.come_to(STDOUT, 1)


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["in order", "threads have changed places"])
async def test_pipes_and_messages_wait_for_each_other_and_never_for_good(order: tuple[int, int]) -> None:
    marked = MarkedOutput()
    said: list[str] = []

    async def write(pipe: int, name: str) -> None:
        for number in (1, 2):
            said.append(f"{name}{number}")
            await marked.come_to(pipe, number)
        said.append(f"{name} end")
        marked.end(pipe)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write, STDOUT, "out")
            tasks.start_soon(write, STDERR, "err")
            text = "".join(f"{mark(number)}message {number}" for number in order)
            async for part in marked.in_order(text):
                said.append(part)  # noqa: PERF401 - at its turn
    assert [entry for entry in said if entry.startswith("out")] == ["out1", "out2", "out end"]
    if order == (1, 2):
        for number in (1, 2):
            assert said.index(f"message {number}") > max(said.index(f"out{number}"), said.index(f"err{number}"))
        assert said.index("message 1") < said.index("out2")
