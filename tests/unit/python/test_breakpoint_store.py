"""Breakpoints that the adapter remembers for a program that is started again."""

from dapkit.protocol import (
    Breakpoint,
    BreakpointEvent,
    RawJson,
    SetBreakpointsArguments,
    Source,
    SourceBreakpoint,
    encode_value,
)
from dapkit.python.adapter.engine.breakpoint_store import BreakpointStore
from operations import operations


def remembering(files: int, lines: int) -> BreakpointStore:
    """Return what is remembered of breakpoints at the first lines of some files."""
    remembered = BreakpointStore()
    for file in range(files):
        wanted = [SourceBreakpoint(line=line) for line in range(1, lines + 1)]
        made = [Breakpoint(verified=False, id=file * lines + line) for line in range(1, lines + 1)]
        arguments = SetBreakpointsArguments(source=Source(path=f"/f{file}.py"), breakpoints=wanted)
        remembered.note(arguments, RawJson(encode_value({"breakpoints": made})))
    return remembered


def events_of(remembered: BreakpointStore, numbers: range) -> None:
    for number in numbers:
        changed = Breakpoint(verified=True, id=number, line=number)
        remembered.of_client(BreakpointEvent(reason="changed", breakpoint=changed))


def test_an_event_of_a_breakpoint_is_as_much_work_among_many_as_among_few() -> None:
    few, many = remembering(2, 10), remembering(20, 100)
    assert operations(lambda: events_of(many, range(1, 11))) == operations(lambda: events_of(few, range(1, 11)))


async def test_what_events_have_changed_is_known_when_breakpoints_are_set_again() -> None:
    remembered = remembering(2, 3)
    events_of(remembered, range(4, 6))
    asked = 6

    async def ask(arguments: object) -> RawJson:
        nonlocal asked
        assert isinstance(arguments, SetBreakpointsArguments)
        made = [Breakpoint(verified=False, id=asked + at) for at in (1, 2, 3)]
        asked += 3
        return RawJson(encode_value({"breakpoints": made}))

    changes = await remembered.set_again(ask)
    assert [(change.breakpoint.id, change.breakpoint.verified) for change in changes] == [(4, False), (5, False)]
    event = remembered.of_client(BreakpointEvent(reason="changed", breakpoint=Breakpoint(verified=True, id=10)))
    assert isinstance(event, BreakpointEvent)
    assert event.breakpoint.id == 4  # the first of the second file, as the client knows it
    changes = await remembered.set_again(ask)
    assert [(change.breakpoint.id, change.breakpoint.verified) for change in changes] == [(4, False)]
