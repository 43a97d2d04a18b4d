"""Who gets in by HTTP: requests that bring the token. Connections without one are few, and last a short time.

A connection that has shown no token is closed after `limits.TOKEN_SECONDS`, or earlier if
`limits.UNADMITTED_CONNECTIONS` others have connected since, so that silent or half-open connections keep no client out.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from dapkit import limits

type AsgiScope = MutableMapping[str, Any]
type AsgiReceive = Callable[[], Awaitable[MutableMapping[str, Any]]]
type AsgiSend = Callable[[MutableMapping[str, Any]], Awaitable[None]]
type AsgiApplication = Callable[[AsgiScope, AsgiReceive, AsgiSend], Awaitable[None]]


class HttpAdmission:
    """Lets requests with a token through, and counts the connections that have sent none.

    Invariant: at most `limits.UNADMITTED_CONNECTIONS` are in `_waiting`, the oldest first, each with its deadline.
    """

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()
        self._waiting: dict[tuple[str, int], tuple[asyncio.Transport, asyncio.TimerHandle]] = {}

    def gated(self, application: AsgiApplication) -> AsgiApplication:
        """Put an application behind the token."""

        async def admit(scope: AsgiScope, receive: AsgiReceive, send: AsgiSend) -> None:
            authorization = dict(scope.get("headers", ())).get(b"authorization", b"")
            if scope["type"] == "lifespan":
                await application(scope, receive, send)
            elif hmac.compare_digest(authorization, self._expected):
                self._forget(scope["client"])
                await application(scope, receive, send)
            else:
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                text = b"this server wants its token: Authorization: Bearer ..."
                await send({"type": "http.response.body", "body": text})

        return admit

    def protocol(self) -> type[H11Protocol]:
        """Return the protocol of connections, which reports them here."""
        admission = self

        class CountedProtocol(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as the base
                super().connection_made(transport)
                if self.client is not None:
                    admission._wait(self.client, transport)

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                if self.client is not None:
                    admission._forget(self.client)

        return CountedProtocol

    def _wait(self, peer: tuple[str, int], transport: asyncio.Transport) -> None:
        if len(self._waiting) >= limits.UNADMITTED_CONNECTIONS:
            self._dismiss(next(iter(self._waiting)))
        deadline = asyncio.get_running_loop().call_later(limits.TOKEN_SECONDS, self._dismiss, peer)
        self._waiting[peer] = transport, deadline

    def _dismiss(self, peer: tuple[str, int]) -> None:
        transport, _ = self._waiting[peer]
        self._forget(peer)
        transport.abort()

    def _forget(self, peer: tuple[str, int]) -> None:
        if peer in self._waiting:
            _, deadline = self._waiting.pop(peer)
            deadline.cancel()
