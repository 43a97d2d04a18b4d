"""Values of the protocol as answers show them, cut to a size."""

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.results import values
from dapkit.protocol import (
    EvaluateBody,
    ExceptionInfoBody,
    SetExpressionBody,
    SetVariableBody,
    StackFrame,
    Variable,
    changed,
)
from dapkit.protocol import ExceptionDetails as ProtocolDetails
from dapkit.redaction.redaction import value_of


def variable(received: Variable, *, most: int = limits.VALUE_CHARACTERS) -> values.VariableRow:
    """Show a text of an adapter, cut to a size."""
    value, length = shortened(received.value, most)
    return values.VariableRow(
        name=shortened(received.name, most)[0],
        value=value,
        type=_type(received.type, most),
        variables_reference=received.variables_reference,
        evaluate_name=received.evaluate_name
        if received.evaluate_name is None or len(received.evaluate_name) <= most
        else None,
        memory_reference=received.memory_reference,
        named_variables=received.named_variables,
        indexed_variables=received.indexed_variables,
        length=length,
    )


def frame(received: StackFrame, index: int) -> values.FrameRow:
    """Show a value of an adapter, cut to a size."""
    return values.FrameRow(
        index=index,
        id=received.id,
        name=shortened(received.name, limits.NAME_CHARACTERS)[0],
        line=received.line,
        column=received.column,
        source=received.source,
        instruction_pointer_reference=received.instruction_pointer_reference,
        presentation_hint=received.presentation_hint,
    )


def evaluation(body: EvaluateBody, *, most: int, contents: str | None = None, secret_of: str = "") -> values.Evaluation:
    """Show the result of an expression; values that the expression `secret_of` names as secret are left out."""
    result, length = shortened(value_of(secret_of, body.result), most)
    return values.Evaluation(
        result=result,
        contents=None if contents is None else value_of(secret_of, contents),
        type=_type(body.type, most),
        variables_reference=body.variables_reference,
        memory_reference=body.memory_reference,
        named_variables=body.named_variables,
        indexed_variables=body.indexed_variables,
        length=length,
    )


def cut_evaluation(value: values.Evaluation, most: int) -> values.Evaluation:
    """Cut a value that is longer than an answer may show already."""
    result, length = shortened(value.result, most)
    return changed(value, result=result, length=value.length or length)


def assigned(body: SetVariableBody | SetExpressionBody, *, most: int, secret_of: str = "") -> values.Evaluation:
    """Show a value that was assigned; `secret_of` as in `evaluation`."""
    result, length = shortened(value_of(secret_of, body.value), most)
    return values.Evaluation(
        result=result,
        type=_type(body.type, most),
        variables_reference=body.variables_reference or 0,
        memory_reference=body.memory_reference,
        length=length,
    )


def _type(name: str | None, most: int) -> str | None:
    """Show a type; template types can be as long as a page."""
    return shortened(name, most)[0] if name else None


def exception(body: ExceptionInfoBody) -> values.ExceptionRow:
    """Show an exception with its causes."""
    details = body.details or ProtocolDetails()
    return values.ExceptionRow(
        exception_id=body.exception_id,
        break_mode=body.break_mode,
        description=_text(body.description),
        type_name=_text(details.type_name),
        message=_text(details.message),
        stack_trace=_text(details.stack_trace),
        cause=[*_causes(details)] or None,
    )


def _text(about: str | None) -> str | None:
    return None if about is None else shortened(about, limits.EXCEPTION_CHARACTERS)[0]


def _causes(details: ProtocolDetails) -> list[str]:
    return [
        text
        for inner in details.inner_exception or ()
        for text in (f"{inner.type_name or 'exception'}: {_text(inner.message) or ''}".rstrip(": "), *_causes(inner))
    ]
