"""The socket by which a viewer gets at what a server has kept: for the own user, as long as the server lives."""

import socket
import stat
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.to_thread
import pytest

from dapkit.agent.results.diagnostics import WireRecords
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.wire_sources import ServerSource, WireReader, server, servers
from dapkit.hub import CallRefused
from dapkit.mcp.http_transport import wire_listener
from dapkit.redaction.redaction import Redaction
from dapkit.transport import WireBuffer, WireHead
from e2e.transport.strangers import fate_of_another_user

PLANTED = "hunter-22-tooth"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with TemporaryDirectory() as made:
        monkeypatch.setenv("DAPKIT_RUNTIME_DIR", made)
        yield Path(made)


def add(buffer: WireBuffer, text: str = "{}") -> None:
    buffer.add(text, sender="server", head=WireHead(kind="event", name="message"), channel="mcp 8123")


@asynccontextmanager
async def listening(buffer: WireBuffer, port: int = 8123) -> AsyncIterator[None]:
    async with wire_listener(buffer, port=port, redaction=Redaction(secrets=[PLANTED])):
        yield


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def open_to_others(folder: Path, path: Path) -> None:
    folder.chmod(0o755)
    path.chmod(0o666)


async def test_everything_that_is_kept_is_read_page_by_page_without_secrets() -> None:
    buffer = WireBuffer()
    for _ in range(1_100):
        add(buffer, f'{{"text":"{PLANTED}","more":"{"x" * 300}"}}')

    def read() -> list[WireRecords]:
        with WireReader(ServerSource(8123)) as reader:
            return list(reader.pages())

    async with listening(buffer):
        pages = await anyio.to_thread.run_sync(read)
    rows = [row for page in pages for row in page.records]
    assert [row.number for row in rows] == list(range(101, 1_101))
    assert len(pages) > 5
    assert (pages[-1].session, pages[-1].total, pages[-1].kept) == ("mcp 8123", 1_100, 1_000)
    assert all('"text":"[redacted]"' in row.text for row in rows)


async def test_follower_gets_what_comes_and_ends_with_the_server() -> None:
    buffer = WireBuffer()
    found, numbers = anyio.create_memory_object_stream[int](10)

    def follow() -> None:
        with WireReader(ServerSource(8123)) as reader:
            anyio.from_thread.run_sync(found.send_nowait, 0)
            for page in reader.pages(follow=True):
                for row in page.records:
                    anyio.from_thread.run_sync(found.send_nowait, row.number)

    async with anyio.create_task_group() as tasks, AsyncExitStack() as server_lives:
        await server_lives.enter_async_context(listening(buffer))
        tasks.start_soon(anyio.to_thread.run_sync, follow)
        assert await numbers.receive() == 0
        for count in (1, 2):
            add(buffer)
            assert await numbers.receive() == count
        await server_lives.aclose()  # else the task would not end
    found.close()
    numbers.close()


async def test_follower_is_ended_by_another_thread_at_once() -> None:
    reading = threading.Event()
    readers: list[WireReader] = []

    def follow() -> None:
        with WireReader(ServerSource(8123)) as reader:
            readers.append(reader)
            reading.set()
            for _ in reader.pages(follow=True):
                pass  # from time to time a page without any

    def interrupt() -> None:
        assert reading.wait(50)
        readers[0].interrupt()

    async with listening(WireBuffer()), anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, interrupt)
        await anyio.to_thread.run_sync(follow)


async def test_socket_is_for_the_user_alone_and_goes_with_the_server(folder: Path) -> None:
    async with listening(WireBuffer()):
        assert stat.S_IMODE((folder / "mcp-8123.sock").stat().st_mode) == 0o600
    assert names_in(folder) == []


@pytest.mark.usefixtures("root")
async def test_another_user_is_refused_even_where_the_folder_and_the_socket_are_open(folder: Path) -> None:
    async with listening(WireBuffer()):
        path = folder / "mcp-8123.sock"
        assert await anyio.to_thread.run_sync(fate_of_another_user, str(path)) == "PermissionError"
        open_to_others(folder, path)
        fate = await anyio.to_thread.run_sync(fate_of_another_user, str(path))
        assert fate in {"closed", "ConnectionResetError", "BrokenPipeError"}


async def test_servers_are_those_that_live_and_the_socket_of_a_dead_one_is_removed(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "mcp-8124.sock"))
    (folder / "mcp-x.sock").touch()
    assert await anyio.to_thread.run_sync(servers) == []
    async with listening(WireBuffer()), listening(WireBuffer(), 9000):
        assert await anyio.to_thread.run_sync(servers) == [ServerSource(8123), ServerSource(9000)]
        assert not (folder / "mcp-8124.sock").exists()
        with pytest.raises(DiagnosticsError, match="say which by its port, 8123, 9000") as refused:
            await anyio.to_thread.run_sync(server)
        assert refused.value.code == "invalid_arguments"
    assert names_in(folder) == ["mcp-x.sock"]


async def test_server_is_found_by_its_port_or_because_it_is_the_only_one() -> None:
    with pytest.raises(DiagnosticsError, match=r"No MCP server by HTTP runs") as refused:
        server()
    assert (refused.value.code, refused.value.hint) == ("not_running", "dapkit mcp --http starts one.")
    with pytest.raises(DiagnosticsError, match="No MCP server listens on port 8123"):
        WireReader(server(8123))
    async with listening(WireBuffer()):
        assert await anyio.to_thread.run_sync(server) == ServerSource(8123)


async def test_call_of_another_name_is_refused() -> None:
    def ask() -> None:
        with ServerSource(8123).connect() as connection:
            connection.ask({"call": "launch", "arguments": {}}, time.monotonic() + 50)

    async with listening(WireBuffer()):
        with pytest.raises(CallRefused, match="expected wire_records with a number as `after`, found launch"):
            await anyio.to_thread.run_sync(ask)


async def test_server_goes_on_where_no_socket_can_be_made(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "mcp-8123.sock").write_text("not a socket")
    async with listening(WireBuffer()):
        pass
    assert "events cannot be looked at" in caplog.text
    assert (folder / "mcp-8123.sock").read_text() == "not a socket"
