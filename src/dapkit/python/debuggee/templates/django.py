"""Templates of Django: trees of nodes, each of which is rendered by a call of one method of the library.

A frame of that method stands for its node: the node knows its template and its line, and the context that it is given
has the variables. Nodes of text are rendered by another method, and nothing is to be seen there.
The nodes of a template that one call renders, those within others included, are run by one frame of the library.
"""

import builtins
from _weakref import ref
from collections.abc import Mapping
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from ..interpreter.errors import RequestRefused
from ..interpreter.frame_locals import stored_locals
from ..interpreter.frame_views import FrameRun, FrameView
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import defined, is_a, namespace, plain_text, simple_name
from ..sources.files import first_line

IN_MEMORY: Final = "<unknown source>"
"""The name of a template's file if it has no file."""

_METHOD: Final = "render_annotated"
_RENDERER: Final = ("Node.render_annotated", "/django/template/base.py")
_OF_TEMPLATE: Final = frozenset(("_render", "instrumented_test_render"))
_NEVER_SEEN: Final = frozenset(("True", "False", "None"))
_TITLE_CHARS: Final = 60
_MOST_FRAMES: Final = 10_000
_DEPTH: Final = 6
"""Containers within containers in which a node may keep others."""


class NodeRun(FrameRun):
    """The function that renders the nodes of a template, one after the other."""

    def __init__(self, around: FrameType, line: int) -> None:
        super().__init__(around)
        self.line = line
        untrack(self)

    def admits(self, frame: FrameType, *, into: bool) -> bool:
        """Take a node of the same template on another line; and with `into` a node of a called template."""
        view = frame_of(frame, frame.f_lineno)
        if view is None:
            return into
        run = view.run()
        if run is None or run.around is not self.around:
            return into
        return view.line != self.line


class DjangoFrame(FrameView):
    """A frame that renders a node.

    Attributes:
        node: the node that it renders.

    """

    def __init__(self, frame: FrameType, node: object, filename: str, *, line: int) -> None:
        super().__init__(frame, filename, _line_of(node))
        self.is_place = line > 0 and line == first_line(frame.f_code)
        self.node = node
        untrack(self)

    @property
    def title(self) -> str:
        """The tag or variable, as it stands in the template."""
        return title_of_token(namespace(self.node).get("token"))

    def names(self) -> dict[str, object]:
        """Return the variables of the context, the innermost of each name."""
        names_of_context: dict[str, object] = {}
        for names in self._dicts():
            names_of_context.update((name, value) for name, value in dict.items(names) if type(name) is str)
        return {name: value for name, value in names_of_context.items() if name not in _NEVER_SEEN}

    def global_names(self) -> dict[str, object]:
        """Return only Python's own names: there are no others."""
        return {"__builtins__": vars(builtins)}

    def write(self, name: str, value: object) -> None:
        """Replace the innermost variable of a name."""
        for names in reversed(self._dicts()):
            if name in names:
                names[name] = value
                return
        raise RequestRefused(f"{name} is not a variable of the template; only a tag in its text makes one")

    def text(self) -> str | None:
        """Return the text of the template, as it was compiled."""
        text = namespace(self.template()).get("source")
        return text if type(text) is str else None

    def template(self) -> object:
        """Return the template that the node is of."""
        origin = namespace(self.node).get("origin")
        current = namespace(self._context().get("render_context")).get("template")
        if namespace(current).get("origin") is origin:
            return current
        older = self.frame.f_back
        for _ in range(_MOST_FRAMES):
            if older is None:
                return None
            if older.f_code.co_name in _OF_TEMPLATE:
                template = stored_locals(older).get("self")
                if namespace(template).get("origin") is origin:
                    return template
            older = older.f_back
        return None

    def run(self) -> FrameRun | None:
        """Return the frame that renders the other nodes of the template."""
        outermost, older = self.frame, self.frame.f_back
        while older is not None and older.f_code.co_name not in _OF_TEMPLATE:
            node = _node_of(older)
            if node is not None:
                if _filename_of(node) != self.filename:
                    break
                outermost = older
            older = older.f_back
        return None if outermost.f_back is None else NodeRun(outermost.f_back, self.line)

    def _context(self) -> Mapping[str, object]:
        return namespace(stored_locals(self.frame).get("context"))

    def _dicts(self) -> list[Any]:
        dicts = self._context().get("dicts")
        return [names for names in dicts if is_a(names, dict)] if type(dicts) is list else []


def frame_of(frame: FrameType, line: int) -> DjangoFrame | None:
    """Return the view of a frame, at a line of its code, if it renders a node."""
    if not is_renderer(frame.f_code):
        return None
    node = _node_of(frame)
    filename = _filename_of(node)
    return DjangoFrame(frame, node, filename, line=line) if filename and _line_of(node) else None


def is_renderer(code: CodeType) -> bool:
    """Return whether some code is the method that renders a node."""
    name, file = _RENDERER
    return code.co_name == _METHOD and code.co_qualname == name and code.co_filename.endswith(file)


class NodePlaces:
    """The nodes of a template that may be rendered: by their identities, as nothing of it is kept alive.

    A line is one place, the place of its first node: other nodes of the line are in that node, or follow it.
    """

    def __init__(self, template: object, filename: str) -> None:
        self._template = ref(template) if template is not None else None
        self._firsts: dict[int, int] = {}
        self._seen: set[int] = set()
        self._filename = filename
        untrack(self._firsts)
        untrack(self._seen)
        untrack(self)
        self._gather(namespace(template).get("nodelist"), _DEPTH)

    @property
    def lines(self) -> list[int]:
        """The lines at which nodes begin."""
        return sorted(self._firsts)

    def are_of(self, template: object) -> bool:
        """Return whether they belong to a template: this object, not another one compiled from the same text."""
        return self._template is not None and self._template() is template

    def is_first(self, node: object) -> bool:
        """Return whether a node is the first of its line."""
        return self._firsts.get(_line_of(node)) == id(node)

    def _gather(self, value: object, depth: int) -> None:
        """Add the nodes inside another node, or inside a container."""
        if not depth or id(value) in self._seen:
            return
        self._seen.add(id(value))
        for inner in self._inside(value):
            self._gather(inner, depth - 1 if is_a(value, list, tuple, dict) else _DEPTH)

    def _inside(self, value: object) -> list[object]:
        if is_a(value, list):
            return list(list.__iter__(value))
        if type(value) is tuple:
            return list(value)
        if type(value) is dict:
            return list(value.values())
        method = defined(type(value), _METHOD)
        if type(method) is not FunctionType:
            return []
        if is_renderer(method.__code__) and _filename_of(value) == self._filename:
            self._firsts.setdefault(_line_of(value), id(value))
        names = namespace(value)
        # Of a template that extends another, nothing but its blocks is rendered.
        return [names.get("blocks")] if simple_name(type(value)) == "ExtendsNode" else list(names.values())


def title_of_token(token: object) -> str:
    """Return a tag or variable as it stands in the template."""
    fields = namespace(token)
    contents = plain_text(fields.get("contents"))[:_TITLE_CHARS]
    kind = namespace(fields.get("token_type")).get("_name_")
    return f"{{{{ {contents} }}}}" if kind == "VAR" else f"{{% {contents} %}}"


def _node_of(frame: FrameType) -> object:
    return stored_locals(frame).get("self") if is_renderer(frame.f_code) else None


def _filename_of(node: object) -> str:
    return plain_text(namespace(namespace(node).get("origin")).get("name"))


def _line_of(node: object) -> int:
    line = namespace(namespace(node).get("token")).get("lineno")
    return line if type(line) is int else 0
