"""Log messages and the output of a program, put in order by marks."""

from collections.abc import Iterator
from math import inf

import anyio
import pytest

from dapkit.python import limits
from dapkit.python.adapter.engine.marked_output import (
    STDERR,
    STDOUT,
    MarkedOutput,
    OutputMemory,
    begun_mark,
    length,
    parts,
)
from dapkit.python.debuggee.connection.output_marks import MARK_BEGINS, position_of


def mark(number: int) -> str:
    return f"{MARK_BEGINS}{number}\0"


def test_what_was_read_is_split_at_marks_of_which_the_last_of_several_counts() -> None:
    data = f"a\0{mark(1)}{mark(2)}b{mark(3)}".encode()
    assert list(parts(data)) == [(b"a\0", 2), (b"b", 3), (b"", 0)]
    assert list(parts(b"plain")) == [(b"plain", 0)]


@pytest.mark.parametrize("before", ["text", mark(12344), f"{mark(12344)}text", "\0text"])
def test_beginning_of_a_mark_is_kept_back_wherever_it_was_cut(before: str) -> None:
    given, whole = before.encode(), mark(12345).encode()
    assert [begun_mark(given + whole[:cut]) for cut in range(len(whole) + 1)] == [*range(len(whole)), 0]


async def test_number_that_is_too_long_is_no_mark() -> None:
    long = int("9" * 4000)
    assert list(parts(mark(long).encode())) == [(mark(long).encode(), 0)]
    assert [part async for part in MarkedOutput().in_order(position_of(long, 0, 0))] == [position_of(long, 0, 0)]


def test_positions_have_no_length() -> None:
    assert length(f"{position_of(1, 0, 0)}one{position_of(2, 1, 0)}two") == len("onetwo")
    assert length("plain") == len("plain")


async def test_no_pipe_waits_for_a_message_until_the_last_that_hurries_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MARK_SECONDS", inf)
    marked = MarkedOutput()
    marked.come_to(STDOUT, 1)
    with anyio.fail_after(60), marked.hurrying():
        with marked.hurrying():
            pass
        await marked.wait_in(STDOUT)


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["in order", "threads have changed places"])
async def test_pipes_and_messages_wait_for_each_other_and_never_for_good(order: tuple[int, int]) -> None:
    marked = MarkedOutput()
    said: list[str] = []

    async def write(pipe: int, name: str) -> None:
        for number in (1, 2):
            await marked.wait_in(pipe, before=number)
            said.append(f"{name}{number}")
            marked.come_to(pipe, number)
        await marked.wait_in(pipe)
        said.append(f"{name} end")
        marked.end(pipe)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write, STDOUT, "out")
            tasks.start_soon(write, STDERR, "err")
            text = "".join(f"{position_of(number, number, number)}message {number}" for number in order)
            async for part in marked.in_order(text):
                said.append(part)  # noqa: PERF401 - at its turn
    assert [entry for entry in said if entry.startswith("out")] == ["out1", "out2", "out end"]
    if order == (1, 2):
        for number in (1, 2):
            assert said.index(f"message {number}") > max(said.index(f"out{number}"), said.index(f"err{number}"))
        assert said.index("message 1") < said.index("out2")


# With the memory that the engine shares


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[OutputMemory]:
    monkeypatch.setattr(limits, "MARK_SECONDS", inf)
    memory = OutputMemory.made()
    assert memory is not None
    yield memory
    memory.close()


def make_messages(memory: OutputMemory, number: int) -> None:
    """Say what an engine says that has made so many messages."""
    memory._words[2] = number


async def passed_on(marked: MarkedOutput, text: str) -> list[str]:
    return [part async for part in marked.in_order(text)]


async def test_output_waits_for_messages_that_the_engine_has_made_and_nobody_has_seen(memory: OutputMemory) -> None:
    marked = MarkedOutput(memory)
    make_messages(memory, 2)
    said: list[str] = []

    async def write() -> None:
        await marked.wait_in(STDOUT)
        said.append("out")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            said += await passed_on(marked, f"{position_of(1, 0, 0)}one")
            await anyio.wait_all_tasks_blocked()
            said += await passed_on(marked, f"{position_of(2, 0, 0)}two")
    assert said == ["one", "two", "out"]


async def test_output_before_a_mark_waits_for_the_messages_below_its_number(memory: OutputMemory) -> None:
    marked = MarkedOutput(memory)
    make_messages(memory, 9)
    said: list[str] = []

    async def write() -> None:
        await marked.wait_in(STDOUT, before=3)
        said.append("out")
        marked.come_to(STDOUT, 3)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            said += await passed_on(marked, f"{position_of(2, 0, 0)}one and two")
            said += await passed_on(marked, f"{position_of(3, 3, 0)}three")
    assert said == ["one and two", "out", "three"]


async def test_output_does_not_wait_for_a_message_whose_mark_is_still_to_come(memory: OutputMemory) -> None:
    marked = MarkedOutput(memory)
    make_messages(memory, 1)
    said: list[str] = []

    async def log() -> None:
        said.extend(await passed_on(marked, f"{position_of(1, 1, 0)}one"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(log)
            await marked.wait_in(STDOUT)
            said.append("out")
            marked.come_to(STDOUT, 1)
    assert said == ["out", "one"]


async def test_lost_messages_are_waited_for_once(memory: OutputMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    marked = MarkedOutput(memory)
    make_messages(memory, 1)
    with anyio.fail_after(60):
        with monkeypatch.context() as impatient:
            impatient.setattr(limits, "MARK_SECONDS", 0)
            await marked.wait_in(STDOUT)
        await marked.wait_in(STDERR)


async def test_no_output_waits_when_there_are_no_messages_any_more(memory: OutputMemory) -> None:
    marked = MarkedOutput(memory)
    make_messages(memory, 1)
    marked.release()
    with anyio.fail_after(60):
        await marked.wait_in(STDOUT)
