"""Exceptions as Python's own traceback prints them: frames with their source lines, causes and contexts, groups.

The text is in bounded time and space: frames that repeat are counted, of a deep stack the two ends are written, and the
chain has at most `limits.EXCEPTION_DEPTH` links. The cause of an exception is written once, wherever else it is linked.
Frames of the debugger are left out.
"""

from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Final, NamedTuple

from ..bytecode.texts import ProgramTexts
from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from ..interpreter.frame_views import virtual_frame_of
from ..interpreter.safe_types import Passed, class_name, is_a, namespace, plain_text, stored, traceback_of
from ..sources.files import OURS, Sources
from ..values.text import own_text

_HEADER: Final = "Traceback (most recent call last):\n"
_CAUSE: Final = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT: Final = "\nDuring handling of the above exception, another exception occurred:\n\n"
_ALIKE: Final = 3
"""So many frames at one place are written, as Python does; the others are counted."""


class _FrameRun(NamedTuple):
    """A frame, and how many follow each other there."""

    frame: FrameType
    line: int
    times: int


def message_of(exception: BaseException, guard: EvaluationGuard | None) -> str:
    """Return the text of an exception with its notes; code of the program runs for it if there is a guard."""
    message = own_text(str, exception, guard)
    notes = namespace(exception).get("__notes__")
    if type(notes) is list:
        message = "\n".join([message, *(plain_text(note) for note in notes if is_a(note, str))])
    return message[: limits.MESSAGE_CHARS]


def linked_to(exception: BaseException) -> tuple[BaseException | None, bool]:
    """Return the exception that Python shows before this one, if any, and whether it is its cause."""
    cause, context = stored(exception, "__cause__"), stored(exception, "__context__")
    if cause is not None:
        return cause, True
    return (None if stored(exception, "__suppress_context__") else context), False


def shortened(text: str, chars: int) -> str:
    """Leave out the middle of a text that is too long: the beginning and the end of a traceback matter most."""
    if len(text) <= chars:
        return text
    left_out = "\n[…]\n"
    head = (chars - len(left_out)) // 2
    return f"{text[:head]}{left_out}{text[head + len(left_out) - chars :]}"


class TracebackWriter:
    """Writes tracebacks.

    Args:
        sources: says which frames are the debugger's.
        texts: of the program's files.
        typed: texts that a client has typed, by the file names under which they were compiled.

    """

    def __init__(self, sources: Sources, texts: ProgramTexts, typed: Mapping[str, str] | None = None) -> None:
        self._sources = sources
        self._texts = texts
        self._typed = typed or {}

    def exception(
        self,
        exception: BaseException,
        guard: EvaluationGuard | None,
        *,
        frames: list[Passed] | None = None,
        written_before: BaseException | None = None,
    ) -> str:
        """Write an exception with all that led to it, the first one first.

        Args:
            exception: the exception to write.
            guard: for code of the program.
            frames: its frames from the newest; by default the frames of its traceback.
            written_before: an exception that was there before, and is not written.

        """
        identities = set() if written_before is None else {id(written_before)}
        return self._linked(exception, guard, frames, limits.EXCEPTION_DEPTH, identities)

    def _linked(
        self,
        exception: BaseException,
        guard: EvaluationGuard | None,
        frames: list[Passed] | None,
        depth: int,
        identities: set[int],
    ) -> str:
        """Write an exception with its causes, except those already `identities`; groups within groups to a depth."""
        identities.add(id(exception))
        current = exception
        chain: list[tuple[BaseException, str]] = []
        for _ in range(limits.EXCEPTION_DEPTH):
            earlier, is_cause = linked_to(current)
            if earlier is None or id(earlier) in identities:
                break
            identities.add(id(earlier))  # before the members of groups: it is not written with these
            chain.append((earlier, _CAUSE if is_cause else _CONTEXT))
            current = earlier
        parts = [self._alone(exception, guard, frames, depth, identities)]
        for earlier, joint in chain:
            parts += [joint, self._alone(earlier, guard, None, depth, identities)]
        return shortened("".join(reversed(parts)), limits.TRACEBACK_CHARS)

    def _alone(
        self,
        exception: BaseException,
        guard: EvaluationGuard | None,
        frames: list[Passed] | None,
        depth: int,
        identities: set[int],
    ) -> str:
        passed = self.frames(traceback_of(exception) if frames is None else frames)
        kind, message = class_name(type(exception)).removeprefix("__main__."), message_of(exception, guard)
        text = f"{_HEADER if passed else ''}{passed}{kind}{': ' if message else ''}{message}\n"
        if not is_a(exception, BaseExceptionGroup) or not depth:
            return text
        members = stored(exception, "exceptions")
        for at, member in enumerate(members[: limits.EXCEPTION_DEPTH], 1):
            known_depth = 0 if id(member) in identities else depth - 1
            inner = self._linked(member, guard, None, known_depth, identities)
            text += f"  +---------------- {at} ----------------\n"
            text += "".join(f"  | {line}\n" for line in inner.splitlines())
        return text + "  +------------------------------------\n"

    def frames(self, passed: list[Passed]) -> str:
        """Write frames, given from the newest."""
        places = _places([(frame, line) for frame, line in reversed(passed) if self._is_shown(frame)])
        left_out = len(places) - limits.TRACEBACK_PLACES
        if left_out <= 0:
            return "".join(map(self._place, places))
        half = limits.TRACEBACK_PLACES // 2
        middle = sum(place.times for place in places[half : half + left_out])
        head, tail = places[:half], places[half + left_out :]
        return "".join([*map(self._place, head), f"  [{middle:,} more frames]\n", *map(self._place, tail)])

    def _is_shown(self, frame: FrameType) -> bool:
        name = frame.f_code.co_filename
        return name in self._typed or self._sources.kind(name) != OURS

    def _place(self, place: _FrameRun) -> str:
        code = place.frame.f_code
        view = virtual_frame_of(place.frame, place.line)
        line, function = (place.line, code.co_qualname) if view is None else (view.line, view.title)
        name = "<console>" if code.co_filename in self._typed else code.co_filename if view is None else view.filename
        text = self._line(code, line, name)
        entry = f'  File "{name}", line {line}, in {function}\n' + (f"    {text}\n" if text else "")
        more = place.times - _ALIKE
        if more <= 0:
            return entry * place.times
        return entry * _ALIKE + f"  [Previous line repeated {more:,} more time{'s' if more > 1 else ''}]\n"

    def _line(self, code: CodeType, line: int, name: str) -> str:
        if (typed := self._typed.get(code.co_filename)) is not None:
            line_text = "".join(typed.split("\n")[line - 1 : line])
        else:
            text = self._texts.of_code(code) if name == code.co_filename else self._texts.of_name(name)
            line_text = "" if text is None else text.line(line)
        return line_text.strip()[: limits.SOURCE_LINE_CHARS]


def _places(passed: list[Passed]) -> list[_FrameRun]:
    """Put frames together that follow each other at one place."""
    places: list[_FrameRun] = []
    for frame, line in passed:
        last = places[-1] if places else None
        if last is not None and last.frame.f_code is frame.f_code and last.line == line:
            places[-1] = _FrameRun(last.frame, last.line, last.times + 1)
        else:
            places.append(_FrameRun(frame, line, 1))
    return places
