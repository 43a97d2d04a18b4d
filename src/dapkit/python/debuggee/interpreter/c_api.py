"""Functions of the interpreter that only C can call, reached by `_ctypes`: `ctypes` would be seen in the program."""

import _ctypes
from _functools import partial  # type: ignore[import-not-found]  # the C half of `functools`
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..system import interpreter_library


class _Any(_ctypes._SimpleCData):  # type: ignore[type-arg]  # of objects
    _type_ = "O"


class _Int(_ctypes._SimpleCData):  # type: ignore[type-arg]  # of numbers
    _type_ = "i"


class _Identity(_ctypes._SimpleCData):  # type: ignore[type-arg]  # of numbers
    _type_ = "L"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_PYTHONAPI
    _restype_ = _Int


class _Interpreter:
    """The library that the interpreter itself is."""

    _name = None
    _handle = interpreter_library()


def _function(name: str) -> Any:  # noqa: ANN401 - its functions have no types
    return _Function((name, _Interpreter))  # type: ignore[arg-type]  # as ctypes.PyDLL does


_set_exception = _function("PyThreadState_SetAsyncExc")


def raise_in_thread(ident: int, exception: type[BaseException] | None) -> None:
    """Raise an exception in a thread at its next instruction, or withdraw a pending one."""
    _set_exception(_Identity(ident), None if exception is None else _Any(exception))


def locals_writer(frame: FrameType) -> Callable[[], object]:
    """Return native code that makes assignments in `frame.f_locals` real (before 3.13)."""
    write: Callable[[], object] = partial(_function("PyFrame_LocalsToFast"), _Any(frame), _Int(0))
    return write
