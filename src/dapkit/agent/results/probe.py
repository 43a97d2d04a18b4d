"""The hits of a place of the program, as a table."""

from dapkit.agent.results.session import StopReport
from dapkit.agent.results.snapshot import OfSession
from dapkit.agent.results.values import ExpressionValue
from dapkit.protocol import ProtocolObject


class ProbeRow(ProtocolObject, frozen=True, kw_only=True):
    """A hit.

    Attributes:
        hit: its number among those that meet the condition, from 1.
        seconds: since the first row.
        thread: name of the thread, if the adapter reports it.

    """

    hit: int
    seconds: float
    values: list[ExpressionValue]
    thread: str | None = None


class ProbeTable(ProtocolObject, frozen=True, kw_only=True):
    """The hits of one probe.

    Attributes:
        location: as it was asked for, with its condition.
        problem: why the probe had no effect, or another one than was asked for.
        tag: the name under which they are kept.

    """

    location: str
    expressions: list[str]
    rows: list[ProbeRow]
    problem: str | None = None
    tag: str | None = None


class ProbeResult(OfSession, frozen=True, kw_only=True):
    """A probe, and how the program went on.

    Attributes:
        limited: whether there may have been further hits, which are not shown.
        state: of the program at the end; it is ended if the action has started it.
        stop: an exception at which the program broke off, or another place at which it is stopped now.
        seconds: the time that was over before there were so many hits, and before the program had ended.

    """

    table: ProbeTable
    limited: bool
    state: str
    stop: StopReport | None = None
    exit_code: int | None = None
    seconds: float | None = None
    failure: str | None = None


class ProbesOfTag(ProtocolObject, frozen=True, kw_only=True):
    """All probes that were kept under a tag, the oldest first."""

    tag: str
    tables: list[ProbeTable]
