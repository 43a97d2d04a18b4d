"""The ways to open a session, by where its adapter is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self, TypedDict, Unpack

from anyio.abc import ByteStream

from dapkit.client.breakpoints import Breakpoints
from dapkit.client.listening import Listener
from dapkit.client.reverse import Adopts
from dapkit.client.routes import Given, Listening, Route, Spawned, Tcp, Unix


class Options(TypedDict, total=False):
    """What every way of opening a session takes."""

    adapter_id: str
    """Name of the adapter that it is told in `initialize`; some want to read their own."""
    transcript: Path | None
    """File for all messages, as `dapkit.transport.Recorder` writes it; children get files beside it."""
    breakpoints: Breakpoints | None
    """What is wanted from the start, such as another session's `breakpoints_for_another()`."""
    adopts: Adopts
    """Says whether a child session is wanted; all are, unless it says otherwise."""
    program_input: Path | None
    """File that programs in terminals read instead of what is typed; children read what their parents leave."""
    listener: Listener | None
    """Told at once of all that happens in this session and in its children."""


class Opening:
    """The part of a session that is there before it is open: constructors."""

    def __init__(self, route: Route, **options: Unpack[Options]) -> None:
        """Take any route; the other constructors take the usual ones."""

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Session with an adapter that is started and speaks on its stdin and stdout."""
        return cls(Spawned(argv, cwd, env), **options)

    @classmethod
    def spawn_listening(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Session with an adapter that is started and speaks on a socket.

        Its command says where, by `${port}`, `${socket}` or, if it connects to us, `${callback}`.
        """
        return cls(Listening(argv, cwd, env), **options)

    @classmethod
    def connect(cls, host: str, port: int, **options: Unpack[Options]) -> Self:
        """Session with an adapter that listens on a TCP port."""
        return cls(Tcp(host, port), **options)

    @classmethod
    def connect_unix(cls, path: Path, **options: Unpack[Options]) -> Self:
        """Session with an adapter that listens on a unix socket."""
        return cls(Unix(path), **options)

    @classmethod
    def over(cls, stream: ByteStream, **options: Unpack[Options]) -> Self:
        """Session over a stream that the session closes."""
        return cls(Given(stream), **options)
