"""Numbers of requests and answers, between the session's and the adapter's."""

from dapkit.protocol import (
    EvaluateArguments,
    EvaluateBody,
    ScopesArguments,
    StackFrame,
    StackTraceBody,
    Variable,
    VariablesBody,
)
from dapkit.sessions.references import ReferenceKind
from dapkit.sessions.requests import references_in, renumbered


def add_100(_kind: ReferenceKind, number: int) -> int:
    return number + 100


def test_frames_are_renumbered_also_if_the_adapter_calls_one_zero() -> None:
    body = StackTraceBody(stack_frames=[StackFrame(id=0, name="f", line=1, column=1)])
    assert renumbered(body, add_100).stack_frames[0].id == 100


def test_values_without_children_keep_their_zero() -> None:
    body = EvaluateBody(result="1", variables_reference=0)
    assert renumbered(body, add_100) is body


def test_variables_and_their_places_are_renumbered() -> None:
    one = Variable(name="a", value="[]", variables_reference=5, declaration_location_reference=6)
    other = Variable(name="b", value="1", variables_reference=0)
    new = renumbered(VariablesBody(variables=[one, other]), add_100)
    assert new.variables[0].variables_reference == 105
    assert new.variables[0].declaration_location_reference == 106
    assert new.variables[1] is other


def test_references_of_requests() -> None:
    assert references_in(ScopesArguments(frame_id=3)) == [("frame", 3)]
    assert references_in(EvaluateArguments(expression="x")) == []
