"""A session at the moment of an answer, which every answer about a session carries."""

from typing import Literal

from dapkit.protocol import ProtocolObject, Source


class Child(ProtocolObject, frozen=True, kw_only=True):
    """A child of the program that is debugged, too.

    Attributes:
        number: its place among them, from 1.
        source: where it stands, as `line`.

    """

    number: int
    status: Literal["stopped", "running", "terminated"]
    name: str | None = None
    pid: int | None = None
    source: Source | None = None
    line: int | None = None


class Snapshot(ProtocolObject, frozen=True, kw_only=True):
    """A session at the moment of the answer.

    Attributes:
        adapter: name of the adapter.
        child: number of the child that has stopped last and still stands; absent if that is the program itself.
        source: where the current frame is, as `line` and `column`.
        breakpoint_files: how many files have breakpoints.
        breakpoint_count: how many breakpoints on lines the session has.
        children: of the program, if any are debugged.
        needs_configuration_done: whether the adapter still waits for breakpoints and configurationDone.
        exit_code: of a program that has ended; 128 and the signal's number, if one has killed it.
        exit_signal: name of the signal that killed it.
        process_id: of the program, if the adapter reports it.
        output_bytes: characters of output that came so far; also the position to read on from.
        output_truncated: whether some of it had to be dropped.

    """

    id: str
    adapter: str
    status: Literal["launching", "configuring", "stopped", "running", "terminated"]
    cwd: str
    launched_at: str
    last_used_at: str
    output_bytes: int
    output_truncated: bool
    needs_configuration_done: bool
    breakpoint_files: int
    breakpoint_count: int
    function_breakpoint_count: int
    program: str | None = None
    children: list[Child] | None = None
    stop_reason: str | None = None
    stop_description: str | None = None
    child: int | None = None
    thread_id: int | None = None
    frame_id: int | None = None
    frame_name: str | None = None
    instruction_pointer_reference: str | None = None
    source: Source | None = None
    line: int | None = None
    column: int | None = None
    exit_code: int | None = None
    exit_signal: str | None = None
    process_id: int | None = None


class OfSession(ProtocolObject, frozen=True, kw_only=True):
    """An answer about one session."""

    snapshot: Snapshot
