"""Addresses and tokens by which clients and programs connect, from the calls in a program and its command line."""

import os

type Address = int | tuple[str, int] | str | os.PathLike[str]
"""A port of this machine, host and port, or the path of a unix socket."""
type SocketAddress = tuple[str, int] | str
"""Host and port, or the path of a unix socket."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def place_of(address: Address) -> SocketAddress:
    """Return the place that an address means.

    Raises:
        ValueError: the text is not a port.

    """
    match address:
        case int():
            return "127.0.0.1", address
        case (str(host), int(port)):
            return host, port
        case str() | os.PathLike():
            return os.fspath(address)
    raise ValueError(f"{address!r} is not an address: expected a port, (host, port), or the path of a unix socket")


def check_token_options(token: str | None, token_file: str | os.PathLike[str] | None) -> None:
    """Refuse an empty token, and two tokens.

    Raises:
        ValueError: it is one of these.

    """
    if token == "":
        raise ValueError("the token is empty")
    if token is not None and token_file is not None:
        raise ValueError("token and token_file say the same: give one of them")


def need_own_path(path: str, *, has_token: bool) -> None:
    """Refuse a path for a unix socket in whose place a stranger could put another, for clients to connect to.

    Raises:
        ValueError: other users could connect, or a token is given where none is asked for.

    """
    from dapkit.system.trusted_files import objection_to

    if has_token:
        raise ValueError("a unix socket asks for no token: the system reports whose process connects")
    if (objection := objection_to(os.path.dirname(os.path.abspath(path)))) is not None:
        raise ValueError(f"others could take the place of a socket at {path}: {objection}")


def certificate_files(
    certificate: str | os.PathLike[str] | None, key: str | os.PathLike[str] | None, place: SocketAddress
) -> tuple[str, str | None] | None:
    """Return the files of a certificate and of its key, if that is in another; None without TLS.

    Raises:
        ValueError: there is a key alone, or TLS for a unix socket.

    """
    if certificate is None:
        if key is not None:
            raise ValueError("tls_key is of no use without tls_certificate")
        return None
    if isinstance(place, str):
        raise ValueError("a unix socket needs no TLS: it does not leave the machine")  # noqa: TRY004 - the two together
    return os.path.abspath(certificate), None if key is None else os.path.abspath(key)


def private_folder() -> str:
    """Return the folder for sockets and tokens.

    Raises:
        OSError: there is no such file.

    """
    from dapkit.system import runtime_folder

    try:
        return runtime_folder.private_folder()
    except runtime_folder.NoPrivateFolder as error:
        raise OSError(str(error)) from error


def folder_for_family() -> str:
    """Return the folder for the sockets of a program's children, "" where no folder can hold them."""
    try:
        return private_folder()
    except OSError:
        return ""


def folders_with_tokens(place: SocketAddress) -> list[str]:
    """Return the folders where a debugger of our own user may have left the token of a place."""
    if isinstance(place, str) or place[0] not in _LOOPBACK:
        return []
    from dapkit.system.runtime_folder import private_folders

    return list(private_folders())
