"""A session at the moment of an answer, which every answer about a session carries."""

from typing import Literal

from dapkit.protocol import ProtocolObject, Source


class Snapshot(ProtocolObject, frozen=True, kw_only=True):
    """A session at the moment of the answer.

    Attributes:
        adapter: name of the adapter.
        source: where the current frame is, as `line` and `column`.
        needs_configuration_done: whether the adapter still waits for breakpoints and configurationDone.
        process_id: of the program, if the adapter tells it.
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
    program: str | None = None
    stop_reason: str | None = None
    thread_id: int | None = None
    frame_id: int | None = None
    frame_name: str | None = None
    instruction_pointer_reference: str | None = None
    source: Source | None = None
    line: int | None = None
    column: int | None = None
    exit_code: int | None = None
    process_id: int | None = None


class OfSession(ProtocolObject, frozen=True, kw_only=True):
    """An answer about one session."""

    snapshot: Snapshot
