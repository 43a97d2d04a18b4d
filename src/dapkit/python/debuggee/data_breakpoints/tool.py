"""A second tool of sys.monitoring, for data breakpoints alone.

So DISABLE, which is local to a tool, never costs breakpoints or steps an event, and nothing here is in their
way. It is there only while data breakpoints are. If all of `Monitor.spare_tools` are taken, there can be none.
"""

import sys
from collections.abc import Callable
from types import CodeType
from typing import Final

from ..execution.monitor import (
    ACCOMPANIED,
    DISCOVERY,
    EVENTS,
    SINGLE_EVENTS,
    Monitor,
    Owner,
)
from ..interpreter.errors import RequestRefused
from ..interpreter.thread_checks import under_lock

_MONITORING = sys.monitoring

INSTRUCTION: Final = EVENTS.INSTRUCTION | EVENTS.PY_START
"""Instructions, wherever other tools may come: `Monitor` watches PY_START too, so two tools are there at once."""


class WatchTool:
    """The events that are on, by code object and owner.

    Invariant: while `number` is not -1, the local events of a code object are the union of its owners' events.
    """

    def __init__(self, monitor: Monitor) -> None:
        self.number = -1
        self._monitor = monitor
        self._wanted: dict[int, tuple[CodeType, dict[Owner, int]]] = {}  # by id: a code object's own hash is slow
        self.local: dict[int, int] = {}
        """The local events of code objects, by identity."""

    @under_lock
    def claim(self) -> None:
        """Take a tool number, unless we have one.

        Raises:
            RequestRefused: if none is free.

        """
        if self.number >= 0:
            return
        self.number = self._monitor.take_spare_tool("dapkit data breakpoints")
        if self.number >= 0:
            _MONITORING.set_events(self.number, ACCOMPANIED)  # in the place of the companion
            self._monitor.also("data", DISCOVERY)
            return
        holders = " and ".join(str(_MONITORING.get_tool(number)) for number in self._monitor.spare_tools)
        raise RequestRefused(f"sys.monitoring has no tool left for data breakpoints; {holders} took them")

    @under_lock
    def register(self, callbacks: dict[int, Callable[..., object]]) -> None:
        """Set the callbacks by event, all of them."""
        for event in SINGLE_EVENTS:
            callback = callbacks.get(event)
            self._monitor.register_callback(self.number, event, callback)

    def everywhere(self, events: int) -> None:
        """Watch these events in all code; those that were disabled are switched on again."""
        _MONITORING.set_events(self.number, ACCOMPANIED)
        _MONITORING.set_events(self.number, events | ACCOMPANIED)

    def want(self, code: CodeType, owner: Owner, events: int) -> None:
        """Watch these events in one code object for one owner, 0 for none."""
        owners_of_code = self._wanted.get(id(code))
        if (owners_of_code[1].get(owner, 0) if owners_of_code else 0) == events:
            return
        _, owners = self._wanted.setdefault(id(code), (code, {}))
        if events:
            owners[owner] = events
        else:
            owners.pop(owner, None)
        union = 0
        for events_of_owner in owners.values():
            union |= events_of_owner
        if owners:
            self.local[id(code)] = union
        else:
            del self._wanted[id(code)]
            del self.local[id(code)]
        self.settle(code)

    def settle(self, code: CodeType) -> None:
        """Turn on exactly the wanted events of a code object, including those that were disabled."""
        events = self.local.get(id(code), 0)
        _MONITORING.set_local_events(self.number, code, 0)
        if events:
            _MONITORING.set_local_events(self.number, code, events)

    def release(self) -> None:
        """Watch nothing any more, and let others have the tool."""
        if self.number < 0:
            return
        _MONITORING.set_events(self.number, 0)
        for code, _ in list(self._wanted.values()):
            _MONITORING.set_local_events(self.number, code, 0)
        self._wanted.clear()
        self.local.clear()
        self.register({})
        self._monitor.free_spare_tool(self.number)
        self.number = -1
        if self._monitor.active:  # not in the child of a fork
            self._monitor.also("data", 0)
