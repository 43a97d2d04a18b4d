"""Values, scopes, frames and threads."""

from dapkit.agent.results.snapshot import OfSession
from dapkit.protocol import ProtocolObject, Source, Thread


class VariableRow(ProtocolObject, frozen=True, kw_only=True):
    """A variable.

    Attributes:
        value: cut if it is very long; `length` is how long the adapter's text is then, which may be cut as well.
        contents: members of a struct, or items of a container, in braces; only at a stop, where `value` lacks them.
        changed: it is new, or has another value than at the last stop, which was `was`.

    """

    name: str
    value: str
    variables_reference: int
    type: str | None = None
    evaluate_name: str | None = None
    memory_reference: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    length: int | None = None
    contents: str | None = None
    changed: bool | None = None
    was: str | None = None


class FrameRow(ProtocolObject, frozen=True, kw_only=True):
    """A frame of a stack.

    Attributes:
        index: its place, 0 is the innermost.

    """

    index: int
    id: int
    name: str
    line: int
    column: int
    source: Source | None = None
    instruction_pointer_reference: str | None = None
    presentation_hint: str | None = None


class StackTraceResult(OfSession, frozen=True, kw_only=True):
    """Frames of a thread, innermost first.

    Attributes:
        more: whether there are further ones.
        next_start: the `start` that shows them.

    """

    thread_id: int
    stack_frames: list[FrameRow]
    more: bool
    next_start: int
    total_frames: int | None = None


class ThreadStack(ProtocolObject, frozen=True, kw_only=True):
    """The innermost frames of one thread.

    Attributes:
        more: whether there are further ones.
        problem: why they could not be had.

    """

    thread_id: int
    frames: list[FrameRow]
    more: bool = False
    problem: str | None = None


class ThreadsResult(OfSession, frozen=True, kw_only=True):
    """The threads of the program.

    Attributes:
        more: how many are not shown.
        stacks: of each thread, if they were asked for.

    """

    threads: list[Thread]
    more: int
    stacks: list[ThreadStack] | None = None


class ScopeRow(ProtocolObject, frozen=True, kw_only=True):
    """A group of variables of a frame."""

    name: str
    variables_reference: int
    expensive: bool
    presentation_hint: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None


class ScopesResult(OfSession, frozen=True, kw_only=True):
    """The scopes of a frame."""

    scopes: list[ScopeRow]


class VariablesResult(OfSession, frozen=True, kw_only=True):
    """Variables of a scope, or members of a value.

    Attributes:
        start: of the first one shown.
        more: how many further ones there are; -1 if that is not known.
        searched: the search for matches was limited to so many members.

    """

    variables: list[VariableRow]
    start: int
    more: int
    searched: int | None = None


class Evaluation(ProtocolObject, frozen=True, kw_only=True):
    """The value of an expression.

    Attributes:
        result: cut if it is very long; `length` is how long the adapter's text is then, which may be cut as well.
        contents: members of a struct, or items of a container, in braces, where `result` lacks them.

    """

    result: str
    variables_reference: int
    contents: str | None = None
    type: str | None = None
    memory_reference: str | None = None
    named_variables: int | None = None
    indexed_variables: int | None = None
    length: int | None = None


class ExpressionValue(ProtocolObject, frozen=True, kw_only=True):
    """An expression and its value.

    Attributes:
        evaluation: absent if it could not be evaluated.
        problem: why it could not be evaluated.

    """

    expression: str
    evaluation: Evaluation | None = None
    problem: str | None = None


class Evaluated(OfSession, frozen=True, kw_only=True):
    """The results of expressions.

    Attributes:
        evaluation: of the expression; empty if several were asked for.
        values: of several expressions.
        resumed: the program stood before, and runs now: a command of the debugger has resumed it, or its adapter did
            not report that a call is over.
        output: the program's output since the last report, for instance during the evaluation.
        output_since: position from which `output` gives all of it.

    """

    evaluation: Evaluation = Evaluation(result="", variables_reference=0)
    values: list[ExpressionValue] | None = None
    resumed: bool = False
    output: str = ""
    output_since: int = 0


class KeptExpressions(OfSession, frozen=True, kw_only=True):
    """The kept expressions of a session, with their values if the program is stopped."""

    expressions: list[ExpressionValue]


class Assigned(OfSession, frozen=True, kw_only=True):
    """A variable or expression that was given a new value."""

    name: str
    evaluation: Evaluation


class ExceptionRow(ProtocolObject, frozen=True, kw_only=True):
    """The exception that stopped the program.

    Attributes:
        cause: the one that it came from.

    """

    exception_id: str
    break_mode: str
    description: str | None = None
    type_name: str | None = None
    message: str | None = None
    stack_trace: str | None = None
    cause: list[str] | None = None


class ExceptionInfo(OfSession, frozen=True, kw_only=True):
    """The answer about the exception that stopped a thread."""

    thread_id: int
    exception: ExceptionRow


class Completion(ProtocolObject, frozen=True, kw_only=True):
    """A way to complete a text."""

    label: str
    text: str
    type: str | None = None


class CompletionsResult(OfSession, frozen=True, kw_only=True):
    """Ways to complete a text."""

    completions: list[Completion]
    more: int
