"""The arguments of a function, read once more in the frame that calls it.

That frame is at the call, so its own variables have their values of that time, and so have constants and arithmetic of
them. Anything else may have changed since (attributes, globals, variables that inner functions share), or would have
to run again, and is not taken. The text shows the name that the call uses; the code of that function shows that it was
this function which was called.
"""

import _ast
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, Final

from ..bytecode.instructions import instructions
from ..bytecode.positions import span_at
from ..bytecode.texts import ProgramTexts
from ..expressions.evaluate import Namespaces
from ..expressions.hover import ARITHMETIC, calculated, value_of
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import locals_of
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import defined, is_a, namespace
from ..sources.compilation import compiled
from ..sources.files import Sources, is_function

type Values = dict[str, object]

_CALLS: Final = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_AWAITS: Final = ("SEND", "YIELD_VALUE")
_TAKES_MORE: Final = 0x04  # CO_VARARGS
_TAKES_KEYWORDS: Final = 0x08  # CO_VARKEYWORDS
_NOT_ANY_MORE: Final = object()
"""An argument that cannot be read."""


class ArgumentRecovery:
    """Finds arguments in calls."""

    def __init__(self, texts: ProgramTexts, sources: Sources) -> None:
        self._texts = texts
        self._sources = sources
        untrack(self)

    def recovered(self, frame: FrameType, names: list[str]) -> Values:
        """Return those arguments of a frame that its call shows. Runs nothing of the program."""
        caller = frame.f_back
        call = self._call(caller) if caller is not None else None
        if caller is None or call is None:
            return {}
        try:
            function, first = _called(call.func, caller, frame.f_code)
        except RequestRefused:
            return {}
        if function is None:
            return {}
        pairs = ((name, _argument(name, call, caller, function, first)) for name in names)
        return {name: value for name, value in pairs if value is not _NOT_ANY_MORE}

    def _call(self, caller: FrameType) -> _ast.Call | None:
        """Return the call that a frame stands at."""
        code = caller.f_code
        key = self._sources.name(code.co_filename)
        stamps = self._sources.stamps
        operation = next((name for offset, name, _ in reversed(instructions(code)) if offset <= caller.f_lasti), "")
        span = span_at(code, caller.f_lasti)
        text = self._texts.of_code(code)
        if span is None or text is None or key in stamps.reloaded or stamps.note_about(key):
            return None
        try:
            tree: Any = compiled(f"({text.cut(span)})", "eval", _ast.PyCF_ONLY_AST)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        call = tree.body
        if operation in _AWAITS and isinstance(call, _ast.Await | _ast.YieldFrom):
            call = call.value
        elif operation not in _CALLS:
            return None
        is_plain = isinstance(call, _ast.Call) and not any(isinstance(part, _ast.NamedExpr) for part in _parts(call))
        return call if is_plain else None


def _parts(tree: _ast.AST) -> Iterator[_ast.AST]:
    for name in tree._fields:
        child = getattr(tree, name, None)
        for part in child if isinstance(child, list) else [child]:
            if isinstance(part, _ast.AST):
                yield part
                yield from _parts(part)


def _called(node: _ast.expr, caller: FrameType, code: CodeType) -> tuple[FunctionType | None, list[object]]:
    """Return the function that a call names, if it has that code, and the arguments that it is bound to.

    Raises:
        RequestRefused: a name of it cannot be read.

    """
    namespaces = Namespaces(caller)
    callee: Any
    first: list[object] = []
    if isinstance(node, _ast.Attribute):
        callee, first = _attribute(value_of(node.value, namespaces), node.attr)
    else:
        callee = value_of(node, namespaces)
    if is_a(callee, type):
        callee, first = defined(callee, "__init__"), [_NOT_ANY_MORE]
    elif type(callee) is MethodType:
        callee, first = callee.__func__, [callee.__self__]
    if type(callee) is FunctionType and callee.__code__ is code:
        return callee, first
    return None, []


def _attribute(owner: object, name: str) -> tuple[object, list[object]]:
    """Return an attribute and the object that it is bound to, as far as that is known without running any code."""
    if is_a(owner, type):
        return _bound(defined(owner, name), [], [owner])
    names = namespace(owner)
    if name in names:
        return names[name], []
    return _bound(defined(type(owner), name), [owner], [type(owner)])


def _bound(value: object, of_function: list[object], of_class: list[object]) -> tuple[object, list[object]]:
    if type(value) is staticmethod:
        return value.__func__, []
    if type(value) is classmethod:
        return value.__func__, of_class
    return value, of_function


def _argument(name: str, call: _ast.Call, caller: FrameType, function: FunctionType, first: list[object]) -> object:
    """Return the argument of a call for a parameter, `_NOT_ANY_MORE` if it is not known."""
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    keyword_names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if name not in positional + keyword_names:
        return _NOT_ANY_MORE  # a tuple or dict of all the others
    try:
        if name in positional:
            positional_arguments = _positional(call, caller, first)
            at = positional.index(name)
            for index, value in enumerate(positional_arguments):
                if index == at:
                    return value()
        return _by_name(name, call, caller, function)
    except RequestRefused:
        return _NOT_ANY_MORE


def _positional(call: _ast.Call, caller: FrameType, first: list[object]) -> Iterator[Callable[[], object]]:
    """Return functions that give the positional arguments.

    Raises:
        RequestRefused: not all that follow are known.

    """
    yield from map(_giving, first)
    for node in call.args:
        if isinstance(node, _ast.Starred):
            several = _evaluated(node.value, caller)
            if type(several) is not tuple:
                raise RequestRefused("the unpacked value may have changed")
            yield from map(_giving, several)
        else:
            yield _evaluating(node, caller)


def _evaluating(node: _ast.expr, caller: FrameType) -> Callable[[], object]:
    return lambda: _evaluated(node, caller)


def _giving(value: object) -> Callable[[], object]:
    return lambda: value


def _by_name(name: str, call: _ast.Call, caller: FrameType, function: FunctionType) -> object:
    code = function.__code__
    for keyword in call.keywords:
        if keyword.arg == name:
            return _evaluated(keyword.value, caller)
        if keyword.arg is None:
            several = _own_keywords(keyword.value, caller)
            if name in several:
                return several[name]
    only_named = function.__kwdefaults__ or {}
    if name in only_named:
        return only_named[name]
    defaults = function.__defaults__ or ()
    parameters = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    return defaults[parameters.index(name)] if name in parameters else _NOT_ANY_MORE


def _own_keywords(node: _ast.expr, caller: FrameType) -> dict[str, object]:
    """Return the dict that a call unpacks, if the calling function was given it as its `**` parameter."""
    code = caller.f_code
    if code.co_flags & _TAKES_KEYWORDS and isinstance(node, _ast.Name):
        last = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _TAKES_MORE)
        several = _evaluated(node, caller)
        if node.id == code.co_varnames[last] and type(several) is dict:
            return several
    raise RequestRefused("the unpacked value may have changed")


def _evaluated(node: _ast.expr, caller: FrameType) -> object:
    """Return the value of an expression that is sure to be unchanged.

    Raises:
        RequestRefused: it may be another by now.

    """
    match node:
        case _ast.Constant(value=value):
            return value
        case _ast.Name(id=name):
            return _own_variable(name, caller)
        case _ast.UnaryOp(op=_ast.USub(), operand=operand):
            return calculated(-1, _ast.Mult(), _evaluated(operand, caller))
        case _ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            return calculated(_evaluated(left, caller), operator, _evaluated(right, caller))
        case _ast.Tuple(elts=parts):
            return tuple(_evaluated(part, caller) for part in parts)
        case _ast.List(elts=parts):
            return [_evaluated(part, caller) for part in parts]
    raise RequestRefused("it would have to be computed again")


def _own_variable(name: str, caller: FrameType) -> object:
    code = caller.f_code
    own = is_function(code) and name in code.co_varnames and name not in code.co_cellvars
    variables = locals_of(caller) if own else {}
    if name not in variables:
        raise RequestRefused("others may have changed it")
    return variables[name]
