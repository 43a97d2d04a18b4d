"""Where the value came from that a line has put in its place: from another value, from a call, or from nowhere before.

It is found at the moment before the value was there: the process is at the last line that was begun by then. That is
the line itself or, where it called a function of the program, the line that left that function.

    total = self.price             follow self.price in this call
    total = price_of(item)         follow the expression that price_of returns, in its call
    def price_of(item): ...        follow the argument of the call, for a parameter
    total = price * count          computed there
"""

import _ast
import sys
from types import CodeType, FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

from ..bytecode.texts import ProgramText
from ..connection.framing import Json
from ..interpreter.frame_locals import stored_locals
from ..interpreter.safe_types import defined, stored_dict
from ..interpreter.thread_frames import stack_of
from ..values.text import render
from .assignments import (
    PLACES,
    Node,
    Part,
    bindings,
    expression_text,
    inputs_of,
    is_target,
    nodes_of,
    statements_at,
)
from .replay_backend import backend
from .value_marks import PLAIN
from .value_names import place_of_value
from .value_steps import KEYS, Step, steps_of

if TYPE_CHECKING:
    from ..engine.engine import Engine

_CHARS: Final = 100
_MOST_INPUTS: Final = 5


class ValueOrigin:
    """The origin of the value that a line has bound.

    Args:
        engine: of this process.
        frame: the newest one of the stopped thread.

    """

    def __init__(self, engine: "Engine", frame: FrameType) -> None:
        self._engine = engine
        self._stack = stack_of(frame)
        self._returns: list[Json] = []

    def find(self, change: Json, expression: str, place: Json) -> Json:
        """Describe it.

        Args:
            change: the line: its `path`, `function` and `line`.
            expression: the changed value.
            place: the response of `dapkit/placeOfExpression` about it.

        Returns:
            `text` of the line; `follow`, an expression to follow, with its `place`; or `ends`, the reason why there is
            no such expression, and `inputs`, the values in it. `returns` are the lines that have passed the value on in
            between.

        """
        frame = next((frame for frame in self._stack if _is_at(frame, change)), None)
        text = None if frame is None else self._text_of(frame)
        if frame is None or text is None:
            return {"ends": "its source is not known"}
        origin = self._of_line(frame, text, steps_of(expression), place, is_new=change.get("old") is None)
        return {"text": text.line(frame.f_lineno).strip()[:_CHARS], "returns": self._returns, **origin}

    def _text_of(self, frame: FrameType) -> ProgramText | None:
        return self._engine.texts.of_code(frame.f_code)

    def _of_line(self, frame: FrameType, text: ProgramText, steps: list[Step], place: Json, *, is_new: bool) -> Json:
        statements = statements_at(text, frame.f_lineno)
        described: dict[str, Any] = place
        call: Json = described["call"] if place.get("cell") else place
        if "frame" in call and not _has_variable(frame, steps[0][1], call["frame"]):
            return self._passed(frame, text, statements, steps[0][1], call)
        matches = [
            (statement, value)
            for statement in statements
            for target, value in bindings(statement)
            if is_target(target, steps)
        ]
        if len({id(value) for _, value in matches}) == 1:
            return self._of_binding(frame, text, *matches[0])
        return {"ends": "it was changed"} if matches else self._of_whole(frame, text, statements, is_new=is_new)

    def _of_whole(self, frame: FrameType, text: ProgramText, statements: list[Node], *, is_new: bool) -> Json:
        """Return the origin of a value that changed inside, or that came with the value that a line has bound."""
        pairs = [(statement, *pair) for statement in statements for pair in bindings(statement)]
        if len(pairs) == 1:
            [(statement, target, value)] = pairs
            origin = self._of_binding(frame, text, statement, value)
            if isinstance(target, _ast.Attribute | _ast.Subscript):
                return origin
            if is_new:
                name = target.id if isinstance(target, _ast.Name) else expression_text(text, target)
                whole = str(origin.get("ends", "")).replace("it ", "; that ", 1)
                return {"ends": f"it came with {name}{whole}", "inputs": origin.get("inputs", [])}
        calls = [node.value for node in statements if isinstance(node, _ast.Expr) and isinstance(node.value, _ast.Call)]
        inputs = self._computed(frame, text, calls[0].args) if len(calls) == 1 else {}
        return {**inputs, "ends": "it was changed"}

    def _of_binding(self, frame: FrameType, text: ProgramText, statement: Node, value: Node) -> Json:
        match statement:
            case _ast.AugAssign():
                return self._computed(frame, text, [statement.target, value])
            case _ast.For() | _ast.AsyncFor():
                return {"ends": f"it is an item of {expression_text(text, value)}"}
            case _ast.With() | _ast.AsyncWith():
                return {"ends": f"it was entered by {expression_text(text, value)}"}
        return {"ends": "it was defined"} if value is None else self._of_value(frame, text, value)

    def _of_value(self, frame: FrameType, text: ProgramText, node: Node) -> Json:
        match node:
            case Part():
                return {"ends": f"it is a part of {expression_text(text, node.whole)}"}
            case _ast.Constant():
                return {"ends": "it is written out"}
            case _ast.NamedExpr() | _ast.Await():
                return self._of_value(frame, text, node.value)
            case _ast.Call():
                return self._of_call(frame, text, node)
        expression = expression_text(text, node)
        if isinstance(node, PLACES) and not any(kind == "computed" for kind, _ in steps_of(expression)):
            return _followed(frame, expression)
        return self._computed(frame, text, [node])

    def _of_call(self, frame: FrameType, text: ProgramText, node: Node) -> Json:
        at = self._stack.index(frame)
        callee = self._stack[at - 1] if at else None
        function, _ = _read(frame, node.func)
        if callee is None or callee.f_code is not _code_of(function):
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            return {
                **self._computed(frame, text, arguments),
                "ends": f"it is the result of {expression_text(text, node)}",
            }
        if callee.f_code.co_name == "__init__":
            return {"ends": f"it was made by {expression_text(text, node)}"}
        inner = self._text_of(callee)
        statements = [] if inner is None else statements_at(inner, callee.f_lineno)
        returns = [statement for statement in statements if isinstance(statement, _ast.Return)]
        if inner is None or len(returns) != 1:  # a block may have been left after `return`
            return {"ends": f"it is the result of {expression_text(text, node)}"}
        [statement] = returns
        self._returns.append(
            {
                "clock": backend.clock() if at == 1 else None,
                "path": callee.f_code.co_filename,
                "function": callee.f_code.co_qualname,
                "line": callee.f_lineno,
                "text": inner.line(callee.f_lineno).strip()[:_CHARS],
            }
        )
        return (
            {"ends": "it is written out"} if statement.value is None else self._of_value(callee, inner, statement.value)
        )

    def _passed(self, frame: FrameType, text: ProgramText, statements: list[Node], name: str, place: Json) -> Json:
        """Return the origin of a parameter: the argument of the one call that the line has for its function."""
        calls = []
        for node in {id(node): node for statement in statements for node in nodes_of(statement)}.values():
            function, is_bound = _read(frame, node.func) if isinstance(node, _ast.Call) else (None, False)
            code = _code_of(function)
            if code is not None and (code.co_filename, code.co_firstlineno) == (place["path"], place["line"]):
                calls.append((node, code, is_bound or isinstance(function, type)))
        if len(calls) != 1 or name not in calls[0][1].co_varnames:
            return {"ends": "it was passed on by a call"}
        [(node, code, is_bound)] = calls
        argument = _argument(node, code, name, is_bound=is_bound)
        if argument is not None:
            return self._of_value(frame, text, argument)
        if is_bound and name == code.co_varnames[0]:
            return {"ends": f"it was made by {expression_text(text, node)}"}
        return {"ends": f"it is a default, or one of several arguments, of {expression_text(text, node)}"}

    def _computed(self, frame: FrameType, text: ProgramText, nodes: list[Node]) -> Json:
        places = {expression_text(text, node): node for root in nodes for node in inputs_of(root)}
        values = {name: _read(frame, node)[0] for name, node in places.items()}
        inputs = [
            {"expression": name, "value": render(value, None, _CHARS)}
            for name, value in values.items()
            if value is not _UNKNOWN
        ]
        return {"ends": "it was computed", "inputs": inputs[:_MOST_INPUTS]}


_UNKNOWN: Final = object()


def _followed(frame: FrameType, expression: str) -> Json:
    (_, name), *_ = steps_of(expression)
    if name in vars(sys.modules["builtins"]) and name not in frame.f_globals and name not in stored_locals(frame):
        return {"ends": "it is built in"}
    place = place_of_value(frame, compile(expression, "<dapkit: why>", "eval", dont_inherit=True), expression)
    return {"follow": expression, "place": place}


def _has_variable(frame: FrameType, name: str, identity: object) -> bool:
    """Return whether a variable of a call is one of a frame: the call itself, or a function within it."""
    return backend.identity(frame) == identity or name in (*frame.f_code.co_freevars, *frame.f_code.co_cellvars)


def _read(frame: FrameType, node: Node) -> tuple[Any, bool]:
    """Return the value of a variable, attribute or item, and whether it is a method of the object before it.

    No code of the program runs for that: a property is not known.
    """
    match node:
        case _ast.Name(id=name):
            for names in (stored_locals(frame), frame.f_globals, vars(sys.modules["builtins"])):
                if name in names:
                    return names[name], False
        case _ast.Attribute(attr=name):
            owner, _ = _read(frame, node.value)
            return (_UNKNOWN, False) if owner is _UNKNOWN else _attribute(owner, name)
        case _ast.Subscript():
            owner, _ = _read(frame, node.value)
            key = node.slice.value if isinstance(node.slice, _ast.Constant) else _read(frame, node.slice)[0]
            is_known = type(owner) in (dict, list, tuple) and type(key) in KEYS
            if is_known and (
                key in owner if type(owner) is dict else type(key) is int and -len(owner) <= key < len(owner)
            ):
                return owner[key], False
    return _UNKNOWN, False


def _attribute(owner: Any, name: str) -> tuple[Any, bool]:  # noqa: ANN401 - any value
    names = stored_dict(owner) if not isinstance(owner, type) else None
    if type(names) is dict and name in names:
        return names[name], False
    definition = defined(owner if isinstance(owner, type) else type(owner), name)
    if isinstance(definition, classmethod | staticmethod):
        return definition.__func__, isinstance(definition, classmethod)
    is_plain = isinstance(definition, (FunctionType, *PLAIN))
    return (
        (definition, isinstance(definition, FunctionType) and not isinstance(owner, type))
        if is_plain
        else (_UNKNOWN, False)
    )


def _is_at(frame: FrameType, change: Json) -> bool:
    code = frame.f_code
    return (code.co_filename, code.co_qualname, frame.f_lineno) == (change["path"], change["function"], change["line"])


def _code_of(function: Any) -> CodeType | None:  # noqa: ANN401 - any value
    """Return the code that a call of a value executes, if that is a function, a method or a class of the program."""
    if isinstance(function, MethodType):
        function = function.__func__
    if isinstance(function, type):
        function = defined(function, "__init__")
    return function.__code__ if isinstance(function, FunctionType) else None


def _argument(call: Node, code: CodeType, name: str, *, is_bound: bool) -> Node | None:
    """Return the expression that a call gives to a parameter, None if it is not written out."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if name not in code.co_varnames[: code.co_argcount]:
        return None
    at = code.co_varnames.index(name) - is_bound
    if at < 0:
        return call.func.value if isinstance(call.func, _ast.Attribute) else None
    nodes = call.args[: at + 1]
    return nodes[at] if len(nodes) == at + 1 and not any(isinstance(part, _ast.Starred) for part in nodes) else None
