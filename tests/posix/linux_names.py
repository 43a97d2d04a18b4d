"""Take Linux away from dapkit, in each interpreter of a run with `DAPKIT_SYSTEM=posix`.

Code of dapkit that uses a name which only Linux has, reads /proc, or asks for `prctl`, is refused. Other code is not:
tests look at processes. Each refusal is written to the file that `DAPKIT_LINUX_NAMES` names, and a run in which there
is one has failed, also where the code has caught the exception. A line for `site` imports this module
(`tools/take_linux_away.py`).
"""

import _socket
import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final

_DAPKIT: Final = str(Path(__file__).parents[2] / "src/dapkit")
_LIBRARIES: Final = (str(Path(os.__file__).parent) + os.sep, "<frozen", __file__)
_PACKAGES: Final = f"{os.sep}site-packages{os.sep}"

_FUNCTIONS: Final[dict[ModuleType, tuple[str, ...]]] = {
    os: ("pidfd_open", "memfd_create", "pipe2", "listxattr"),
    signal: ("pidfd_send_signal",),
}
_CONSTANTS: Final[dict[ModuleType, tuple[str, ...]]] = {
    _socket: ("SO_PEERCRED", "SOCK_CLOEXEC", "SOCK_NONBLOCK", "MSG_NOSIGNAL"),
    fcntl: ("F_SETSIG", "F_ADD_SEALS", "F_SEAL_SHRINK"),
    signal: ("SIGRTMAX", "SIGRTMIN"),
    time: ("CLOCK_BOOTTIME",),
}


def _user() -> str:
    """Return the place in dapkit that has called, by the standard library or not; empty for other code."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_LIBRARIES) and _PACKAGES not in frame.f_code.co_filename:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    file = frame.f_code.co_filename
    return f"{file}:{frame.f_lineno}" if file.startswith(_DAPKIT) else ""


def _refuse(name: str, place: str) -> None:
    report = os.open(os.environ["DAPKIT_LINUX_NAMES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(report, f"{place}: {name}\n".encode())
    os.close(report)
    raise RuntimeError(f"{name} is Linux's, and was used at {place}")


def _look(event: str, arguments: tuple[object, ...]) -> None:
    if event in {"open", "os.listdir", "os.scandir"} and isinstance(arguments[0], str | bytes):
        _check_path(os.fsdecode(arguments[0]))
    elif event == "ctypes.dlsym" and arguments[1] == "prctl" and (place := _user()):
        _refuse("prctl", place)


def _check_path(path: str) -> None:
    if path.startswith("/proc") and (place := _user()):
        _refuse(path, place)


def _refusing(name: str, function: Callable[..., object]) -> Callable[..., object]:
    def refuses(*arguments: object, **options: object) -> object:
        if place := _user():
            _refuse(name, place)
        return function(*arguments, **options)

    return refuses


def _read_link(function: Callable[..., object]) -> Callable[..., object]:
    def reads(path: Any, **options: object) -> object:  # noqa: ANN401 - as the function of `os`
        _check_path(os.fsdecode(path))
        return function(path, **options)

    return reads


def take_away() -> None:
    """Do it, for the rest of this process."""
    sys.addaudithook(_look)
    for module, names in _FUNCTIONS.items():
        for name in names:
            if hasattr(module, name):  # else this is another system
                setattr(module, name, _refusing(name, getattr(module, name)))
    os.readlink = _read_link(os.readlink)  # type: ignore[assignment]  # with the same parameters
    for module, names in _CONSTANTS.items():
        for name in names:
            vars(module).pop(name, None)


take_away()
