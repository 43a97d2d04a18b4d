"""What day and time it is: `datetime` asks the system, and not the module `time`."""

import _warnings
from time import time_ns
from typing import Any, Final

from ...interpreter.hidden_frames import unseen
from .notes import NotedCalls
from .state import state

_DEPRECATED: Final = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. "
    "Use timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def adapt(notes: NotedCalls, module: Any, names: dict[str, Any]) -> None:  # noqa: ANN401 - `_datetime`
    """Replace the methods of the class `datetime`, whose own names these are: nothing else can change them."""
    real_now, real_utcnow = names["now"], names["utcnow"]

    def seconds() -> float:
        return int(notes.call("datetime", lambda: time_ns() // 1000, ())) / 1e6

    @unseen
    def now(cls: Any, tz: Any = None) -> Any:  # noqa: ANN401 - as in C
        """Return the current time, in a time zone if one is given."""
        if not state.is_of_program:
            return real_now.__get__(None, cls)(tz)
        return cls.fromtimestamp(seconds(), tz)

    @unseen
    def utcnow(cls: Any) -> Any:  # noqa: ANN401 - as in C
        """Return the current time in UTC."""
        if not state.is_of_program:
            return real_utcnow.__get__(None, cls)()
        _warnings.warn(_DEPRECATED, DeprecationWarning, 2)
        made = module.datetime.fromtimestamp(seconds(), module.timezone.utc)
        return cls(made.year, made.month, made.day, made.hour, made.minute, made.second, made.microsecond)

    names["now"], names["utcnow"] = classmethod(now), classmethod(utcnow)
    _forget_found(module.datetime)


def _forget_found(kind: type) -> None:
    """Have the interpreter look for attributes of a class anew; it knows of no changes of one in C."""
    marker: Any = type.__dict__["__abstractmethods__"]
    marker.__set__(kind, frozenset())
    marker.__delete__(kind)
