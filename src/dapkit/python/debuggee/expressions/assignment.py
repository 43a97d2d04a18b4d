"""Giving variables of the stopped program new values.

The text of the new value is evaluated in the frame that the variable was shown for; then the value goes to
where the old one is stored, by the program's own ways of storing, so that a property or a
`__setattr__` works and may refuse. A target that cannot be written to is refused with the reason.
"""

import _ast
from types import FrameType

from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.errors import RequestRefused, TimeIsUp
from ..interpreter.safe_types import ClassSet, type_name
from ..sources.compilation import compiled
from ..values.row_types import PlainView, RemainingItems, VariableGroup
from ..values.storage import Attribute, ContainerItem, GlobalVariable, LocalVariable, Stored
from ..values.variables import ExpandableValue, VariableContainer, VariableReader
from .evaluate import Namespaces, evaluate, run, said

_WHERE = "<dapkit: setExpression>"
_STAND_INS = ClassSet(VariableGroup, RemainingItems, PlainView)


def set_variable(
    reader: VariableReader,
    inside: VariableContainer,
    name: str,
    *,
    namespaces: Namespaces,
    text: str,
    guard: EvaluationGuard,
) -> object:
    """Replace the value that is shown under a name; return the new one.

    Raises:
        RequestRefused: if there is no such name, it cannot be written to, or the text does not evaluate.

    """
    row = reader.find(inside, name, guard)
    if row is None:
        raise RequestRefused(f"there is no {name!r} here")
    if row.stored is None:
        raise RequestRefused(f"{name} cannot be set: {_why_not(inside, row.value)}")
    value = evaluate(text, namespaces, guard)
    store(row.stored, value, guard)
    row.value = value
    return value


def set_expression(
    expression: str, *, namespaces: Namespaces, frame: FrameType | None, text: str, guard: EvaluationGuard
) -> object:
    """Assign to an expression; return the new value.

    Raises:
        RequestRefused: if it is nothing that can be assigned to, or one of the texts does not evaluate.

    """
    target = _target(expression)
    value = evaluate(text, namespaces, guard)
    store(_stored(target, expression, namespaces=namespaces, frame=frame, guard=guard), value, guard)
    return value


def stored_at(expression: str, *, namespaces: Namespaces, frame: FrameType | None, guard: EvaluationGuard) -> Stored:
    """Return where the value of an expression is stored.

    Raises:
        RequestRefused: if it is stored nowhere, or a part of it does not evaluate.

    """
    return _stored(_target(expression), expression, namespaces=namespaces, frame=frame, guard=guard)


def _stored(
    target: _ast.AST, expression: str, *, namespaces: Namespaces, frame: FrameType | None, guard: EvaluationGuard
) -> Stored:
    match target:
        case _ast.Name(id=name):
            return _variable(name, namespaces, frame)
        case _ast.Attribute(value=owner, attr=name):
            return Attribute(_part(owner, namespaces, guard), name)
        case _ast.Subscript(value=container, slice=key):
            return ContainerItem(_part(container, namespaces, guard), _part(key, namespaces, guard))
        case _:
            raise RequestRefused(
                f"{expression.strip()[:80]} cannot be assigned to; a name, an attribute or an item can"
            )


def store(stored: Stored, value: object, guard: EvaluationGuard) -> None:
    """Put a value where another is.

    Raises:
        RequestRefused: with the program's error.

    """
    try:
        guard.call(limits.WATCH_SECONDS, stored.write, value)
    except TimeIsUp:
        raise RequestRefused(f"it did not end within {limits.WATCH_SECONDS:g} s and was interrupted") from None
    except BaseException as error:  # of the program's own way of storing: the answer
        raise RequestRefused(said(error, guard)) from error


def _target(expression: str) -> _ast.AST:
    try:
        tree = compiled(expression.strip(), "eval", _ast.PyCF_ONLY_AST, place=_WHERE)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(said(error)) from error
    return tree.body  # type: ignore[no-any-return]  # "eval" gives an Expression


def _part(node: _ast.expr, namespaces: Namespaces, guard: EvaluationGuard) -> object:
    """Evaluate a part of the expression; a slice alone is not an expression."""
    if isinstance(node, _ast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if bound is None else _part(bound, namespaces, guard) for bound in bounds))
    code = compiled(_ast.Expression(node), "eval", place=_WHERE)
    try:
        return guard.call(limits.WATCH_SECONDS, run, code, namespaces)
    except TimeIsUp:
        raise RequestRefused(f"it did not end within {limits.WATCH_SECONDS:g} s and was interrupted") from None
    except BaseException as error:
        raise RequestRefused(said(error, guard)) from error


def _variable(name: str, namespaces: Namespaces, frame: FrameType | None) -> Stored:
    if frame is not None and namespaces.locals is not namespaces.globals:
        code = frame.f_code
        if name in namespaces.stored()[0] or name in code.co_varnames + code.co_cellvars + code.co_freevars:
            return LocalVariable(frame, name)
    if name in namespaces.stored()[1] or namespaces.locals is namespaces.globals:
        return GlobalVariable(namespaces.globals, name)
    raise RequestRefused(f"there is no variable {name}")


def _why_not(inside: VariableContainer, value: object) -> str:
    if type(value) in _STAND_INS:
        return "it stands for several; open it"
    if isinstance(inside, ExpandableValue):
        return f"a {type_name(inside.value)} does not let its items be replaced"
    return "it is not a variable of the program"
