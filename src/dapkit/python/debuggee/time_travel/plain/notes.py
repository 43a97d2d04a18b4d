"""Calls of the program that take something from outside: noted in the live program, answered in the past."""

from collections.abc import Callable
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .history import PlainHistory
from .state import LIVE, REPLAY, state
from .values import Written, key_of, made_again, written, written_error

_NOTHING: Final[dict[str, Any]] = {}


class NotedCalls:
    """The notes of one program."""

    def __init__(self, history: PlainHistory) -> None:
        """Take where they are kept, and what ends a process of the past."""
        self.history = history

    @unseen
    def call(
        self,
        name: str,
        real: Callable[..., Any],
        args: tuple[Any, ...],
        named: dict[str, Any] = _NOTHING,
        *,
        again: Callable[[Any], Any] | None = None,
    ) -> Any:  # noqa: ANN401 - what the call returns
        """Return what a call returns, or returned; `again` makes of that what the program gets in the past."""
        if not state.is_of_program:
            return real(*args, **named)
        if state.mode is LIVE:
            state.is_inside = False
            try:
                result = real(*args, **named)
            except BaseException as error:
                self._note(name, key_of(args, named), written_error(error, args))
                raise
            finally:
                state.is_inside = True
            self._note(name, key_of(args, named), written(result))
            return result
        answer = self._answer(name, key_of(args, named), args)
        return answer if again is None else self.aside(again, answer)

    @unseen
    def aside(self, function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - what it returns
        """Call a function of the program's side as the debugger's."""
        state.is_inside = False
        try:
            return function(*args)
        finally:
            state.is_inside = True

    def _note(self, name: str, key: int, result: Written) -> None:
        self.history.log.note((self.history.now(), name, key, result))

    @unseen
    def _answer(self, name: str, key: int, args: tuple[Any, ...]) -> Any:  # noqa: ANN401 - what the call has returned
        noted = self.history.log.take()
        if noted is None:
            self.history.reach_end()
        if noted[0] != self.history.now() or noted[1] != name or noted[2] != key:
            self.history.diverge(name, noted)
        self.history.took_note()
        return made_again(noted[3], args)  # type: ignore[arg-type]  # as it was written

    @unseen
    def end(self, what: str) -> None:
        """End the history where the program is about to do what cannot be noted."""
        if not state.is_of_program:
            return
        if state.mode is REPLAY:
            self.history.reach_end()
        self.history.end(what)
