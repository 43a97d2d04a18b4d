"""Conditions, hit conditions and log messages, compiled into one callback per breakpoint.

A condition is tested a million times in a second, so nothing is looked up that can be
known when the breakpoint meets its code: the callback is one Python function with the
condition in its body and the module's own namespace as its globals. Local variables
are read from the frame by name, only those that the condition names. Whatever
that cannot do (an unbound name, the body of a class) goes the careful way, through `eval`.
"""

import _ast
import itertools
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType

from . import limits
from .errors import RequestRefused
from .sources import GENERATED, is_function

type LineCallback = Callable[..., object]
"""`(code, line, depth=1)`; returns DISABLE, None, or True if the program was stopped."""

_DISABLE = sys.monitoring.DISABLE
_COMPARISONS = (">=", "<=", "==", "!=", ">", "<", "%")


def parse_hit_condition(text: str) -> str:
    """Turn `5`, `== 5`, `>= 5`, `> 5`, `<= 5`, `< 5`, `!= 5` or `% 3` into a test of `_d_hits`.

    A bare number is the one hit to stop at; `% 3` is every third.

    Raises:
        RequestRefused: if the text is none of these.

    """
    given = text.strip()
    operator = next((sign for sign in _COMPARISONS if given.startswith(sign)), "")
    number = given[len(operator) :].strip()
    if not number.isascii() or not number.isdigit() or (operator == "%" and int(number) == 0):
        raise RequestRefused(f"hit condition {text!r}: expected a number, as in 5, == 5, >= 5, > 5, < 5 or % 3")
    if operator == "%":
        return f"_d_hits % {int(number)} == 0"
    return f"_d_hits {operator or '=='} {int(number)}"


def parse_expression(text: str, what: str) -> _ast.expr:
    """Read one expression.

    Raises:
        RequestRefused: with the error and its place, if it is none.

    """
    try:
        compile(text.strip(), "<" + what + ">", "eval", dont_inherit=True)
        tree = compile("(" + text.strip() + "\n)", "<" + what + ">", "eval", _ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        where = f"line {error.lineno}, column {error.offset}" if error.lineno != 1 else f"column {error.offset}"
        raise RequestRefused(f"{what} {text!r}: {error.msg} ({where})") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise RequestRefused(f"{what} {text[:80]!r}: {error}") from error
    return tree.body  # type: ignore[attr-defined, no-any-return]  # "eval" gives an Expression


def split_log_message(text: str) -> list[tuple[bool, str]]:
    """Split a log message into (is an expression, text) parts; `{{` and `}}` are braces.

    Raises:
        RequestRefused: if a brace is not closed or a part is no expression.

    """
    parts: list[tuple[bool, str]] = []
    plain = ""
    at = 0
    while at < len(text):
        mark = text[at]
        if mark in "{}" and text[at : at + 2] == mark * 2:
            plain += mark
            at += 2
        elif mark == "{":
            expression, at = _expression_at(text, at + 1)
            if plain:
                parts.append((False, plain))
                plain = ""
            parts.append((True, expression))
        else:
            plain += mark
            at += 1
    if plain:
        parts.append((False, plain))
    return parts


def _expression_at(text: str, start: int) -> tuple[str, int]:
    """Find the end of the expression: the first brace that makes it a valid replacement field."""
    end = text.find("}", start)
    first_error = ""
    while end >= 0:
        field = text[start:end]
        try:
            tree = compile(_field(field), "<log message>", "eval", _ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            first_error = first_error or (error.msg if isinstance(error, SyntaxError) else str(error))
        else:
            joined = tree.body  # type: ignore[attr-defined]  # as above
            if isinstance(joined, _ast.JoinedStr) and isinstance(joined.values[-1], _ast.FormattedValue):
                return field, end + 1
        end = text.find("}", end + 1)
    raise RequestRefused(
        f"log message {text!r}: {first_error or 'the brace is never closed'} (column {start}); write {{{{ for a brace"
    )


def _field(expression: str) -> str:
    return "f'''{" + expression + "}'''"


def names_in(tree: _ast.AST) -> set[str]:
    """Return every variable name that an expression mentions."""
    names: set[str] = set()
    todo: list[object] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, _ast.AST):
            if isinstance(node, _ast.Name):
                names.add(node.id)
            todo.extend(getattr(node, field, None) for field in node._fields)
    return names


class Test:
    """When a breakpoint acts: condition, hit condition and log message, all checked.

    Invariant: every text in it compiles.
    """

    __test__ = False  # not a test case, whatever its name says to pytest

    def __init__(self, condition: str | None, hit_condition: str | None, log_message: str | None) -> None:
        self.condition = condition.strip() if condition and condition.strip() else None
        self.hits = parse_hit_condition(hit_condition) if hit_condition and hit_condition.strip() else None
        self.log = split_log_message(log_message) if log_message else None
        self.names: set[str] = set()
        self.log_expression = ""  # of all parts together, an f-string
        if self.condition:
            self.names |= names_in(parse_expression(self.condition, "condition"))
        if self.log is not None:
            self.log_expression = " ".join(_field(part) if field else repr(part) for field, part in self.log) or "''"
            self.names |= names_in(parse_expression(self.log_expression, "log message"))
        self._count = itertools.count(1).__next__

    def next_hit(self) -> int:
        """Count a hit, and return how many there were, this one included."""
        return self._count()


class Actions:
    """What a callback does when it is not done after a quick look.

    `hit(frame, code, line)` stops the program and returns True; `log(text, line)` delivers a
    message; `failed(frame, code, line, error)` tells of a condition that raised.
    """

    def __init__(
        self,
        hit: Callable[[FrameType, CodeType, int], object],
        log: Callable[[str, int], None],
        failed: Callable[[FrameType, CodeType, int, BaseException], object],
    ) -> None:
        self.hit = hit
        self.log = log
        self.failed = failed


def callback_for(
    test: Test, code: CodeType, line: int, *, namespace: dict[str, object], actions: Actions
) -> LineCallback:
    """Make the LINE callback of one breakpoint in one code object.

    `namespace` are the globals that the code runs with.
    """

    def careful(frame: FrameType) -> object:
        return _act(test, frame, code, line, actions)

    function = is_function(code)
    variables = {*code.co_varnames, *code.co_cellvars, *code.co_freevars} if function else set()
    local = sorted(test.names & variables)
    if test.names and not function and code.co_name != "<module>":
        source = f"{_HEAD}\n return _d_careful(_d_getframe(_d_depth))\n"  # a class body's names are not fixed
    else:
        source = _source(test, local, guarded=bool(test.names - variables))
    module = compile(source, GENERATED, "exec", dont_inherit=True)
    body = next(const for const in module.co_consts if isinstance(const, CodeType))
    defaults = (
        1,  # depth of the frame that the event is about, seen from the callback
        code,
        line,
        sys.monitoring.DISABLE,
        sys._getframe,
        namespace,
        careful,
        lambda frame: _log_text(test, frame),
        actions.hit,
        actions.log,
        test.next_hit,
    )
    return FunctionType(body, namespace, "callback", defaults)


_HEAD = """\
def callback(_d_code, _d_line, _d_depth=0, _d_own=0, _d_at=0, _d_disable=0, _d_getframe=0, _d_namespace=0,
             _d_careful=0, _d_careful_text=0, _d_hit=0, _d_log=0, _d_count=0):
 if _d_line != _d_at or _d_code is not _d_own: return _d_disable"""


def _source(test: Test, local: list[str], *, guarded: bool) -> str:
    """Write the callback as text. Names that begin with `_d_` are ours, all others the program's."""
    lines = [_HEAD]
    if guarded:
        # One code object may run with several namespaces; this function knows one.
        lines += [
            " if _d_getframe(_d_depth).f_globals is not _d_namespace:",
            "  return _d_careful(_d_getframe(_d_depth))",
        ]
    if local:
        lines += [" try:", "  _d_locals = _d_getframe(_d_depth).f_locals"]
        lines += [f"  {name} = _d_locals[{name!r}]" for name in local]
        lines += [" except KeyError: return _d_careful(_d_getframe(_d_depth))"]
    if test.condition:
        lines += [
            " try:",
            f"  if not (\n{test.condition}\n  ): return None",
            " except KeyboardInterrupt: raise",
            " except BaseException: return _d_careful(_d_getframe(_d_depth))",
        ]
    if test.hits:
        lines += [" _d_hits = _d_count()", f" if not ({test.hits}): return None"]
    if test.log is None:
        lines.append(" return _d_hit(_d_getframe(_d_depth), _d_code, _d_line)")
    else:
        lines += [
            " try:",
            f"  _d_text = (\n{test.log_expression}\n  )",
            " except KeyboardInterrupt: raise",
            " except BaseException: _d_text = _d_careful_text(_d_getframe(_d_depth))",
            " _d_log(_d_text, _d_line)",
            " return None",
        ]
    return "\n".join(lines) + "\n"


def _act(test: Test, frame: FrameType, code: CodeType, line: int, actions: Actions) -> object:
    """Do what the callback does, by `eval` in the frame, and tell of errors."""
    if test.condition:
        try:
            if not eval(test.condition, frame.f_globals, frame.f_locals):
                return None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return actions.failed(frame, code, line, error)
    if test.hits and not eval(test.hits, {"_d_hits": test.next_hit()}):
        return None
    if test.log is None:
        return actions.hit(frame, code, line)
    actions.log(_log_text(test, frame), line)
    return None


def _log_text(test: Test, frame: FrameType) -> str:
    """Format a log message part by part; a part that raises is replaced by its error."""
    text = ""
    for field, part in test.log or ():
        if not field:
            text += part
            continue
        try:
            text += eval(_field(part), frame.f_globals, frame.f_locals)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            text += f"<{type(error).__name__}: {str(error)[: limits.MESSAGE_CHARS]}>"
    return text
