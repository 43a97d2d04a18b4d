"""What a program can ask of its debugger: to listen for a client, to wait for it, to stop here.

    import dapkit

    dapkit.listen(5678)
    dapkit.wait_for_client()
    dapkit.breakpoint()

Importing this costs nothing: the engine is loaded by the first call that needs it, from the standard
library alone. In a program that was launched by the debugger the same names work; `listen` and `connect`
are refused there, since a program has one debugger at a time.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any  # takes milliseconds

type Address = int | tuple[str, int] | str | os.PathLike[str]
"""A port of this machine, host and port, or the path of a unix socket."""

PACKAGE = "_dapkit_debuggee"
"""Private name of the engine's package: the one that a launched program has it under as well."""

_GENERATED: "Any" = object()


def listen(
    address: Address = ("127.0.0.1", 0),
    *,
    token: str | None = _GENERATED,
    token_file: str | os.PathLike[str] | None = None,
    allow_remote: bool = False,
) -> tuple[str, int] | str:
    """Let clients attach from now on, one at a time; return where. The program goes on at once.

    Args:
        address: where to listen; port 0 leaves the choice to the system.
        token: what clients have to show; None for none, then processes of our own user may connect. Missing: one is
            made and left in a file that only our own user can read, which is named on stderr. A unix
            socket needs none, since the system reports whose process connects.
        token_file: a file that has the token.
        allow_remote: whether the address may be one that other machines can reach.

    Raises:
        RuntimeError: the program listens or is debugged already.
        ValueError: the address is not private, or the token not fit.
        OSError: the address cannot be listened on.

    """
    _engine_module("connection.current").need_no_launcher()
    made = token is _GENERATED and token_file is None
    where: tuple[str, int] | str = _engine_module("attachable").listen(
        _place(address),
        token=None if made else _token(token, token_file),
        make_token=made,
        allow_remote=allow_remote,
    )
    return where


def connect(address: Address, *, token: str | None = None, token_file: str | os.PathLike[str] | None = None) -> None:
    """Connect to a debugger that waits for this program (`attach` with `listen`).

    The token is looked for where a debugger of our own user on this machine has left it, unless it is given.

    Raises:
        RuntimeError: the program listens or is debugged already, or the debugger refused the token.
        OSError: no debugger listens there.

    """
    _engine_module("connection.current").need_no_launcher()
    given = None if token is None and token_file is None else _token(token, token_file)
    _engine_module("attachable").connect(_place(address), given)


def wait_for_client() -> None:
    """Wait until a client is attached and has set its breakpoints; at once if one is.

    Raises:
        RuntimeError: no client can attach, since the program does not listen.

    """
    _engine_module("connection.current").wait()


def is_client_connected() -> bool:
    """Say whether a client is attached."""
    return PACKAGE in sys.modules and bool(_engine_module("connection.current").is_debugged())


def breakpoint() -> None:
    """Stop here, in the caller, if a client is attached. `PYTHONBREAKPOINT=dapkit.breakpoint` is for this."""
    if PACKAGE in sys.modules:
        _engine_module("connection.current").stop_in(sys._getframe(1))  # noqa: SLF001 - the documented way


def _place(address: Address) -> tuple[str, int] | str:
    match address:
        case int():
            return "127.0.0.1", address
        case (str(host), int(port)):
            return host, port
        case str() | os.PathLike():
            return os.fspath(address)
    raise ValueError(f"{address!r} is not an address: expected a port, (host, port), or the path of a unix socket")


def _token(token: str | None, file: str | os.PathLike[str] | None) -> str | None:
    if file is None:
        return None if token is _GENERATED else token
    if token is not None and token is not _GENERATED:
        raise ValueError("token and token_file say the same: give one of them")
    found: str = _engine_module("connection.tokens").read(os.fspath(file))
    return found


def _engine_module(name: str) -> "Any":  # noqa: ANN401 - a module that is known at run time only
    """Return a module of the engine, which lives under a private name of its own."""
    if PACKAGE not in sys.modules:
        package = type(sys)(PACKAGE)
        package.__path__ = [os.path.join(os.path.dirname(__file__), "python", "debuggee")]  # noqa: PTH118, PTH120 - pathlib is slow to import
        sys.modules[PACKAGE] = package
    __import__(f"{PACKAGE}.{name}")
    return sys.modules[f"{PACKAGE}.{name}"]
