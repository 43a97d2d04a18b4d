"""Details of `stackTrace` about a frame: address and columns of its instruction, and whether it can be restarted."""

from types import FrameType

from ..bytecode.addresses import Addresses
from ..bytecode.positions import span_at
from ..bytecode.texts import ProgramTexts
from ..bytecode.tree_places import Span
from ..connection.framing import Json
from ..execution import jumps
from ..execution.arguments import KnownArguments
from ..execution.stops import Stops
from ..interpreter import limits


class FrameDetails:
    """Makes those fields of stack frames."""

    def __init__(self, addresses: Addresses, texts: ProgramTexts, stops: Stops, arguments: KnownArguments) -> None:
        self._addresses = addresses
        self._texts = texts
        self._stops = stops
        self._arguments = arguments
        self._spans: dict[int, Span | None] = {}  # by address, which always belongs to one instruction

    def of(self, frame: FrameType) -> Json:
        """Return the fields of one frame."""
        offset = max(frame.f_lasti, 0)
        address = self._addresses.of(frame.f_code, offset)
        parked = next((candidate for candidate in list(self._stops.parked.values()) if candidate.shown is frame), None)
        fields: Json = {"instructionPointerReference": hex(address), "canRestart": False}
        if self._stops.history is not None:
            fields["canRestart"] = True  # it is shown where it began
        elif parked is not None:
            fields["canRestart"] = not jumps.objection(parked, frame) and not jumps.restart_objection(
                frame, self._arguments
            )
        if parked is not None and parked.columns is not None and parked.columns[0] == frame.f_lasti:
            fields |= parked.columns[1]
        elif parked is None or not parked.at_line:  # at the beginning of a line the whole line is meant
            fields |= self._columns(frame, address, offset)
        return fields

    def _columns(self, frame: FrameType, address: int, offset: int) -> Json:
        """Return where in its line a frame is: at a call, in all but the newest."""
        if address not in self._spans:
            if len(self._spans) >= limits.SPANS:
                self._spans.clear()
            self._spans[address] = span_at(frame.f_code, offset)
        span = self._spans[address]
        text = self._texts.of_code(frame.f_code)
        if span is None or text is None or span.line != frame.f_lineno or span.end_line < span.line:
            return {}
        return {
            "column": text.shown_column(span.line, span.column),
            "endLine": span.end_line,
            "endColumn": text.shown_column(span.end_line, span.end_column),
        }
