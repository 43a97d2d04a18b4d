"""The contents of a transcript: a session as values, independent of their display."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

type Lines = Sequence[str]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of source; `current` is the one where the program is stopped."""

    number: int
    text: str
    current: bool


@dataclass(frozen=True, slots=True)
class ShownVariable:
    """A variable at a stop.

    Attributes:
        change: whether it has another value than at the stop before in this frame, or was not there.
        was: the value before; None of one that was not there.

    """

    name: str
    value: str
    type: str = ""
    change: bool = False
    was: str | None = None


@dataclass(frozen=True, slots=True)
class ShownStop:
    """A stop of the program: its place, and its state.

    Attributes:
        number: stops of a session are counted from 1.
        reason: why it stood, such as `breakpoint 2`.
        place: `FILE:LINE`, the file from the folder of the project; empty if unknown.
        path: of the file, as the adapter has it; empty if unknown.
        raised: the exception and its causes; its first line is the exception itself.
        code: lines around the current one.
        variables: of the current frame, those that changed first.
        more_variables: how many are not shown.
        frames: the stack, innermost first, as `FUNCTION, FILE:LINE`.
        more_frames: how many are not shown; -1 for some.
        notes: parts that could not be read, and the like.

    """

    number: int
    reason: str
    place: str
    path: str
    function: str
    thread: str
    raised: Lines
    code: Sequence[CodeLine]
    variables: Sequence[ShownVariable]
    more_variables: int
    frames: Lines
    more_frames: int
    notes: Lines


@dataclass(frozen=True, slots=True)
class WireMessage:
    """A message between dapkit and an adapter.

    Attributes:
        title: its kind, such as `client: request stackTrace, 12`.
        text: its JSON, or the beginning of it.
        time: when it passed, in seconds since the epoch.

    """

    number: int
    time: float
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class TranscriptStep:
    """One action, and its outcome.

    Attributes:
        number: of the action in the session, from 1.
        time: when it was asked for, in seconds since the epoch.
        seconds: how long it took.
        command: as one would type it.
        success: whether it was done.
        output: the program's output since the previous step, until this one was answered.
        outcome: one line; empty if `text` says all.
        text: the answer, where it is neither a stop nor a value.
        value: of an expression, with its type.
        stop: where the program came to stand.
        wire: messages since the step before.

    """

    number: int
    time: float
    seconds: float
    action: str
    command: str
    success: bool
    output: str = ""
    outcome: str = ""
    text: str = ""
    value: ShownVariable | None = None
    stop: ShownStop | None = None
    wire: Sequence[WireMessage] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session, as far as it is kept.

    Attributes:
        session: its name.
        program: the debugged program, as `app.py`.
        facts: facts about the session, as pairs of a name and a text.
        started: in seconds since the epoch.
        seconds: until its last action had ended.
        ending: how it ended, or where it stands.
        over: whether it has ended.
        steps: the first action, and the latest ones.
        dropped: how many actions between them are not kept.
        later_output: the program's output after the last step.
        output_lost: characters of output before all of it that are not kept.
        later_wire: messages after the last action.
        wire_total: how many messages have passed; None if they were not asked for.
        wire_kept: how many of them are kept.

    """

    session: str
    project: str
    program: str
    adapter: str
    facts: Sequence[tuple[str, str]]
    started: float
    seconds: float
    ending: str
    over: bool
    steps: Sequence[TranscriptStep]
    dropped: int = 0
    later_output: str = ""
    output_lost: int = 0
    later_wire: Sequence[WireMessage] = field(default=())
    wire_total: int | None = None
    wire_kept: int = 0

    @property
    def stops(self) -> Sequence[tuple[TranscriptStep, ShownStop]]:
        """The steps after which the program stood, each with its stop."""
        return [(step, step.stop) for step in self.steps if step.stop is not None]

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return asdict(self, dict_factory=_object)


def _object(fields: list[tuple[str, object]]) -> dict[str, object]:
    return {_camel(name): value for name, value in fields if value is not None}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
