"""The viewer of a wire: it follows, it can be scrolled, filtered, copied and left, and a burst does not hold it up."""

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Self, override

import pytest
from textual.app import App
from textual.events import MouseScrollUp
from textual.pilot import Pilot
from textual.widgets import Input, Static

from dapkit.agent.results.diagnostics import WireRecords, WireRow
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where
from dapkit.diagnostics.wire_sources import ServerSource, SessionSource, WireSource
from dapkit.tui import wire_screen
from dapkit.tui.line_view import LineView
from dapkit.tui.wire_screen import WireMessageScreen, WireScreen, WireView


def event(number: int, name: str = "output", text: str = '{"body":{"n":1}}') -> WireRow:
    return WireRow(
        number=number, time=1.0, channel="", sender="adapter", kind="event", name=name, text=text, length=len(text)
    )


def request(number: int, seq: int) -> WireRow:
    return WireRow(
        number=number,
        time=1.0,
        channel="",
        sender="client",
        kind="request",
        name="threads",
        text="{}",
        length=2,
        seq=seq,
    )


def response(number: int, seq: int, *, success: bool) -> WireRow:
    return WireRow(
        number=number,
        time=1.25,
        channel="",
        sender="adapter",
        kind="response",
        name="threads",
        text='{"body":{"threads":[]}}',
        length=23,
        request_seq=seq,
        success=success,
    )


class Wires:
    """What the readers of this test read, by the title of the source."""

    def __init__(self) -> None:
        self.pages: dict[str, queue.SimpleQueue[WireRecords | DiagnosticsError | None]] = {}
        self.read = 0
        self.open = 0

    def of(self, title: str) -> "queue.SimpleQueue[WireRecords | DiagnosticsError | None]":
        return self.pages.setdefault(title, queue.SimpleQueue())

    def put(self, *rows: WireRow, over: bool = False, title: str = "session debug-1") -> None:
        total = rows[-1].number if rows else 0
        self.of(title).put(
            WireRecords(session="debug-1", over=over, records=[*rows], total=total, kept=total, characters=0)
        )


@pytest.fixture
def wires(monkeypatch: pytest.MonkeyPatch) -> Wires:
    wires = Wires()

    class Reader:
        def __init__(self, source: WireSource) -> None:
            self.pages_of = wires.of(source.title)

        def __enter__(self) -> Self:
            wires.open += 1
            return self

        def __exit__(self, *_: object) -> None:
            wires.open -= 1

        def interrupt(self) -> None:
            self.pages_of.put(None)

        def pages(self, *, follow: bool) -> Iterator[WireRecords]:
            assert follow
            while (page := self.pages_of.get(timeout=50)) is not None:
                if isinstance(page, DiagnosticsError):
                    raise page
                wires.read += 1
                yield page
                if page.over:
                    return

    monkeypatch.setattr(wire_screen, "WireReader", Reader)
    return wires


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is copied or printed, instead of having it in the clipboard of the user."""
    texts: list[str] = []

    def copy(_app: App[Any], text: str, what: str) -> str:
        texts.append(f"{what}\n{text}")
        return f"{what} copied."

    monkeypatch.setattr(wire_screen, "copy_text", copy)
    monkeypatch.setattr(wire_screen, "print_text", lambda _app, text: texts.append(f"printed\n{text}"))
    return texts


class Shown(App[None]):
    """Shows the viewer."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = WireScreen(Where("/project", "debug-1"))
        self.notices: list[str] = []

    def on_mount(self) -> None:
        self.push_screen(self.shown)

    @override
    def notify(self, message: str, **options: Any) -> None:
        """Note the message beside showing it."""
        self.notices.append(message)
        super().notify(message, **options)

    def text(self, name: str) -> str:
        """Return what a part of the screen shows; nothing, if it is hidden."""
        part = self.shown.query_one(f"#{name}", Static)
        return str(part.render()) if part.display else ""

    @property
    def view(self) -> LineView:
        return self.shown.query_one(WireView)

    def on_screen(self) -> list[str]:
        """Return the names and numbers of the messages that are drawn."""
        drawn = [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]
        return [line[13:] for line in drawn if line]


async def until(pilot: Pilot[Any], app: Shown, status: str) -> None:
    """Wait until the status line says something."""
    while status not in app.text("status"):
        await pilot.pause(0.01)


async def test_newest_message_is_followed_until_the_user_moves_up(wires: Wires) -> None:
    wires.put(*(event(number) for number in range(1, 101)))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "100 passed, 100 kept, 0 dropped | 1,600 characters | following")
        assert "  100 <- event output (16)" in app.on_screen()[-1]
        wires.put(event(101))
        await until(pilot, app, "101 passed")
        assert "  101 <-" in app.on_screen()[-1]
        await pilot.press("up", "up")
        await until(pilot, app, "not following: f follows")
        wires.put(event(102))
        await until(pilot, app, "102 passed")
        assert app.view.cursor == 98
        assert "  101 <-" in app.on_screen()[-1]
        await pilot.press("f")
        await until(pilot, app, "| following")
        assert "  102 <-" in app.on_screen()[-1]


async def test_wheel_moves_up_and_end_follows_again(wires: Wires) -> None:
    wires.put(*(event(number) for number in range(1, 101)))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "| following")
        await pilot._post_mouse_events([MouseScrollUp], WireView)
        await until(pilot, app, "not following")
        await pilot.press("end")
        await until(pilot, app, "| following")


async def test_burst_is_shown_and_what_is_dropped_is_counted(wires: Wires) -> None:
    for begin in range(1, 3_001, 100):
        wires.put(*(event(number) for number in range(begin, begin + 100)))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "3,000 passed, 1,000 kept, 2,000 dropped | 16,000 characters | following")
        assert " 3000 <-" in app.on_screen()[-1]


@pytest.mark.thorough
async def test_cursor_stays_at_its_message_while_older_ones_are_dropped(wires: Wires) -> None:
    wires.put(*(event(number) for number in range(1, 1_001)))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "1,000 passed")
        await pilot.press("up")
        wires.put(*(event(number) for number in range(1_001, 1_501)))
        await until(pilot, app, "1,500 passed, 1,000 kept, 500 dropped")
        assert app.view.cursor == 998 - 500


@pytest.mark.thorough
async def test_filter_by_text_while_it_is_typed(wires: Wires) -> None:
    wires.put(event(1, "stopped"), event(2), event(3, "stopped"))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "3 passed")
        await pilot.press("slash", *"stop")
        await until(pilot, app, "2 shown | with 'stop'")
        wires.put(event(4), event(5, "stopped"))
        await until(pilot, app, "3 shown | with 'stop'")
        await pilot.press("enter")
        assert app.focused is app.view
        await pilot.press("slash", "escape")
        await until(pilot, app, "5 passed")
        assert "shown" not in app.text("status")
        assert not app.shown.query_one(Input).display


async def test_kinds_are_gone_through(wires: Wires) -> None:
    wires.put(event(1), request(2, 7), response(3, 7, success=True), request(4, 8), response(5, 8, success=False))
    app = Shown()
    async with app.run_test(size=(120, 20)) as pilot:
        await until(pilot, app, "5 passed")
        for status, numbers in [
            ("2 shown | requests", [2, 4]),
            ("2 shown | responses", [3, 5]),
            ("1 shown | events", [1]),
            ("2 shown | failed", [4, 5]),
            ("| following", [1, 2, 3, 4, 5]),
        ]:
            await pilot.press("k")
            await until(pilot, app, status)
            assert [int(line.split()[0]) for line in app.on_screen()] == numbers
        assert "response threads #8 250.0 ms FAILED (23)" in app.on_screen()[-1]


@pytest.mark.thorough
async def test_message_is_shown_whole_with_its_pair_and_left_again(wires: Wires) -> None:
    long = "x" * 300
    wires.put(request(1, 7), response(2, 7, success=True), event(3, text=f'{{"a":"{long}"}}'))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "3 passed")
        await pilot.press("enter")
        await pilot.pause()
        assert [type(screen) for screen in app.screen_stack[1:]] == [WireScreen, WireMessageScreen]
        lines = [app.screen.query_one(LineView).render_line(y).text.rstrip() for y in range(8)]
        assert lines[0] == "{"
        assert "".join(lines[1:5]).strip() == f'"a": "{long}"'
        await pilot.press("q", "up", "enter")
        await pilot.pause()
        shown = app.screen.query_one(LineView)
        assert shown.render_line(0).text.rstrip() == "Request: number 1 before 250.0 ms"
        await pilot.press("escape", "escape")
        assert len(app.screen_stack) == 1


async def test_all_that_is_shown_or_one_is_copied_and_printed(wires: Wires, copied: list[str]) -> None:
    wires.put(event(1, "stopped"), event(2), event(3, "stopped"))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "3 passed")
        await pilot.press("slash", *"stop", "enter", "c", "y", "p")
    assert [text.partition("\n")[0] for text in copied] == ["2 messages", "1 message", "printed"]
    assert [text.count("<- event stopped") for text in copied] == [2, 1, 2]
    assert '"n": 1' in copied[0]


async def test_error_is_shown_and_reading_again_helps(wires: Wires) -> None:
    wires.of("session debug-1").put(DiagnosticsError("no_session", "There is no session.", "Start one."))
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "| over")
        assert app.text("note") == "There is no session.\nStart one."
        wires.put(event(1))
        await pilot.press("r")
        await until(pilot, app, "1 passed")
        assert app.text("note") == ""


async def test_no_message_is_a_message(wires: Wires) -> None:
    wires.put(over=True)
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "0 passed, 0 kept, 0 dropped | 0 characters | over")
        assert app.text("note") == "No message has passed yet."
        await pilot.press("enter", "c", "y", "p", "up", "f", "k")
        assert app.screen is app.shown


async def test_servers_are_shown_one_after_the_other(wires: Wires, monkeypatch: pytest.MonkeyPatch) -> None:
    found: Sequence[ServerSource] = [ServerSource(8123), ServerSource(9000)]
    monkeypatch.setattr(wire_screen, "servers", lambda: found)
    wires.put(event(1))
    wires.put(event(1), event(2), title="MCP server, port 8123")
    wires.put(event(1), event(2), event(3), title="MCP server, port 9000")
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        await until(pilot, app, "1 passed")
        await pilot.press("m")
        await until(pilot, app, "2 passed")
        assert app.text("title") == "raw-sse: MCP server, port 8123"
        await pilot.press("m")
        await until(pilot, app, "3 passed")
        wires.pages.pop("session debug-1")
        wires.put(event(1), event(2), event(3), event(4))
        await pilot.press("m")
        await until(pilot, app, "4 passed")
        assert app.text("title") == "raw-sse: session debug-1"


async def test_where_there_is_no_server_that_is_said(wires: Wires, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_screen, "servers", list)
    wires.put(event(1))
    app = Shown()
    async with app.run_test(size=(100, 20), notifications=True) as pilot:
        await until(pilot, app, "1 passed")
        await pilot.press("m")
        await pilot.pause()
        while not app.notices:
            await pilot.pause(0.01)
        assert app.notices == ["No MCP server by HTTP runs: dapkit mcp --http starts one."]
        assert app.shown._follower.source == SessionSource(Where("/project", "debug-1"))


async def test_screen_is_left_at_once_while_its_thread_waits(wires: Wires) -> None:
    app = Shown()
    async with app.run_test(size=(100, 20)) as pilot:
        while not wires.open:
            await pilot.pause(0.01)
        await pilot.press("q")
        assert app.screen is not app.shown
        await pilot.app.workers.wait_for_complete()
        assert wires.open == 0


async def test_no_more_is_read_than_the_screen_takes(wires: Wires) -> None:
    for number in range(1, 6):
        wires.put(event(number))
    pages: list[int] = []
    second = threading.Event()

    def take(follower: wire_screen.WireFollower, page: WireRecords) -> None:
        pages.append(page.total)
        if page.total == 1:
            follower.taken()
        else:
            second.set()

    follower = wire_screen.WireFollower(
        SessionSource(Where("/project", "debug-1")),
        take=take,
        ended=lambda _follower, _error: None,
    )
    thread = threading.Thread(target=follower.run)
    thread.start()
    assert second.wait(50)
    assert pages == [1, 2]
    assert wires.read == 2
    follower.leave()
    thread.join(50)
    assert not thread.is_alive()
