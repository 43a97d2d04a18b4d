"""Facts about a session that are remembered between the calls of its callers.

The session knows the state of the program; this module keeps the reports about it: which output a stop report has
shown, which locals, and how the start was requested.
"""

from collections import deque
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from dapkit.agent import limits
from dapkit.agent.results.diagnostics import RecordedAction
from dapkit.agent.results.probe import ProbeTable
from dapkit.agent.results.values import ExceptionRow
from dapkit.catalog import Choice
from dapkit.protocol import changed, encode_value
from dapkit.redaction.redaction import Redaction
from dapkit.sessions.session import DebugSession

# The actions of a session and their answers, kept within bounds: the source of its transcript.


class SessionRecord:
    """The first action of a session, which has started it, and the latest ones.

    Invariant: there are at most `limits.SESSION_RECORD_ENTRIES`, which have at most `limits.SESSION_RECORD_BYTES`.
    """

    def __init__(self) -> None:
        self._count = 0
        self._first: tuple[RecordedAction, int] | None = None
        self._latest: deque[tuple[RecordedAction, int, int]] = deque()
        self._bytes = 0

    def add(self, entry: RecordedAction, output_end: int = 0) -> None:
        """Keep an action, and where the output of the program had come to; its number is given here."""
        self._count += 1
        numbered = changed(entry, number=self._count)
        size = len(encode_value(numbered))
        if size > limits.SESSION_RECORD_ENTRY_BYTES:
            numbered = changed(numbered, details=None)
            size = len(encode_value(numbered))
        if self._first is None:
            self._first = (numbered, output_end)
            return
        self._latest.append((numbered, output_end, size))
        self._bytes += size
        while len(self._latest) >= limits.SESSION_RECORD_ENTRIES or self._bytes > limits.SESSION_RECORD_BYTES:
            self._bytes -= self._latest.popleft()[2]

    def entries(self) -> list[RecordedAction]:
        """Return those that are kept, in order."""
        return [entry for entry, _ in self.with_output()]

    def with_output(self) -> list[tuple[RecordedAction, int]]:
        """Return them with the positions that the output of the program had come to."""
        first = [] if self._first is None else [self._first]
        return first + [(entry, output_end) for entry, output_end, _ in self._latest]

    @property
    def dropped(self) -> int:
        """How many are not kept any more; they came after the first."""
        return self._count - len(self.entries())


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """A launch as it was asked for, so that it can be done again with changes."""

    choice: Choice
    program: str | None
    module: str | None
    code: str | None = None
    python_args: Sequence[str] = ()
    args: Sequence[str]
    cwd: Path
    env: Mapping[str, str | None]
    stop_on_entry: bool
    terminal: bool
    program_input: Path | None
    options: Mapping[str, object]

    def configuration(self) -> dict[str, object]:
        """Make the arguments of the launch request, and check that they can be sent. Raises: CatalogError."""
        has_input = self.program_input is not None and self.program_input.exists()  # a caller's ends with the caller
        arguments = self.choice.launch_arguments(
            self.program,
            self.args,
            cwd=self.cwd,
            env=self.env or None,
            stop_on_entry=self.stop_on_entry,
            module=self.module,
            code=self.code,
            python_args=self.python_args,
            terminal=self.terminal,
            program_input=self.program_input if has_input else None,
            more=self.options,
        )
        self.choice.check_launch(arguments, None if self.program is None else self.choice.program)
        return arguments

    def changed(
        self, *, args: Sequence[str] | None, env: Mapping[str, str | None] | None, stop_on_entry: bool | None
    ) -> "Launched":
        """Return a launch with other values; None leaves one as it was."""
        return replace(
            self,
            args=self.args if args is None else args,
            env={**self.env, **(env or {})},
            stop_on_entry=self.stop_on_entry if stop_on_entry is None else stop_on_entry,
        )


type ShownValue = tuple[str, str | None]
"""A value, and its contents if a report has shown them."""


class Locals(NamedTuple):
    """The values of a frame's variables as a report has shown them.

    Attributes:
        place: which function it was, in which thread; only the same one is compared.

    """

    place: tuple[object, ...]
    values: Mapping[str, ShownValue]


class StopNote(NamedTuple):
    """A stop as its report has shown it, to be compared with others.

    Attributes:
        where: its place, as text.
        function: name of the function.
        variables: their values, cut.
        output_end: where the output of the program had come to.

    """

    number: int
    where: str
    function: str
    variables: Mapping[str, ShownValue]
    output_end: int


@dataclass(slots=True)
class SessionNotes:
    """The reports about one session.

    Attributes:
        launched: how its program was started; None if it was attached to, or by a whole configuration.
        redaction: of the secrets that its program knows.
        children: by variables reference, how many named and indexed members the value has.
        secrets: variables references of values that have secret names, such as `credentials`.
        reported: positions in the output: where the last report began and where it ended.
        reported_stop: the stop that it was about.
        locals: as the report of the last stop has shown them.
        locals_before: as the report before that has.
        watchable: expressions that can be watched, each with its frame, by data id.
        expressions: those that each report of a stop evaluates.
        exception: with the stop that it caused.
        stops: the latest ones, by number.
        probes: those with a tag.
        record: of the actions that were carried out in it.
        is_whole_run: whether one action has begun it, and ends it, as `run` does.

    """

    launched: Launched | None = None
    redaction: Redaction = field(default_factory=Redaction)
    children: dict[int, tuple[int, int]] = field(default_factory=dict)
    secrets: set[int] = field(default_factory=set)
    reported: tuple[int, int] = (0, 0)
    reported_stop: int = 0
    locals: Locals | None = None
    locals_before: Locals | None = None
    watchable: dict[str, tuple[str, int]] = field(default_factory=dict)
    expressions: list[str] = field(default_factory=list)
    exception: tuple[int, ExceptionRow] | None = None
    stops: dict[int, StopNote] = field(default_factory=dict)
    probes: deque[ProbeTable] = field(default_factory=lambda: deque(maxlen=limits.PROBES_KEPT))
    record: SessionRecord = field(default_factory=SessionRecord)
    is_whole_run: bool = False

    def begin_report(self, stop: int, end: int) -> int:
        """Return the position from which a report shows output: the end of the report before.

        The same stop gets the same report again, for every caller.
        """
        if stop != self.reported_stop:
            self.reported_stop = stop
            self.reported = (self.reported[1], end)
            self.locals_before, self.locals = self.locals, None
            self.children.clear()
            self.secrets.clear()
        return self.reported[0]

    def keep_stop(self, stop: StopNote) -> None:
        """Keep a stop, to be compared with others; of the same stop the last report counts."""
        self.stops[stop.number] = stop
        while len(self.stops) > limits.STOPS_KEPT:
            del self.stops[min(self.stops)]

    def has_children(
        self, reference: int, named_variables: int | None, indexed: int | None, *, secret: bool = False
    ) -> None:
        """Record how many members a value has, and whether they are secret, until the next stop."""
        if reference and secret:
            self.secrets.add(reference)
        if reference and (named_variables or indexed):
            self.children[reference] = (named_variables or 0, indexed or 0)

    def exception_of(self, stop: int, reported: ExceptionRow) -> ExceptionRow:
        """Return the known facts about the exception that caused a stop: cmake names it only at the first request."""
        if reported.exception_id or self.exception is None or self.exception[0] != stop:
            self.exception = (stop, reported)
        return self.exception[1]


type Memories = MutableMapping[DebugSession, SessionNotes]


def new_notes() -> Memories:
    """Make an empty memory, which forgets a session when the hub does."""
    return WeakKeyDictionary()
