"""The common base of breakpoints: their requests, and the reports about them.

    source       by line, or by column within a line
    function     by the name of a function
    instruction  by the address of an instruction

Each kind finds the code it means and puts *sites* there (`sites`); stopping is done by `callbacks`.
"""

import itertools
from typing import Final

from ..bytecode.tree_places import Spot
from ..connection.framing import Json
from ..interpreter.errors import RequestRefused
from ..interpreter.gc_tracking import untrack
from .conditions import BreakpointCondition

type BreakpointKind = str
SOURCE: Final = "breakpoint"
FUNCTION: Final = "function breakpoint"
INSTRUCTION: Final = "instruction breakpoint"

ONCE: Final = "once"

next_number = itertools.count(1).__next__
"""The number of the next breakpoint, of any kind: clients distinguish them by it."""


class EngineBreakpoint:
    """One breakpoint that a client asked for.

    `kind` is the reason of the stops it makes. Without a `test` the spec of the client is invalid, and
    there is nothing to wait for.
    """

    __slots__ = (
        "address",
        "bound",
        "kind",
        "line",
        "message",
        "number",
        "once",
        "reason",
        "source",
        "span",
        "spec",
        "spent",
        "spot",
        "test",
        "verified",
        "wanted_line",
    )

    def __init__(self, kind: BreakpointKind, spec: Json, modes: tuple[str, ...] = (ONCE,)) -> None:
        untrack(self)
        self.number = next_number()
        self.kind = kind
        self.spec = spec
        self.test: BreakpointCondition | None = None
        self.verified = False
        self.bound = False
        """Whether it is in some code already."""
        self.spent = False
        """Whether it was to stop once, and has."""
        self.wanted_line = 0
        self.line = 0
        self.spot: Spot | None = None
        self.span: Json = {}
        """The columns to show."""
        self.source: Json | None = None
        self.address = ""
        self.message = ""
        self.reason = ""
        self.once = spec.get("mode") == ONCE
        try:
            self.test = _test(spec, modes)
        except RequestRefused as refusal:
            self.fail(str(refusal))

    def fail(self, message: str, reason: str = "failed") -> None:
        """Note why it cannot stop anything now."""
        self.verified = False
        self.message, self.reason = message, reason

    def wait(self, message: str) -> None:
        """Note the reason for which it is pending."""
        self.fail(message, "pending")

    def settle(self, message: str = "") -> None:
        """Note that it is set where it is shown."""
        self.verified = True
        self.message, self.reason = message, ""

    def describe(self) -> Json:
        """Return the Breakpoint of the protocol."""
        body: Json = {"id": self.number, "verified": self.verified}
        if self.line or "line" in self.spec:
            body["line"] = self.line or self.spec["line"]
        if self.span:
            body |= self.span
        if self.source:
            body["source"] = self.source
        if self.message:
            body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.address:
            body["instructionReference"] = self.address
        return body


def _test(spec: Json, modes: tuple[str, ...]) -> BreakpointCondition:
    mode = spec.get("mode")
    if mode is not None and mode not in modes:
        raise RequestRefused(f"mode {mode!r} is unknown; there is {', '.join(modes) or 'none'}")
    texts: list[str | None] = []
    for field in ("condition", "hitCondition", "logMessage"):
        text = spec.get(field)
        if text is not None and not isinstance(text, str):
            raise RequestRefused(f"{field} is {text!r}, expected a text")
        texts.append(text)
    return BreakpointCondition(*texts)
