"""An end of TLS."""

import gc
from pathlib import Path

import pytest

from dapkit.python.debuggee.connection.tls import Tls, client_context, server_context
from dapkit.python.debuggee.interpreter import native

CERTIFICATES = Path(__file__).parents[3] / "e2e" / "python" / "certificates"
SHOWN, KEY = (str(CERTIFICATES / name) for name in ("certificate.pem", "key.pem"))


def ends() -> tuple[Tls, Tls]:
    """Return the end that serves, and the one that has connected to it."""
    serving = Tls(server_context(SHOWN, KEY), serves=True)
    connecting = Tls(client_context(SHOWN), serves=False, host="localhost")
    serving.take(connecting.begin())
    while not serving.is_open:
        connecting.take(serving.outgoing())
        serving.take(connecting.outgoing())
    return serving, connecting


@pytest.mark.skipif(not native.AVAILABLE, reason="without the native part, all is listed")
def test_gc_lists_nothing_of_it() -> None:
    before = set(map(id, gc.get_objects()))
    kept = ends()
    listed = [each for each in gc.get_objects() if type(each).__module__ in {"_ssl", Tls.__module__}]
    assert [each for each in listed if id(each) not in before] == []
    del kept
