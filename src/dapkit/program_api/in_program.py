"""Calls of a program to its debugger: listen for a client, wait for it, stop here.

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
    from typing import Any, TextIO  # takes milliseconds

    from dapkit.program_api.addresses import Address
    from dapkit.program_api.command_line import CliOptions

HANDLE = "dapkit.engine"
"""The name by which the interpreter's table of error handlers knows the engine: nothing of it is in `sys.modules`."""


def listen(
    address: "Address" = ("127.0.0.1", 0),
    *,
    token: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    allow_remote: bool = False,
    tls_certificate: str | os.PathLike[str] | None = None,
    tls_key: str | os.PathLike[str] | None = None,
    in_process_debug_adapter: bool = False,  # noqa: ARG001 - for calls that were written for debugpy
) -> tuple[str, int] | str:
    """Let clients attach from now on, one at a time; return where. The program continues at once.

    Args:
        address: where to listen; port 0 leaves the choice to the system.
        token: the secret that clients of a port must know. Missing: one is made and left in a file that only our own
            user can read, where clients find it; it is named on stderr. It is proved and never sent; still, a token
            that can be guessed protects nothing. A unix socket needs none, since the system reports whose process
            connects.
        token_file: a file that has the token.
        allow_remote: whether the address may be one that other machines can reach.
        tls_certificate: file of the certificate that clients are shown, for a port that speaks TLS.
        tls_key: file of its key, if that is not in the same one.
        in_process_debug_adapter: debugpy's; changes nothing, since no process is started for the program in any case.

    Raises:
        RuntimeError: the program listens or is debugged already.
        ValueError: the address is not private, or the token not fit.
        OSError: the address cannot be listened on, or no folder can hold the token.

    """
    _need_support()
    _engine_module("connection.current_engine").need_no_launcher()
    from dapkit.program_api import addresses

    addresses.check_token_options(token, token_file)
    place, folder = addresses.place_of(address), addresses.folder_for_family()
    if token_file is not None:
        token = _engine_module("connection.tokens").read(os.fspath(token_file))
    if isinstance(place, str):
        addresses.need_own_path(place, has_token=token is not None)
    elif token is None:
        folder = addresses.private_folder()
    where: tuple[str, int] | str = _engine_module("starting.attachable").listen(
        place,
        token=token,
        folder=folder,
        allow_remote=allow_remote,
        certificate=addresses.certificate_files(tls_certificate, tls_key, place),
    )
    return where


def listen_in_private(name: str) -> str:
    """Listen on a unix socket in the private folder, without a word; return its path.

    This is for parts of dapkit that run inside a program and bring its client themselves.

    Raises:
        RuntimeError: the program listens or is debugged already.
        OSError: no folder can hold the socket.

    """
    _need_support()
    _engine_module("connection.current_engine").need_no_launcher()
    from dapkit.program_api.addresses import private_folder

    place = os.path.join(private_folder(), name)
    where: str = _engine_module("starting.attachable").listen(
        place, token=None, folder="", allow_remote=False, announce=False
    )
    return where


def look_into(names: "dict[str, Any]") -> "Any":  # noqa: ANN401 - of a module that is known at run time only
    """Return a view of a running program's variables, as `variables` shows those of a stopped one."""
    return _engine_module("values.inspection").Inspection(names)


def connect(
    address: "Address",
    *,
    token: str | None = None,
    token_file: str | os.PathLike[str] | None = None,
    tls_authority: str | os.PathLike[str] | None = None,
    access_token: str | None = None,
    parent_session_pid: int | None = None,  # noqa: ARG001 - for calls that were written for debugpy
) -> tuple[str, int] | str:
    """Connect to a debugger that waits for this program (`attach` with `listen`), until it has set its breakpoints.

    The token is looked for where a debugger of our own user on this machine has left it, unless it is given. Returns
    where the debugger is.

    Args:
        address: where the debugger listens.
        token: the token of its port.
        token_file: a file that has the token.
        tls_authority: a file of certificates that vouch for the debugger's, for a port that speaks TLS.
        access_token: debugpy's name for `token`.
        parent_session_pid: debugpy's; changes nothing, since each program that connects has a session of its own.

    Raises:
        RuntimeError: the program listens or is debugged already, the debugger does not know the token, or it left
            before it had configured its session.
        OSError: no debugger listens there.

    """
    _need_support()
    _engine_module("connection.current_engine").need_no_launcher()
    from dapkit.program_api import addresses

    token = access_token if token is None else token
    addresses.check_token_options(token, token_file)
    place = addresses.place_of(address)
    tokens = _engine_module("connection.tokens")
    if token_file is not None:
        token = tokens.read(os.fspath(token_file))
    elif token is None and not isinstance(place, str):
        token = tokens.find(place, addresses.folders_with_tokens(place))
    authority = None if tls_authority is None else os.fspath(tls_authority)
    _engine_module("starting.attachable").connect(place, token, authority=authority)
    return place


class _Wait:
    """The type of `wait_for_client`: a function with another function as attribute."""

    def __call__(self) -> None:
        """Wait until a client is attached and has set its breakpoints; at once if one is.

        Another thread can end it by `wait_for_client.cancel()`; it returns then, as if a client had come.

        Raises:
            RuntimeError: no client can attach, since the program does not listen.

        """
        _engine_module("connection.current_engine").wait()

    @staticmethod
    def cancel() -> None:
        """Release all threads that wait for a client."""
        load = _loader()
        if load is not None:
            load("connection.current_engine").stop_waiting()


wait_for_client = _Wait()
"""Wait until a client is attached and has set its breakpoints; `wait_for_client.cancel()` ends that."""


def is_client_connected() -> bool:
    """Return whether a client is attached."""
    load = _loader()
    return load is not None and bool(load("connection.current_engine").is_debugged())


def breakpoint() -> None:
    """Stop here, in the caller, if a client is attached. `PYTHONBREAKPOINT=dapkit.breakpoint` is for this."""
    load = _loader()
    if load is not None:
        load("connection.current_engine").stop_in(sys._getframe(1))  # noqa: SLF001 - the documented way


def post_mortem(exception: BaseException | None = None, /) -> bool:
    """Stop here, in the caller, at an exception that was caught: the client sees the frames that it came from.

    Their variables can be examined as at an uncaught exception; the program then continues here, whatever the client's
    exception breakpoints are.

    Args:
        exception: the one to show; missing: the one that is being handled.

    Returns:
        Whether a client was there to be shown it; else nothing has happened.

    Raises:
        ValueError: there is no exception.

    """
    error = sys.exception() if exception is None else exception
    if not isinstance(error, BaseException):
        raise ValueError(  # noqa: TRY004 - there may be none to begin with
            f"{error!r} is not an exception: call it in an except block, or hand one over"
        )
    load = _loader()
    return load is not None and bool(
        load("connection.current_engine").post_mortem(error, sys._getframe(1), as_uncaught=False)  # noqa: SLF001 - as above
    )


def trigger_exception_handler(
    excinfo: "tuple[object, object, object] | BaseException | None" = None,
    as_uncaught: bool = True,
) -> None:
    """Do the same as `post_mortem`, with debugpy's signature.

    Args:
        excinfo: an exception, or the result of `sys.exc_info()`; by default the exception being handled, if any.
        as_uncaught: whether to stop only if the client wants to stop at this exception when it is uncaught.

    Raises:
        ValueError: `excinfo` is neither of these.

    """
    error = sys.exception() if excinfo is None else excinfo[1] if isinstance(excinfo, tuple) else excinfo
    if error is not None and not isinstance(error, BaseException):
        raise ValueError(f"{excinfo!r} is neither an exception nor the result of sys.exc_info()")
    load = _loader()
    if load is not None and error is not None:
        load("connection.current_engine").post_mortem(error, sys._getframe(1), as_uncaught=as_uncaught)  # noqa: SLF001 - as above


def debug_this_thread() -> None:
    """Do nothing but undo `trace_this_thread(False)`: threads that native code has made are debugged as all others."""
    trace_this_thread(True)  # noqa: FBT003 - its only parameter


def trace_this_thread(should_trace: bool, /) -> None:
    """Exclude the calling thread from all stops, its own and those of other threads, until it is called again.

    Nothing runs faster by it: code without breakpoints runs at full speed anyway.
    """
    load = _loader()
    if load is not None or not should_trace:
        _engine_module("connection.current_engine").trace(should_trace)


def configure(properties: "dict[str, Any] | None" = None, /, **more: object) -> None:
    """Set options that the client cannot give in `attach`, by debugpy's names, before `listen` or `connect`.

    Args:
        properties: by name. `subProcess`: whether processes that the program starts are debugged as well. `qt`,
            `python`, `pythonEnv`: accepted, and without a meaning here.
        more: the same by keywords.

    Raises:
        ValueError: a property is unknown, or cannot have this value.

    """
    from dapkit.program_api.command_line import configured

    config = _engine_module("connection.current_engine").config
    for name, value in {**(properties or {}), **more}.items():
        configured(config, name, value)


def log_to(path: "str | os.PathLike[str] | TextIO", /) -> None:
    """Write the debugger's log to a file, to a file in a folder, or to stderr (`sys.stderr`).

    Raises:
        RuntimeError: the debugger is loaded already; this must be called before `listen` and `connect`.
        ValueError: it is neither of these.

    """
    loader = _engine_module("loader")
    if any(name == f"{loader.PACKAGE}.interpreter.log" for name, _ in loader.modules()):
        raise RuntimeError("logging has already begun: call dapkit.log_to() before any other function of dapkit")
    if path is sys.stderr:
        loader.log_file = "-"
    elif isinstance(path, str | os.PathLike):
        from dapkit.program_api.start_plan import log_file_in

        loader.log_file = log_file_in(os.fspath(path), os.getpid())
    else:
        raise ValueError(f"{path!r} is not a file, a folder or sys.stderr")


def get_cli_options() -> "CliOptions | None":
    """Return the options with which `python -m dapkit` or DAPKIT started this program; None otherwise."""
    load = _loader()
    startup_options = None if load is None else load("connection.current_engine").said
    if startup_options is None:
        return None
    from dapkit.program_api.command_line import CliOptions

    options = CliOptions()
    vars(options).update(startup_options)
    return options


def begin(words: str) -> None:
    """Carry out the switches of the variable DAPKIT.

    Raises:
        ValueError, OSError, RuntimeError: it cannot be.

    """
    from dapkit.program_api.command_line import read_variable
    from dapkit.program_api.start_plan import start_plan

    _need_support()
    beginning = start_plan(read_variable(words))
    _engine_module("loader").log_file = beginning["log"]
    startup = _engine_module("starting.startup")
    try:
        startup.begin(beginning)
    except OSError as error:
        raise OSError(startup.explain(error, beginning)) from error


def _need_support() -> None:
    from dapkit.system.platform_support import unsupported

    if (reason := unsupported()) is not None:
        raise RuntimeError(reason)


def _engine_module(name: str) -> "Any":  # noqa: ANN401 - a module that is known at run time only
    """Return a module of the engine, which lives under a private name of its own."""
    load = _loader()
    if load is None:
        path = os.path.join(os.path.dirname(os.path.dirname(__file__)), "python", "debuggee", "loader.py")
        loader: Any = type(sys)("_dapkit_debuggee.loader")
        loader.__file__ = path
        loader.__builtins__ = dict(vars(builtins))
        files = sys.modules["_frozen_importlib_external"]
        exec(files.SourceFileLoader("loader", path).get_code("loader"), vars(loader))  # noqa: S102 - our own file
        load = loader.start(loader)
    return load(name)


def _loader() -> "Callable[[str], Any] | None":
    """Return the loader of the engine's modules, if this process has one, perhaps from a launcher."""
    try:
        return _codecs.lookup_error(HANDLE)  # type: ignore[return-value]  # no handler of errors, but ours
    except LookupError:
        return None
