"""Templates of Jinja2: functions in Python that it generates, and the table of their lines that it keeps beside them.

The namespace of a compiled template holds its functions, `debug_info` (`2=13&5=17`: line 2 begins at line 13 of the
code) and, once it may be rendered, `__jinja_template__`. A variable x of the template is l_0_x in the code, l_1_x
within a loop or a macro, or a value of the context; `missing` marks a variable without a value. An exception that
leaves a template is raised again, with a traceback whose frames stand in the templates.
"""

import builtins
from _bisect import bisect_right
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from ..bytecode.instructions import constant, instructions
from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import stored_locals
from ..interpreter.frame_views import FrameView
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import entry_of, namespace, plain_text
from ..sources.compilation import with_nested
from ..sources.files import first_line, lines_of_code
from ..values.storage import store_local

# Lines of a template, in code that was generated from it.
#
# The generator names its own lines at which the template's lines begin. Such a line is a *place*: there a step may
# end, and a breakpoint be hit. Where a function begins is a place as well, for the line of the template that defines
# it.

_HELPER: Final = "t_"
"""First words of the names of functions that implement filters, and of generators that filter the values of a loop."""


class LineTable:
    """Which line of the template each line of the code is from."""

    def __init__(self, pairs: list[tuple[int, int]]) -> None:
        """Take pairs of a template's line and the code's line where it begins, in the order of the latter."""
        self._begins = [line for _, line in pairs]
        self._lines = [line for line, _ in pairs]
        untrack(self._begins)
        untrack(self._lines)
        untrack(self)

    def line(self, generated: int) -> int:
        """Return the line of the template for one of the code."""
        at = bisect_right(self._begins, generated)
        return self._lines[at - 1] if at else 1

    def is_place(self, code: CodeType, generated: int) -> bool:
        """Return whether a line of the template begins at a line of the code, or a function does that renders one."""
        at = bisect_right(self._begins, generated)
        return (at > 0 and self._begins[at - 1] == generated) or (renders(code) and generated == first_line(code))

    def places(self, codes: list[CodeType]) -> dict[int, list[tuple[CodeType, int]]]:
        """Return the places of each line of a template, in the functions that it was compiled to.

        A line at which something runs is meant where it runs, else where the function begins that it defines.
        """
        definitions = {code.co_firstlineno for code in codes if renders(code)}
        by_line: dict[int, list[tuple[CodeType, int]]] = {}
        for code in codes:
            for generated in sorted(lines_of_code(code) & set(self._begins) - definitions):
                by_line.setdefault(self.line(generated), []).append((code, generated))
        running = frozenset(by_line)
        for code in codes:
            begin = first_line(code)
            if renders(code) and self.line(begin) not in running:
                by_line.setdefault(self.line(begin), []).append((code, begin))
        return by_line


def renders(code: CodeType) -> bool:
    """Return whether a function renders a piece of the template."""
    return not code.co_name.startswith((_HELPER, "<"))


IN_MEMORY: Final = "<template>"
"""File name of templates without a file."""

_TEMPLATE: Final = "__jinja_template__"
_TABLE: Final = "debug_info"
_OF_MODULE: Final = frozenset(("name", "root", "blocks", _TABLE))
_FOR_TRACEBACK: Final = "__jinja_exception__"
_SYNTAX_ERROR: Final = "TemplateSyntaxError"
_RAISES_AGAIN: Final = ("Environment.handle_exception", "/jinja2/environment.py")
_COMPILERS: Final = 6
"""Frames of the library around the code of a template that is just made, among which one holds its text."""
_KEPT_TABLES: Final = 200

_tables: dict[str, LineTable] = untrack({})


class CompiledTemplate:
    """The code of one template: its functions, and where its lines are in them."""

    def __init__(self, table: LineTable, codes: list[CodeType]) -> None:
        self.codes = codes
        self._places = table.places(codes)
        untrack(self._places)
        untrack(self)

    @property
    def lines(self) -> list[int]:
        """The lines of the template at which something runs."""
        return sorted(self._places)

    def lines_in(self, code: CodeType) -> dict[int, list[int]]:
        """Return those in one of the functions, and at which of its lines each is."""
        lines: dict[int, list[int]] = {}
        for line, places in self._places.items():
            for part, generated in places:
                if part is code:
                    lines.setdefault(line, []).append(generated)
        return lines


class JinjaFrame(FrameView):
    """A frame of a function that Jinja2 has generated."""

    def __init__(self, frame: FrameType, table: LineTable, generated: int) -> None:
        code = frame.f_code
        super().__init__(frame, code.co_filename, table.line(generated))
        self.is_machinery = code.co_name == "<module>"
        self.is_place = not self.is_machinery and table.is_place(code, generated)
        untrack(self)

    @property
    def title(self) -> str:
        """The name of the block or macro."""
        name = self.frame.f_code.co_name
        if name.startswith("block_"):
            return f"block {name.removeprefix('block_')}"
        caller = self.frame.f_back
        if name == "macro" and caller is not None:
            called = plain_text(namespace(stored_locals(caller).get("self")).get("name"))
            return f"macro {called}" if called else name
        return "template" if name in ("root", "<module>") else name

    def names(self) -> dict[str, object]:
        """Return the variables of the context, and the variables of the code."""
        context = self._context()
        shared = self._global_keys(context)
        parents = {name: value for name, value in self._in_context(context, "parent").items() if name not in shared}
        own = {name: value for name, (_, value) in self._own().items()}
        return parents | self._in_context(context, "vars") | own

    def global_names(self) -> dict[str, object]:
        """Return the variables of the environment."""
        context = self._context()
        parent = self._in_context(context, "parent")
        values = {name: parent[name] for name in self._global_keys(context) if name in parent}
        return {"__builtins__": vars(builtins), **values}

    def write(self, name: str, value: object) -> None:
        """Give a variable a new value: where the code has it, else in the context."""
        own = self._own().get(name)
        context = self._context()
        holders = [self._in_context(context, part) for part in ("vars", "parent")]
        holder = next((names for names in holders if name in names), None)
        if own is not None:
            store_local(self.frame, own[0], value)
        elif holder is not None:
            holder[name] = value
        else:
            raise RequestRefused(f"{name} is not a variable of the template; only {{% set %}} in its text makes one")

    def _own(self) -> dict[str, tuple[str, object]]:
        """Return the variables that the code has by themselves: their names there, and their values."""
        missing = entry_of(self.frame.f_globals, "missing")
        by_name: dict[str, tuple[int, str, object]] = {}
        for raw, value in stored_locals(self.frame).items():
            kind, _, rest = raw.partition("_")
            level, _, name = rest.partition("_")
            if kind != "l" or not level.isdigit() or value is missing:
                continue
            if name not in by_name or by_name[name][0] < int(level):
                by_name[name] = int(level), raw, value
        return {name: (raw, value) for name, (_, raw, value) in by_name.items()}

    def _context(self) -> object:
        """Return the context that the frame, or the nearest of the same template around it, was given."""
        frame: FrameType | None = self.frame
        while frame is not None:
            if frame.f_globals is self.frame.f_globals:
                context = stored_locals(frame).get("context")
                if context is not None:
                    return context
            frame = frame.f_back
        return None

    @staticmethod
    def _in_context(context: object, part: str) -> dict[str, Any]:
        names = namespace(context).get(part)
        return names if type(names) is dict else {}

    @staticmethod
    def _global_keys(context: object) -> set[str]:
        keys = namespace(context).get("globals_keys")
        return keys if type(keys) is set else set()


def frame_of(frame: FrameType, line: int) -> FrameView | None:
    """Return the view of a frame, at a line of its code, if it belongs to a compiled template."""
    names, code = frame.f_globals, frame.f_code
    if dict.get(names, "__file__") != code.co_filename or "__spec__" in names:
        return None
    if _TEMPLATE not in names and not _is_module(code):
        return None
    table = _table_of(code, names)
    return None if table is None else JinjaFrame(frame, table, line)


def compiled_template(code: CodeType, names: dict[str, object]) -> CompiledTemplate | None:
    """Return the template that some code is of, which runs with these globals, None if it is of none."""
    if "__spec__" in names or not (_is_module(code) or _TEMPLATE in names):
        return None
    table = _table_of(code, names)
    if table is None:
        return None
    if code.co_name == "<module>":
        return CompiledTemplate(table, [part for part in with_nested(code) if part is not code])
    blocks: Any = names.get("blocks")
    functions = [names.get("root"), *(blocks.values() if type(blocks) is dict else ())]
    outer = [function.__code__ for function in functions if type(function) is FunctionType]
    codes = {id(part): part for function in outer for part in with_nested(function)}
    return CompiledTemplate(table, list(codes.values()))


def text_in_memory(frame: FrameType) -> tuple[str, str] | None:
    """Return the name and the text of a template whose code a frame begins to run, if that has no file.

    The text is a variable of the function that has it compiled.
    """
    code = frame.f_code
    if code.co_filename != IN_MEMORY or not _is_module(code):
        return None
    caller = frame.f_back
    for _ in range(_COMPILERS):
        if caller is None:
            return None
        text = stored_locals(caller).get("source")
        if type(text) is str:
            return _constant_of(code, "name") or IN_MEMORY, text
        caller = caller.f_back
    return None


def stands_in(frame: FrameType) -> bool:
    """Return whether a frame only makes an entry of a traceback: for that it raises the same exception again.

    The entry for an error of syntax is the one place that the error has in the template, so it counts as a raise.
    """
    if _FOR_TRACEBACK not in frame.f_globals:
        return False
    exception, code = dict.get(frame.f_globals, _FOR_TRACEBACK), frame.f_code
    if type(exception).__name__ != _SYNTAX_ERROR:
        return True
    fields = namespace(exception)
    return (fields.get("filename"), fields.get("lineno")) != (code.co_filename, frame.f_lineno)


def raises_again(frame: FrameType) -> bool:
    """Return whether a frame raises an exception once more that has left a template."""
    name, file = _RAISES_AGAIN
    return frame.f_code.co_qualname == name and frame.f_code.co_filename.endswith(file)


def _is_module(code: CodeType) -> bool:
    return code.co_name == "<module>" and _OF_MODULE.issubset(code.co_names)


def _table_of(code: CodeType, names: dict[str, object]) -> LineTable | None:
    text = _constant_of(code, _TABLE) if code.co_name == "<module>" else dict.get(names, _TABLE)
    if type(text) is not str:
        return None
    table = _tables.get(text)
    if table is None:
        try:
            parts = [pair.partition("=") for pair in text.split("&") if pair]
            pairs = [(int(line), int(begin)) for line, _, begin in parts]
        except ValueError:
            return None
        if len(_tables) >= _KEPT_TABLES:
            _tables.clear()
        table = _tables[text] = LineTable(pairs)
    return table


def _constant_of(code: CodeType, name: str) -> str | None:
    """Return the text that a module gives to a name, the last time."""
    text_constant: str | None = None
    before: object = None
    for _, operation, argument in instructions(code):
        if operation == "STORE_NAME" and code.co_names[argument] == name and type(before) is str:
            text_constant = before
        before = constant(code, operation, argument)
    return text_constant
