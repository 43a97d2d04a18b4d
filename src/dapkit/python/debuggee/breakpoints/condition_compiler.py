"""Conditions as trees for the C extension: which are simple enough, and their trees.

A tree is made of nested tuples `(kind, operand, *children)`, as `native/condition.c` lists them.
A condition without a tree (a comprehension, a lambda, an f-string, ...) is None here; Python evaluates it.
"""

import _ast
from types import CodeType

from ..expressions.in_frame import SEES_ITS_CALLER
from ..interpreter.native import Tree
from ..sources.files import is_function

_COMPARISONS: dict[type[_ast.AST], str] = {
    _ast.Lt: "<",
    _ast.LtE: "<=",
    _ast.Eq: "==",
    _ast.NotEq: "!=",
    _ast.Gt: ">",
    _ast.GtE: ">=",
}
_OPERATIONS: dict[type[_ast.AST], str] = {
    _ast.Add: "+",
    _ast.Sub: "-",
    _ast.Mult: "*",
    _ast.Div: "/",
    _ast.FloorDiv: "//",
    _ast.Mod: "%",
    _ast.BitAnd: "&",
    _ast.BitOr: "|",
    _ast.BitXor: "^",
    _ast.LShift: "<<",
    _ast.RShift: ">>",
    _ast.MatMult: "@",
}
_SIGNS: dict[type[_ast.AST], str] = {_ast.USub: "-", _ast.UAdd: "+", _ast.Invert: "~"}


class _NotSimpleError(Exception):
    """An expression that only Python can evaluate."""


def tree_of(expression: _ast.expr, code: CodeType) -> Tree | None:
    """Return the tree of an expression that is evaluated in frames of `code`, None if it has no tree."""
    function = is_function(code)
    variables = frozenset({*code.co_varnames, *code.co_cellvars, *code.co_freevars}) if function else frozenset()
    try:
        return _TreeBuilder(variables, "global" if function else "name").tree(expression)
    except _NotSimpleError:
        return None


class _TreeBuilder:
    """The trees of the expressions in one code object."""

    def __init__(self, variables: frozenset[str], other: str) -> None:
        self._variables = variables
        self._other = other  # the names that are not its variables

    def tree(self, node: _ast.expr) -> Tree:  # noqa: C901, PLR0911, PLR0912 - one case per kind
        match node:
            case _ast.Constant(value=value):
                return "constant", value
            case _ast.Name(id=name):
                return "local" if name in self._variables else self._other, name
            case _ast.Attribute(value=value, attr=name):
                return "attribute", name, self.tree(value)
            case _ast.Subscript(value=value, slice=index) if not isinstance(index, _ast.Slice):
                return "binary", "[]", self.tree(value), self.tree(index)
            case _ast.Tuple(elts=elements):
                return "constant", tuple(_constants(elements))
            case _ast.Compare():
                return self._comparisons(node)
            case _ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
                return "binary", _OPERATIONS[type(operation)], self.tree(left), self.tree(right)
            case _ast.UnaryOp(op=_ast.Not(), operand=operand):
                return "not", None, self.tree(operand)
            case _ast.UnaryOp(op=_ast.USub(), operand=_ast.Constant(value=int() | float() as value)):
                return "constant", -value  # the source text -1
            case _ast.UnaryOp(op=operation, operand=operand):
                return "unary", _SIGNS[type(operation)], self.tree(operand)
            case _ast.BoolOp(op=operation, values=values):
                return ("and" if isinstance(operation, _ast.And) else "or"), None, *map(self.tree, values)
            case _ast.IfExp(test=test, body=body, orelse=other):
                return "choice", None, self.tree(test), self.tree(body), self.tree(other)
            case _ast.Call(func=function, args=arguments, keywords=[]):
                if isinstance(function, _ast.Name) and function.id in SEES_ITS_CALLER:
                    raise _NotSimpleError
                return "call", None, self.tree(function), *map(self.tree, arguments)
        raise _NotSimpleError

    def _comparisons(self, node: _ast.Compare) -> Tree:
        """Turn `a < b < c` into `a < b and b < c`, if reading b twice is the same as reading it once."""
        if not all(isinstance(middle, _ast.Name | _ast.Constant) for middle in node.comparators[:-1]):
            raise _NotSimpleError
        lefts = [node.left, *node.comparators]
        links = [
            self._comparison(left_operand, operation, right)
            for left_operand, operation, right in zip(lefts, node.ops, node.comparators, strict=False)
        ]
        return links[0] if len(links) == 1 else ("and", None, *links)

    def _comparison(self, left_operand: _ast.expr, operation: _ast.cmpop, right: _ast.expr) -> Tree:
        match operation:
            case _ast.Is() | _ast.IsNot():
                if not (_has_identity(left_operand) and _has_identity(right)):
                    raise _NotSimpleError
                tree: Tree = ("is", None, self.tree(left_operand), self.tree(right))
            case _ast.In() | _ast.NotIn():
                tree = ("contains", None, self.tree(left_operand), self._container(right))
            case _:
                tree = ("compare", _COMPARISONS[type(operation)], self.tree(left_operand), self.tree(right))
        return ("not", None, tree) if isinstance(operation, _ast.IsNot | _ast.NotIn) else tree

    def _container(self, node: _ast.expr) -> Tree:
        """Turn a display that is only looked into, into a constant, as the compiler does."""
        match node:
            case _ast.List(elts=elements):
                return "constant", tuple(_constants(elements))
            case _ast.Set(elts=elements):
                return "constant", frozenset(_constants(elements))
        return self.tree(node)


def _has_identity(node: _ast.expr) -> bool:
    """Return whether `is` means something for an expression, which it does not for literals such as 1.5."""
    match node:
        case _ast.Constant(value=None | True | False):
            return True
        case _ast.Name() | _ast.Attribute() | _ast.Subscript() | _ast.Call():
            return True
    return False


def _constants(elements: list[_ast.expr]) -> list[object]:
    values: list[object] = []
    for element in elements:
        match element:
            case _ast.Constant(value=value):
                values.append(value)
            case _ast.Tuple(elts=nested):
                values.append(tuple(_constants(nested)))
            case _:
                raise _NotSimpleError
    return values
