"""Results of the queries of diagnostics."""

from typing import Literal

from dapkit.agent.results.snapshot import OfSession
from dapkit.protocol import ProtocolObject
from dapkit.protocol.heap import HeapBody


class WireRow(ProtocolObject, frozen=True, kw_only=True):
    """One message that passed on a wire; see `dapkit.transport.WireRecord`.

    Attributes:
        text: the message, or its beginning and a marker, without secrets.
        length: characters of the whole message.

    """

    number: int
    time: float
    channel: str
    sender: str
    kind: Literal["request", "response", "event", ""]
    name: str
    text: str
    length: int
    seq: int | None = None
    request_seq: int | None = None
    success: bool | None = None
    problem: str | None = None


class WireRecords(ProtocolObject, frozen=True, kw_only=True):
    """The messages after one.

    Attributes:
        session: whose they are.
        over: whether the session has ended, so that no more will come.
        total: how many have passed, those that were dropped too.
        kept: how many of them are kept.
        characters: that these have.

    """

    session: str
    over: bool
    records: list[WireRow]
    total: int
    kept: int
    characters: int


class RecordedAction(ProtocolObject, frozen=True, kw_only=True):
    """An action that was carried out in a session, and its answer.

    Attributes:
        number: from 1; every action is counted, those that were dropped too.
        time: when it was asked for, in seconds since the epoch.
        seconds: how long it took.
        arguments: as they were given, without secrets.
        text: of the answer.
        details: of the answer, as JSON; absent of one that failed, or that is very long.
        output: the output of the program, or of its debugger, since the previous action, as far as it is kept.

    """

    number: int
    time: float
    seconds: float
    action: str
    arguments: object
    success: bool
    text: str
    details: object = None
    output: str = ""


class SessionConfiguration(ProtocolObject, frozen=True, kw_only=True):
    """How a session was started.

    Attributes:
        adapter: its name.
        command: the command that started the adapter, or the way it was reached.
        arguments: of `launch` or `attach`, by the adapter's own names, without secrets.
        adapter_pid: process of the adapter; absent if dapkit did not start it, and once it has ended.

    """

    adapter: str
    command: list[str]
    request: Literal["launch", "attach"]
    arguments: object
    adapter_pid: int | None = None


class RecordResult(OfSession, frozen=True, kw_only=True):
    """The history of a session.

    Attributes:
        project: the folder that it belongs to.
        created: when it was opened, in seconds since the epoch.
        ending: how it came to its end, for people; empty while it lives.
        entries: the first action, and the latest ones.
        dropped: how many between them are not kept.
        output: the end of the program's output, without secrets.
        later_output: the part of it that came after the last action.
        output_lost: characters before it that are not kept; exact if they are all of one category.

    """

    project: str
    created: float
    ending: str
    configuration: SessionConfiguration
    entries: list[RecordedAction]
    dropped: int
    output: str
    later_output: str = ""
    output_lost: int = 0


class LiveSession(ProtocolObject, frozen=True, kw_only=True):
    """A session of any project that lives."""

    project: str
    session: str
    created: float


class LiveSessions(ProtocolObject, frozen=True, kw_only=True):
    """All sessions of a hub that live."""

    sessions: list[LiveSession]


class HeapResult(OfSession, frozen=True, kw_only=True):
    """The contents of a Python program's heap."""

    heap: HeapBody
