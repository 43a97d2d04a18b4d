"""Breakpoints in templates that have no code of their own: one method renders all of their nodes.

Each breakpoint has a site at the beginning of that method, which looks at the node that is rendered. The first one of a
template shows which lines it has, until its text is another.
"""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final

from ..execution import monitor
from ..sources.files import Sources, first_line, name_in
from ..templates.django import DjangoFrame, NodePlaces, frame_of
from .breakpoint import EngineBreakpoint
from .conditions import HitActions, HostCode, LineCallback
from .sites import BreakpointSite, site_of

type Meet = Callable[[str, list[int]], None]
"""Locates the breakpoints of a template, given its key and its lines."""

_DISABLE = monitor.DISABLE
_OF_PYTHON: Final = (".py", ".pyw")


class NodeTemplates:
    """The templates whose nodes were rendered.

    Invariant: `_places` holds the places of each template with breakpoints as it was last compiled.
    """

    def __init__(self, sources: Sources, meet: Meet, safely: Callable[[Callable[[], object]], object]) -> None:
        self._sources = sources
        self._meet = meet
        self._safely = safely
        self.renderer: CodeType | None = None
        """The code of the method, once it has run."""
        self._places: dict[str, NodePlaces] = {}

    def clear(self) -> None:
        """Forget all templates."""
        self._places.clear()

    def lines(self, key: str) -> list[int] | None:
        """Return the lines of a template, None if it was not seen."""
        places = self._places.get(key)
        return None if places is None else places.lines

    def look(self, key: str, frames: list[FrameType]) -> bool:
        """Look for a template among frames; return whether it was found."""
        views = (self._view(key, frame) for frame in frames)
        view = next((view for view in views if view is not None), None)
        if view is not None:
            self._places_of(key, view)
        return view is not None

    def site(self, key: str, breakpoint: EngineBreakpoint, actions: HitActions) -> BreakpointSite | None:
        """Make the site of a breakpoint in the source of a key, None if there can be none."""
        code = self.renderer
        if code is None or key.endswith(_OF_PYTHON):
            return None
        begin = first_line(code)
        new_site = site_of(breakpoint, HostCode(code, {}, of_template=True), begin, actions)
        new_site.callback = self._at_node(key, breakpoint, begin, new_site.callback)
        return new_site

    def _at_node(self, key: str, breakpoint: EngineBreakpoint, begin: int, act: LineCallback) -> LineCallback:
        def callback(code: CodeType, line: int, depth: int = 1) -> object:
            if line != begin:
                return _DISABLE
            reached: list[bool] = []
            frame = sys._getframe(depth)
            self._safely(lambda: reached.append(self._reaches(key, breakpoint, frame)))
            return act(code, line, depth + 1) if reached == [True] else None

        return callback

    def _reaches(self, key: str, breakpoint: EngineBreakpoint, frame: FrameType) -> bool:
        """Return whether a frame renders the first node at the line of a breakpoint."""
        view = self._view(key, frame)
        if view is None:
            return False
        before = self._places.get(key)
        places = self._places_of(key, view)
        if places is not before and (before is None or places.lines != before.lines):
            self._meet(key, places.lines)
        return breakpoint.verified and breakpoint.line == view.line and places.is_first(view.node)

    def _view(self, key: str, frame: FrameType) -> DjangoFrame | None:
        """Return the frame to show in place of a frame that renders a node of the template with a key."""
        view = frame_of(frame, 0)
        if view is None or self._sources.name(view.filename) != name_in(key):
            return None
        return view if key == name_in(key) or view.text() == self._text_of(key) else None

    def _places_of(self, key: str, view: DjangoFrame) -> NodePlaces:
        places = self._places.get(key)
        template = view.template()
        if places is None or not places.are_of(template):
            places = self._places[key] = NodePlaces(template, view.filename)
        return places

    def _text_of(self, key: str) -> str | None:
        fileless = self._sources.unfiled.with_key(key, self._sources.name)
        return None if fileless is None else fileless.text
