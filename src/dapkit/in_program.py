"""What a program can ask of its debugger: to listen for a client, to wait for it, to stop here.

    import dapkit

    dapkit.listen(5678)
    dapkit.wait_for_client()
    dapkit.breakpoint()

Importing this costs nothing: the engine is loaded by the first call that needs it, from the standard
library alone. In a program that was launched by the debugger the same names work; `listen` and `connect`
are refused there, since a program has one debugger at a time.
"""

import _codecs
import builtins
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any  # takes milliseconds

type Address = int | tuple[str, int] | str | os.PathLike[str]
"""A port of this machine, host and port, or the path of a unix socket."""

HANDLE = "dapkit.engine"
"""The name by which the interpreter's table of error handlers knows the engine: nothing of it is in `sys.modules`."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def listen(
    address: Address = ("127.0.0.1", 0),
    *,
    token: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    allow_remote: bool = False,
) -> tuple[str, int] | str:
    """Let clients attach from now on, one at a time; return where. The program goes on at once.

    Args:
        address: where to listen; port 0 leaves the choice to the system.
        token: what clients of a port have to know. Missing: one is made and left in a file that only our own user
            can read, where clients find it; it is named on stderr. It is proved and never sent; still, one that can be
            guessed is none. A unix socket needs none, since the system reports whose process connects.
        token_file: a file that has the token.
        allow_remote: whether the address may be one that other machines can reach.

    Raises:
        RuntimeError: the program listens or is debugged already.
        ValueError: the address is not private, or the token not fit.
        OSError: the address cannot be listened on, or no folder can hold the token.

    """
    _need_linux()
    _engine_module("connection.current").need_no_launcher()
    place, known, folder = _place(address), _token(token, token_file), ""
    if isinstance(place, str):
        _need_unix(place, known)
    elif known is None:
        folder = _private_folder()
    where: tuple[str, int] | str = _engine_module("attachable").listen(
        place, token=known, folder=folder, allow_remote=allow_remote
    )
    return where


def connect(address: Address, *, token: str | None = None, token_file: str | os.PathLike[str] | None = None) -> None:
    """Connect to a debugger that waits for this program (`attach` with `listen`), until it has set its breakpoints.

    The token is looked for where a debugger of our own user on this machine has left it, unless it is given.

    Raises:
        RuntimeError: the program listens or is debugged already, the debugger does not know the token, or it left
            before it had configured its session.
        OSError: no debugger listens there.

    """
    _need_linux()
    _engine_module("connection.current").need_no_launcher()
    place, known = _place(address), _token(token, token_file)
    if known is None and isinstance(place, tuple) and place[0] in _LOOPBACK:
        from dapkit import runtime_folder

        known = _engine_module("connection.tokens").find(place[1], list(runtime_folder.private_folders()))
    _engine_module("attachable").connect(place, known)


def wait_for_client() -> None:
    """Wait until a client is attached and has set its breakpoints; at once if one is.

    Raises:
        RuntimeError: no client can attach, since the program does not listen.

    """
    _engine_module("connection.current").wait()


def is_client_connected() -> bool:
    """Say whether a client is attached."""
    load = _loader()
    return load is not None and bool(load("connection.current").is_debugged())


def breakpoint() -> None:
    """Stop here, in the caller, if a client is attached. `PYTHONBREAKPOINT=dapkit.breakpoint` is for this."""
    load = _loader()
    if load is not None:
        load("connection.current").stop_in(sys._getframe(1))  # noqa: SLF001 - the documented way


def _need_linux() -> None:
    if sys.platform != "linux":
        from dapkit.platform_support import unsupported

        raise RuntimeError(unsupported())


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
        if token == "":
            raise ValueError("an empty token is none")
        return token
    if token is not None:
        raise ValueError("token and token_file say the same: give one of them")
    found: str = _engine_module("connection.tokens").read(os.fspath(file))
    return found


def _need_unix(path: str, token: str | None) -> None:
    """Refuse a path for a unix socket in whose place a stranger could put another, for clients to connect to."""
    from dapkit.trusted_files import objection_to

    if token is not None:
        raise ValueError("a unix socket asks for no token: the system reports whose process connects")
    if (objection := objection_to(os.path.dirname(os.path.abspath(path)))) is not None:
        raise ValueError(f"others could take the place of a socket at {path}: {objection}")


def _private_folder() -> str:
    from dapkit.runtime_folder import NoPrivateFolder, private_folder

    try:
        return private_folder()
    except NoPrivateFolder as error:
        raise OSError(str(error)) from error


def _engine_module(name: str) -> "Any":  # noqa: ANN401 - a module that is known at run time only
    """Return a module of the engine, which lives under a private name of its own."""
    load = _loader()
    if load is None:
        path = os.path.join(os.path.dirname(__file__), "python", "debuggee", "loader.py")
        loader: Any = type(sys)("_dapkit_debuggee.loader")
        loader.__file__ = path
        loader.__builtins__ = dict(vars(builtins))
        files = sys.modules["_frozen_importlib_external"]
        exec(files.SourceFileLoader("loader", path).get_code("loader"), vars(loader))  # noqa: S102 - our own file
        load = loader.start(loader)
    return load(name)


def _loader() -> "Callable[[str], Any] | None":
    """Return what loads modules of the engine, if there is one in this process: perhaps of a launcher."""
    try:
        return _codecs.lookup_error(HANDLE)  # type: ignore[return-value]  # no handler of errors, but ours
    except LookupError:
        return None
