"""Certificates of TLS for the way to a program, from `connect` and `listen` of `attach`."""

from pathlib import Path
from typing import TYPE_CHECKING

from dapkit.adapter import RequestFailed
from dapkit.python.adapter.configuration.arguments import ProgramAddress

if TYPE_CHECKING:
    import ssl


def client_context(place: ProgramAddress) -> "ssl.SSLContext | None":
    """Return the certificates that vouch for the program to connect to, if it speaks TLS.

    Raises:
        RequestFailed: the file cannot be read.

    """
    _need_none(place, "connect", "tlsCertificate", place.tls_certificate)
    if place.tls_authority is None:
        return None
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(Path(place.tls_authority).expanduser())
    except OSError as error:
        raise RequestFailed(f"tlsAuthority {place.tls_authority} cannot be read: {_why(error)}") from error
    return context


def server_context(place: ProgramAddress) -> "ssl.SSLContext | None":
    """Return the certificate that is shown to a connecting program, if TLS is used.

    Raises:
        RequestFailed: a file cannot be read, or they do not fit.

    """
    _need_none(place, "listen", "tlsAuthority", place.tls_authority)
    if place.tls_certificate is None:
        return None
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    key = None if place.tls_key is None else Path(place.tls_key).expanduser()
    try:
        context.load_cert_chain(Path(place.tls_certificate).expanduser(), key)
    except OSError as error:
        files = " and ".join(filter(None, (place.tls_certificate, place.tls_key)))
        raise RequestFailed(f"{files} cannot be used as tlsCertificate and tlsKey: {_why(error)}") from error
    return context


def _need_none(place: ProgramAddress, where: str, key: str, value: str | None) -> None:
    if value is not None:
        other = "listen" if where == "connect" else "connect"
        raise RequestFailed(f"{key} belongs to {other}, and {place.host}:{place.number} is for {where}")


def _why(error: OSError) -> str:
    import ssl

    reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
    return reason or "it holds no certificate"
