"""The link: what its thread sends of what others have left to it."""

import socket
import threading
import time

import pytest

from dapkit.python.debuggee.connection import link as link_module
from dapkit.python.debuggee.connection.framing import FrameReader, Json
from dapkit.python.debuggee.connection.link import Link
from dapkit.python.debuggee.interpreter import limits


def received(peer: socket.socket, count: int) -> list[Json]:
    """Return the bodies of the first events that come."""
    reader, messages = FrameReader(), list[Json]()
    while len(messages) < count:
        messages += reader.feed(peer.recv(1 << 16))
    return [message["body"] for message in messages]  # type: ignore[misc]  # of events


class TakenMeanwhile(str):
    """A text during whose measuring the client takes what was sent before."""

    __slots__ = ("link",)
    link: Link

    def __len__(self) -> int:
        self.link.note_taken(limits.REMARKED_CHARS + 1)
        return super().__len__()


def test_program_does_not_wait_for_what_was_taken_while_another_remark_was_added() -> None:
    ours, theirs = socket.socketpair()
    link = Link(ours)
    with theirs:
        link.remark("x" * (limits.REMARKED_CHARS + 1), {})
        text = TakenMeanwhile("y")
        text.link = link
        link.remark(text, {})
        looks = iter([False, True])  # what is due else, so that the wait ends
        link.wait_for_room(lambda: next(looks))
        assert list(looks) == [False, True]
    link.discard()


@pytest.mark.parametrize("quiet", [False, True], ids=["looks around", "is quiet"])
@pytest.mark.parametrize("seconds", [limits.REMARK_TURN_SECONDS, 0.0])
def test_link_thread_sends_messages_that_nobody_else_sends(
    monkeypatch: pytest.MonkeyPatch, quiet: bool, seconds: float
) -> None:
    monkeypatch.setattr(limits, "REMARK_TURN_SECONDS", seconds)
    ours, theirs = socket.socketpair()
    link = Link(ours)
    if quiet:
        link.be_quiet(lambda: None)
    thread = threading.Thread(target=link.serve, args=(lambda _: None,))
    thread.start()
    with theirs:
        texts = ["at once\n", "waits\n", "waits\n"]
        for text in texts:
            link.remark(text, {})
        theirs.settimeout(60)
        assert received(theirs, 3) == [{"output": text} for text in texts]
    thread.join()
    link.discard()


def test_messages_that_wait_are_sent_before_the_link_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "REMARK_TURN_SECONDS", float("inf"))
    ours, theirs = socket.socketpair()
    link = Link(ours)
    thread = threading.Thread(target=link.serve, args=(lambda _: None,))
    thread.start()
    with theirs:
        for text in ("at once\n", "waits\n"):
            link.remark(text, {})
        link.rest()
        thread.join()
        theirs.settimeout(60)
        assert received(theirs, 2) == [{"output": "at once\n"}, {"output": "waits\n"}]
    link.discard()


def test_link_thread_is_waked_again_when_another_thread_had_sent_what_it_was_waked_for() -> None:
    ours, theirs = socket.socketpair()
    link = Link(ours)
    link.remark("at once\n", {})
    link.remark("sent by another\n", {})
    link.flush()
    thread = threading.Thread(target=link.serve, args=(lambda _: None,))
    thread.start()
    waked = threading.Event()
    link.soon(waked.set)
    waked.wait(60)
    link.remark("a piece", {})  # of a line, which waits for the rest however late it is
    with theirs:
        theirs.settimeout(60)
        assert [body["output"] for body in received(theirs, 3)] == ["at once\n", "sent by another\n", "a piece"]
    thread.join()
    link.discard()


def at_a_port() -> tuple[socket.socket, socket.socket]:
    """Return a socket with room for all that it sends, and its other end with little room."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        theirs = socket.socket()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        theirs.connect(listening.getsockname())
        ours, _ = listening.accept()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
    return ours, theirs


def test_last_messages_reach_a_debugger_at_a_port_whose_own_were_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LAST_DATA_SECONDS", 60.0)
    ours, theirs = at_a_port()
    link = Link(ours)
    text = "x" * 200_000

    def end() -> None:
        link.event("output", {"output": text})
        link.event("exited", {"exitCode": 0})
        link.close()
        link.discard()

    with theirs:
        theirs.settimeout(60)
        theirs.sendall(b"never read")
        thread = threading.Thread(target=end)
        thread.start()
        until = time.monotonic() + 60
        while not link.closed and time.monotonic() < until:
            time.sleep(0.01)
        thread.join(0.2)  # without a wait for the reader it has closed the socket by now
        assert received(theirs, 2) == [{"output": text}, {"exitCode": 0}]
        assert theirs.recv(1) == b""
    thread.join()


class AlwaysReady:
    """Says that there is data, which another thread has read meanwhile."""

    def poll(self, _milliseconds: float) -> list[tuple[int, int]]:
        return [(0, 0)]


def test_end_does_not_wait_for_data_that_another_thread_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LAST_DATA_SECONDS", 0.1)
    monkeypatch.setattr(link_module, "_poll_of", lambda _places: AlwaysReady())
    ours, theirs = at_a_port()
    link = Link(ours)
    with theirs:
        thread = threading.Thread(target=link.close, daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
    link.discard()
