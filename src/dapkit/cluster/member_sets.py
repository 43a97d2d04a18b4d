"""Sets of members as users write them.

    all                         every member
    0-31,40                     ranks, or names as `dapkit job where` shows them
    rank % 8 == 0               a Python expression of rank, size, host, name, pid and state
    host == "n3" and rank > 4

An expression is not run as Python: only comparisons, arithmetic, `and`, `or`, `not` and `in` are known.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from dapkit.cluster.errors import WrongSet
from dapkit.cluster.members import Member, set_text

_LISTED: Final = re.compile(r"[\w.:/-]+(\s*,\s*[\w.:/-]+)*")
_RANGE: Final = re.compile(r"(\d+)-(\d+)")
_FIELDS: Final = ("rank", "size", "host", "name", "pid", "state")

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}


def select(members: Sequence[Member], text: str) -> list[Member]:
    """Return the members of a set.

    Raises:
        WrongSet: the text is not a set, or names a member that does not exist.

    """
    text = text.strip()
    if text in ("", "all"):
        return list(members)
    if _LISTED.fullmatch(text) and text not in _FIELDS:
        return _listed(members, [part.strip() for part in text.split(",")])
    expression = _parsed(text)
    return [member for member in members if _value(expression, member, text)]


def _listed(members: Sequence[Member], parts: Sequence[str]) -> list[Member]:
    of_name = {member.name: member for member in members}
    selected: dict[str, Member] = {}
    for part in parts:
        ranks = _RANGE.fullmatch(part)
        if part in of_name:
            selected[part] = of_name[part]
        elif ranks is not None and int(ranks[1]) <= int(ranks[2]):
            inside = [member for member in members if int(ranks[1]) <= member.rank <= int(ranks[2])]
            if not inside:
                raise WrongSet(f"the job has no member {part}: it has {set_text(of_name)}")
            selected |= {member.name: member for member in inside}
        else:
            raise WrongSet(f"the job has no member {part}: it has {set_text(of_name)}")
    return list(selected.values())


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _wrong(text) from None


def _value(node: ast.expr, member: Member, text: str) -> Any:  # noqa: ANN401, PLR0911 - of any type; one line a node
    """Return the value of an expression for a member."""
    match node:
        case ast.Constant(value=int() | str() as value):
            return value
        case ast.Name(id=name) if name in _FIELDS:
            return str(member.state) if name == "state" else getattr(member, name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return [_value(element, member, text) for element in elements]
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, member, text) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, member, text) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, member, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _computed(operator.neg, text, _value(operand, member, text))
        case ast.BinOp(left=first, op=sign, right=second) if type(sign) in _BINARY:
            return _computed(_BINARY[type(sign)], text, _value(first, member, text), _value(second, member, text))
        case ast.Compare():
            return _compared(node, member, text)
        case _:
            raise _wrong(text)


def _compared(node: ast.Compare, member: Member, text: str) -> bool:
    value = _value(node.left, member, text)
    for sign, operand in zip(node.ops, node.comparators, strict=True):
        other = _value(operand, member, text)
        if type(sign) not in _COMPARED:
            raise _wrong(text)
        if not _computed(_COMPARED[type(sign)], text, value, other):
            return False
        value = other
    return True


def _computed(function: Callable[..., Any], text: str, *operands: Any) -> Any:  # noqa: ANN401 - as above
    if any(isinstance(each, str) for each in operands) and function in _BINARY.values():
        raise _wrong(text)  # 'x' * 9**9 would take all memory
    try:
        return function(*operands)
    except (TypeError, ArithmeticError) as error:
        raise WrongSet(f"the set {text!r} cannot be computed: {error}") from None


def _wrong(text: str) -> WrongSet:
    return WrongSet(
        f"{text!r} is not a set of members: expected ranks or names (0-31,40), all, or a comparison of "
        f"{', '.join(_FIELDS)}, such as rank % 8 == 0"
    )
