"""Sessions of children for clients of debugpy that do not know `startDebugging`: an event of debugpy's asks them.

The event `debugpyAttach` has a configuration with a port of dapkit. Such a client connects there and sends the
configuration in `attach`, as it is. It knows nothing of our tokens, so the configuration has one, and until it has come
the adapter at that port does nothing but `initialize`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from anyio.abc import ByteStream

from dapkit.protocol import InitializeRequestArguments
from dapkit.transport import listen_tcp_unproven, new_token

EVENT = "debugpyAttach"
TOKEN_KEY = "adapterAccessToken"  # noqa: S105 - the name of a key
_NAMES = frozenset(("debugpy", "python"))


class Invitations:
    """Further keys in the configurations of children, so that such a client connects to dapkit.

    Attributes:
        keys: port and token.

    """

    def __init__(self, port: int, token: str) -> None:
        self.keys: dict[str, object] = {"connect": {"host": "127.0.0.1", "port": port}, TOKEN_KEY: token}


def expects_event(client: InitializeRequestArguments, kind: object) -> bool:
    """Say whether a client is one of debugpy's, by its own name of the adapter, or by the type of its configuration."""
    return not client.supports_start_debugging_request and (client.adapter_id in _NAMES or kind in _NAMES)


def is_token(value: object, token: str) -> bool:
    """Return whether that is the token."""
    import hmac

    return isinstance(value, str) and hmac.compare_digest(value.encode(), token.encode())


@asynccontextmanager
async def inviting(serve: Callable[[ByteStream, str], Awaitable[None]]) -> AsyncIterator[Invitations]:
    """Listen for such clients; `serve` has to see the token before it does anything."""
    token = new_token()

    async def take(stream: ByteStream) -> None:
        await serve(stream, token)

    async with listen_tcp_unproven(take) as port:
        yield Invitations(port, token)
