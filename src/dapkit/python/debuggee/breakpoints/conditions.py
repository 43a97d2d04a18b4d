"""Conditions, hit conditions and log messages, compiled into one callback per breakpoint.

A condition is tested a million times in a second, so nothing is looked up that can be
known when the breakpoint is bound to its code. Simple conditions, which most are, and hit
conditions are checked in C, where `native` can. For all others the callback is one Python
function with the condition in its body, which reads from the frame only the variables that
the condition names. Which of them are local, global or built in is settled then. Whatever
that cannot do (an unbound name, the body of a class, `locals()`) goes the careful way, as a `FrameExpression`.
"""

import _ast
import builtins
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Final

from ..expressions.in_frame import SEES_ITS_CALLER, FrameExpression
from ..interpreter import limits, native
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import ONLY_THE_FRAME, forget_locals
from ..interpreter.gc_tracking import untrack
from ..interpreter.recursion_headroom import MOST_MISSED, SKIPPED_EVENTS, handles_overflow
from ..interpreter.safe_types import HAS_LAZY_IMPORTS, LAZY_IMPORT, simple_name
from ..sources.compilation import compiled
from ..sources.files import GENERATED, is_function
from ..values.error_text import error_text
from .condition_compiler import tree_of
from .hit_conditions import hits_expression, parse_hit_condition

type LineCallback = Callable[..., object]
"""`(code, line, depth=1)`; returns DISABLE, None, or True if the program was stopped."""

_DISABLE = sys.monitoring.DISABLE


def split_log_message(text: str) -> list[tuple[bool, str]]:
    """Split a log message into (is an expression, text) parts; `{{` and `}}` are braces.

    Raises:
        RequestRefused: if a brace is not closed or a part is not an expression.

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
            tree = compiled(_field(field), "eval", _ast.PyCF_ONLY_AST, place="<log message>")
        except (SyntaxError, ValueError) as error:
            first_error = first_error or (error.msg if isinstance(error, SyntaxError) else str(error))
        else:
            joined = tree.body
            if isinstance(joined, _ast.JoinedStr) and isinstance(joined.values[-1], _ast.FormattedValue):
                return field, end + 1
        end = text.find("}", end + 1)
    raise RequestRefused(
        f"log message {text!r}: {first_error or 'the brace is never closed'} (column {start}); write {{{{ for a brace"
    )


def _field(expression: str) -> str:
    return "f'''{" + expression + "}'''"


def _hits_of(text: str) -> native.Hits:
    try:
        return parse_hit_condition(text)
    except ValueError as error:
        raise RequestRefused(str(error)) from error


class BreakpointCondition:
    """When a breakpoint acts: condition, hit condition and log message, all checked.

    Invariant: every text in it compiles.
    """

    __test__ = False  # not a test case, whatever its name says to pytest

    def __init__(self, condition: str | None, hit_condition: str | None, log_message: str | None) -> None:
        self.condition = condition.strip() if condition and condition.strip() else None
        self.expression = FrameExpression(self.condition, "condition") if self.condition else None
        self.hits = _hits_of(hit_condition) if hit_condition and hit_condition.strip() else None
        self.log: list[str | FrameExpression] | None = None
        self.log_expression = ""  # of all parts together, an f-string
        if log_message:
            parts = split_log_message(log_message)
            self.log = [FrameExpression(_field(part), "log message") if field else part for field, part in parts]
            self.log_expression = " ".join(_field(part) if field else repr(part) for field, part in parts) or "''"
        expressions = [self.expression, *(self.log or ())]
        readers = [expression.read for expression in expressions if isinstance(expression, FrameExpression)]
        bound = [expression.bound for expression in expressions if isinstance(expression, FrameExpression)]
        self.names: set[str] = set().union(*readers)
        self.bound: set[str] = set().union(*bound)
        self.next_hit = native.counter()
        untrack(self)
        """Counts a hit, and returns how many there were, this one included."""

    @property
    def is_plain(self) -> bool:
        """Whether it acts each time, by a stop."""
        return self.expression is None and self.hits is None and self.log is None

    @property
    def hits_expression(self) -> str:
        """The hit condition as a test of `_d_hits`."""
        return hits_expression(self.hits or (">", 0), "_d_hits")


class HitActions:
    """The slow part of a callback, after a quick test did not settle it.

    `hit(frame, code, line)` stops the program and returns True; `log(text, line)` delivers a
    message; `failed(frame, error)` reports a condition that raised, which counts as false.
    """

    def __init__(
        self,
        hit: Callable[[FrameType, CodeType, int], object],
        log: Callable[[str, int], None],
        failed: Callable[[FrameType, BaseException], None],
    ) -> None:
        self.hit = hit
        self.log = log
        self.failed = failed
        untrack(self)


class HostCode:
    """A code object that receives breakpoints, and the meaning of its names.

    Attributes:
        namespace: the globals that it runs with; if not given, the name of a built-in means that.
        of_template: whether a template was compiled to it, which has other variables than the template.

    """

    __slots__ = ("code", "namespace", "of_template")

    def __init__(self, code: CodeType, namespace: dict[str, object], *, of_template: bool = False) -> None:
        self.code = code
        self.namespace = namespace
        self.of_template = of_template
        untrack(self)


def callback_for(
    test: BreakpointCondition, host: HostCode, line: int, actions: HitActions, *, at_once: bool = True
) -> LineCallback:
    """Make the LINE callback of one breakpoint, for the lines of one code object.

    Lines of other code objects are not to be given to it. A callback that is not made `at_once` is made at its first
    call.
    """
    if test.is_plain:
        return _plain(line, actions.hit)
    if not at_once:
        return _when_called(lambda: callback_for(test, host, line, actions))
    code = host.code

    def careful(frame: FrameType) -> object:
        return _act(test, frame, code, line, actions)

    def say(frame: FrameType, _code: CodeType, _line: int) -> None:
        actions.log(_log_text(test, frame), line)

    can_check = native.CAN_CHECK and not host.of_template
    tree = tree_of(test.expression.tree, code) if test.expression is not None and can_check else None
    in_c: LineCallback | None = None
    if test.expression is None or tree is not None:
        in_c = native.line_check(
            code,
            line,
            condition=tree,
            hits=test.hits,
            count=test.next_hit,
            hit=actions.hit if test.log is None else say,
            careful=careful,
        )
    return in_c or _written(test, host, line, actions, careful)


def _plain(hit_count: int, hit: Callable[[FrameType, CodeType, int], object]) -> LineCallback:
    """Make the callback of a breakpoint without any condition; there may be a hundred thousand of them."""

    def callback(code: CodeType, line: int, depth: int = 1) -> object:
        return hit(sys._getframe(depth), code, line) if line == hit_count else _DISABLE

    return callback


def _when_called(make: Callable[[], LineCallback]) -> LineCallback:
    """Make a callback that takes long to make when it is first called: of very many, few ever are."""
    callback_made: LineCallback | None = None

    def callback(code: CodeType, line: int, depth: int = 1) -> object:
        nonlocal callback_made
        if callback_made is None:
            callback_made = make()
        return callback_made(code, line, depth + 1)

    return callback


def _written(
    test: BreakpointCondition,
    host: HostCode,
    line: int,
    actions: HitActions,
    careful: Callable[[FrameType], object],
) -> LineCallback:
    """Write the callback in Python, and compile it."""
    code = host.code
    function = is_function(code)
    variables = frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars) if function else ())
    ours: dict[str, object] = {
        "__builtins__": vars(builtins),
        "_d_disable": sys.monitoring.DISABLE,
        "_d_getframe": sys._getframe,
        "_d_lazy": LAZY_IMPORT,
        "_d_type": type,
        "_d_local": native.local_variable,
        "_d_forget_locals": forget_locals,
        "_d_references": sys.getrefcount,
        "_d_variables": variables,
        "_d_careful": careful,
        "_d_careful_text": lambda frame: _log_text(test, frame),
        "_d_hit": actions.hit,
        "_d_log": actions.log,
        "_d_count": test.next_hit,
        "_d_missed": SKIPPED_EVENTS,
    }
    is_class = not function and code.co_name != "<module>"
    if host.of_template or (test.names and is_class) or test.names & (SEES_ITS_CALLER - variables):
        source = _function(line, [" return _d_careful(_d_getframe(_d_depth))"])
    else:
        elsewhere = test.names - variables - test.bound
        wide = {name for name in elsewhere if name in host.namespace or name not in vars(builtins)}
        source = _source(test, line, local=sorted(test.names & variables), wide=sorted(wide))
    module = compiled(source, place=GENERATED)
    body = next(const for const in module.co_consts if isinstance(const, CodeType))
    return handles_overflow(FunctionType(body, ours, "callback", (1,)))


_FORGET: Final = (
    f"  if _d_references(_d_locals) <= {ONLY_THE_FRAME} and _d_locals.keys() <= _d_variables: _d_locals.clear()",
    "  else: _d_locals = None; _d_forget_locals(_d_frame)",
    "  _d_locals = None",
)
"""Does the work of `forget_locals`, at a tenth of its cost if the dict holds variables alone."""


def _function(line: int, body: list[str]) -> str:
    """Return the source of a callback around indented lines; see `recursion_headroom.handles_overflow`."""
    return "\n".join(
        (
            "def callback(_d_code, _d_line, _d_depth):",
            f" if _d_line != {line}: return _d_disable",
            " try:",
            *(f" {statement}" for statement in body),
            " except RecursionError:",
            f"  if _d_missed.__len__() < {MOST_MISSED}: _d_missed.append((_d_code, _d_line))",
            "",
        )
    )


def _source(test: BreakpointCondition, line: int, *, local: list[str], wide: list[str]) -> str:
    """Write the callback as text. Names that begin with `_d_` are ours, all others the program's.

    `local` and `wide` are the local and global variables to read before the condition.
    """
    lines: list[str] = []
    if local or wide:
        lines += [" _d_frame = _d_getframe(_d_depth)", " try:"]
        if native.local_variable is not None:
            lines += [f"  {name} = _d_local(_d_frame, {name!r})" for name in local]
        elif local:
            lines += ["  _d_locals = _d_frame.f_locals", *(f"  {name} = _d_locals[{name!r}]" for name in local)]
            lines += _FORGET if sys.version_info < (3, 13) else ()
        lines += [f"  {name} = _d_frame.f_globals[{name!r}]" for name in wide]
        if wide and HAS_LAZY_IMPORTS:  # the expression itself loads them, where it names them
            are_lazy = " or ".join(f"_d_type({name}) is _d_lazy" for name in wide)
            lines.append(f"  if {are_lazy}: return _d_careful(_d_frame)")
        lines += [" except (KeyError, NameError):", "  _d_locals = None", "  return _d_careful(_d_frame)"]
    if test.condition:
        lines += [
            " try:",
            f"  if not (\n{test.condition}\n  ): return None",
            " except KeyboardInterrupt: raise",
            " except BaseException: return _d_careful(_d_getframe(_d_depth))",
        ]
    if test.hits:
        lines += [" _d_hits = _d_count()", f" if not ({test.hits_expression}): return None"]
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
    return _function(line, lines)


def _act(test: BreakpointCondition, frame: FrameType, code: CodeType, line: int, actions: HitActions) -> object:
    """Do the callback's work, by expressions in the frame, and report errors."""
    if test.expression is not None:
        try:
            if not test.expression.value(frame):
                return None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            actions.failed(frame, error)
            return None
    if test.hits and not eval(test.hits_expression, {"_d_hits": test.next_hit()}):
        return None
    if test.log is None:
        return actions.hit(frame, code, line)
    actions.log(_log_text(test, frame), line)
    return None


def _log_text(test: BreakpointCondition, frame: FrameType) -> str:
    """Format a log message part by part; a part that raises is replaced by its error."""
    text = ""
    for part in test.log or ():
        if isinstance(part, str):
            text += part
            continue
        try:
            text += str(part.value(frame))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            text += f"<{simple_name(type(error))}: {error_text(error)[: limits.MESSAGE_CHARS]}>"
    return text
