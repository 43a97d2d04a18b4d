"""Members that are stopped, in groups, and the questions to one of them that a group is shown by."""

from collections.abc import Sequence

from dapkit.cluster import limits
from dapkit.cluster.member_link import MemberLink
from dapkit.cluster.stack_groups import GroupedCall, compared_calls
from dapkit.protocol import (
    DapkitError,
    EvaluateBody,
    ProtocolObject,
    ScopesBody,
    StackFrame,
    VariablesBody,
    decode_as,
)
from dapkit.python.stacks.threads import Frame, is_own


class MemberValue(ProtocolObject, frozen=True, kw_only=True):
    """A local variable of a representative, as text."""

    name: str
    value: str


class MemberAnswer(ProtocolObject, frozen=True, kw_only=True):
    """A value of an expression, and the members in which it has this value."""

    evaluate_name: str
    value: str
    members: list[str]


class StopGroup(ProtocolObject, frozen=True, kw_only=True):
    """Members whose threads are stopped at the same place.

    Attributes:
        reason: of the first one's stop.
        calls: the innermost first.
        members: their names.
        representative: the member whose values are shown, and that is looked at first.
        values: its local variables.
        answers: the values of expressions, the rarest first.

    """

    reason: str
    calls: list[GroupedCall]
    members: list[str]
    representative: str
    values: list[MemberValue]
    answers: list[MemberAnswer]


def calls_of(frames: Sequence[StackFrame]) -> list[GroupedCall]:
    """Return the calls of a stopped thread that are compared, the innermost first."""
    stack = [(frame.name, (frame.source and frame.source.path) or "", frame.line) for frame in frames]
    return compared_calls([Frame(name, path, line, bool(path) and is_own(path)) for name, path, line in stack])


async def locals_of(link: MemberLink, frame_id: int) -> list[MemberValue]:
    """Return the local variables of a frame. Raises: JobError."""
    scopes = decode_as(ScopesBody, await link.ask("scopes", {"frameId": frame_id})).scopes
    if not scopes:
        return []
    arguments = {"variablesReference": scopes[0].variables_reference}
    variables = decode_as(VariablesBody, await link.ask("variables", arguments)).variables
    plain = [each for each in variables if not each.name.endswith("variables")]
    return [MemberValue(name=each.name, value=each.value) for each in plain[: limits.VALUES]]


async def answer_of(link: MemberLink, frame_id: int, expression: str) -> str:
    """Return the value of an expression in a frame, or the error in parentheses."""
    try:
        arguments = {"expression": expression, "frameId": frame_id, "context": "watch"}
        return decode_as(EvaluateBody, await link.ask("evaluate", arguments)).result
    except DapkitError as error:
        return f"({error})"
