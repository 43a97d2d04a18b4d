"""The one connection to the adapter, and the one thread that serves it.

The link's thread reads requests and keeps deadlines; it never runs code of the
program, so it always answers. Any thread may send. `requests.dispatch` handles the requests; the caller of `serve`
decides the consequences when the other end goes away.
"""

import _queue
import _socket
import _thread
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from types import MappingProxyType

from ..interpreter import limits
from ..interpreter.errors import MalformedFrame
from ..interpreter.gc_pause import gc_pause
from ..interpreter.hidden_frames import hidden_frame
from ..interpreter.native import uncount_calls
from ..interpreter.thread_checks import (
    enter_link_thread,
    in_link_thread,
    is_owned,
    leave_link_thread,
    let_go,
    off_link_thread,
)
from ..system import (
    NO_SIGNAL,
    READABLE,
    Poll,
    native_wait,
    new_poll,
    ready_places,
    send_wake,
    take_wakes,
    wake_pair,
    without_signal,
)
from . import local_socket
from .descriptor import OwnDescriptor
from .framing import FrameReader, Json, encode
from .internal_errors import InternalErrors
from .output_marks import Message, OutputMarks, position_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .listener import Protection


# Log messages that wait to be sent, joined where they are many and come from the same place.
#
# A loop logs faster than single events can be sent and shown. Messages in quick succession wait here for a moment, for
# others; `link` decides when they are sent, and that nothing overtakes them.


class OutputQueue:
    """Messages in the order in which they came.

    Any thread may add to `messages`; one at a time may take.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def __bool__(self) -> bool:
        return bool(self.messages)

    def take(self) -> list[Json]:
        """Take those that wait by now, as bodies of events."""
        batch = self.messages[:]
        del self.messages[: len(batch)]  # others may go on adding
        # An editor shows the place of an event beside its first line alone; in a flood the user follows no single
        # place.
        are_few = len(batch) <= limits.REMARKS_APART
        joined: list[list[Message]] = []
        size = 0
        last: Message | None = None
        for message in batch:
            is_apart = are_few and last is not None and last[0].endswith("\n")
            if last is None or message[1] != last[1] or size > limits.REMARK_CHARS or is_apart:
                joined.append([])
                size = 0
            joined[-1].append(message)
            size += len(message[0])
            last = message
        return [{**messages[0][1], "output": _output_of(messages)} for messages in joined]


def _output_of(messages: list[Message]) -> str:
    """Join texts; texts without output of the program between them have one position, the position of the last."""
    parts: list[str] = []
    texts: list[str] = []
    last = messages[0]
    for message in messages:
        if message[3:] != last[3:]:
            parts += position_of(*last[2:]), *texts
            texts = []
        texts.append(message[0])
        last = message
    return "".join((*parts, position_of(*last[2:]), *texts))


_NO_FRAME = b"\r\n\r\n"
_FOR_EVER = -1
"""To `poll`, which says so."""
_NEVER = float("inf")


def connect(address: str) -> _socket.socket:
    """Make the socket for an address of the command line, `unix:PATH`.

    Raises:
        ValueError: if the address is of no known kind.
        OSError: if no process listens there.

    """
    kind, _, place = address.partition(":")
    if kind != "unix" or not place:
        raise ValueError(f"--link is {address!r}, expected unix:PATH")
    return local_socket.connect(place)


class Link:
    """A stream of messages to and from the adapter.

    Invariant: a frame is sent whole or the link is closed; frames of several threads never mix.
    While a remark waits, a byte in the pipe `_wake` tells the link's thread of it. A descriptor is used only after a
    look whether it is still ours.

    Attributes:
        closed: whether nothing can be sent or received any more.
        is_lost: whether the adapter is gone, or broke the protocol.
        is_cut: whether the program has closed our descriptors; the adapter may still be there.
        working: held by the link's thread while it does something, and not while it waits.

    """

    def __init__(self, connection: _socket.socket, early: bytes = b"", protection: "Protection | None" = None) -> None:
        """Take a connection, the data that its other end has already sent, and the local end of TLS if it is used."""
        self._protection = protection
        self._end = OwnDescriptor(connection.detach())
        self._connection = self._end.socket()
        without_signal(self._connection)
        self.working = _thread.allocate_lock()
        self._sending = _thread.RLock()  # it knows whether this very thread holds it; nothing is sent twice at once
        self._seq = 0
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._reader = FrameReader()
        self._waked, self._wake = map(OwnDescriptor, wake_pair())
        self._resting = False
        self._early = early
        self._remarks = OutputQueue()
        self.marks = OutputMarks()
        """Of the places in the program's output that remarks belong to."""
        self._remarked = float("-inf")  # when remarks were last sent
        # Characters of remarks: added by any thread, and taken by the client, which only the link's thread counts. Two
        # threads that add at once may lose some; a lost take would have the program wait for good.
        self._added = self._taken = 0
        self._told_of_remarks = False
        self._remarks_due = _NEVER
        """When the link's thread sends the remarks that wait then."""
        self._soon: _queue.SimpleQueue[Callable[[], None]] = _queue.SimpleQueue()
        self._after_turn: Callable[[], None] | None = None
        self.closed = False
        self.is_lost = False
        self.is_detached = False
        self.errors = InternalErrors(self.event)
        """Takes errors of the engine, in whichever thread."""

    @property
    def number(self) -> int:
        """The lowest of our descriptors."""
        return min(self._end.number, self._waked.number, self._wake.number)

    def event(self, name: str, body: Json) -> None:
        """Send an event."""
        self._send({"seq": 0, "type": "event", "event": name, "body": body})

    def remark(self, text: str, place: Json) -> None:
        """Send an `output` event with other fields as in `place`: at once, or within moments if there were others.

        Nothing that is sent later overtakes it.
        """
        self._added += len(text)
        waiting = self.marks.add(self._remarks.messages, text, place)
        # In a signal handler this thread may be in the midst of sending something else.
        inside = self._is_sending()
        # An incomplete line waits for its end: `print` writes the end separately.
        is_late = text.endswith("\n") and monotonic() > self._remarked + limits.REMARK_SECONDS
        due = waiting >= limits.REMARKS or is_late
        try:
            if due and not inside:
                self._send(None)
            elif inside or not self._told_of_remarks:
                self._told_of_remarks = True
                with self._sending:
                    if not self.closed:
                        self._wake_up()
        except BaseException:  # of a signal handler: the program writes outside of callbacks, too
            if not inside:
                self.let_go()
            raise

    @off_link_thread
    def wait_for_room(self, unless: Callable[[], bool]) -> None:
        """Wait while there are too many remarks that have not reached the client, unless something else is due.

        It may read slowly, or not at all: then the program is to wait, and nothing else.
        """
        if self._is_sending():
            return  # in a signal handler: no other thread could send meanwhile
        while self._added - self._taken > limits.REMARKED_CHARS and not self.closed and not unless():
            sleep(limits.ROOM_SECONDS)

    def _is_sending(self) -> bool:
        """Return whether the calling thread is in the midst of sending, and in a signal handler by now."""
        return is_owned(self._sending)

    def let_go(self) -> None:
        """Let other threads send: the calling thread was interrupted from outside."""
        let_go(self._sending)

    def note_taken(self, characters: int) -> None:
        """Record that remarks have reached the client."""
        self._taken += characters
        self._added = max(self._added, self._taken)

    def response(self, request: Json, *, success: bool, message: str = "", body: Json | None = None) -> None:
        """Answer a request."""
        answer: Json = {
            "seq": 0,
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": success,
        }
        if message:
            answer["message"] = message
        if body is not None:
            answer["body"] = body
        self._send(answer)

    def _send(self, message: Json | None) -> None:
        """Send the remarks that wait, then a message if there is one."""
        late: BaseException | None = None
        with self._sending:
            if self.closed:
                return
            frames = self._frames(message)
            late = self._write(frames if self._protection is None else self._protection.wrap(frames))
        try:
            if late is not None:
                raise late
        finally:
            del late  # which has this frame on its traceback: neither would end

    def _write(self, data: bytes) -> BaseException | None:
        """Send bytes, all of them; return the exception that a signal handler has raised meanwhile."""
        late: BaseException | None = None
        rest = memoryview(data)
        while rest:
            try:
                if self._is_cut():
                    break
                rest = rest[self._connection.send(rest, NO_SIGNAL) :]
            except OSError:
                self.is_lost = self.closed = True
                break
            except BaseException as error:
                late = error
        return late

    def _frames(self, message: Json | None) -> bytes:
        frames = b""
        if self._remarks:
            self._remarked = monotonic()
            for body in self._remarks.take():
                self._seq += 1
                frames += encode({"seq": self._seq, "type": "event", "event": "output", "body": body})
        if message is not None:
            self._seq += 1
            message["seq"] = self._seq
            frames += encode(message)
        return frames

    def be_quiet(self, after_turn: Callable[[], None]) -> None:
        """Wake up only for messages and due work; `after_turn` is called after each."""
        self._after_turn = after_turn

    @property
    def is_quiet(self) -> bool:
        """Whether its thread wakes up for nothing else; then it looks at other things when it is awake anyway."""
        return self._after_turn is not None

    @in_link_thread
    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Call `action`, later."""
        self._timers.append((monotonic() + seconds, action))

    @off_link_thread
    def soon(self, action: Callable[[], None]) -> None:
        """Call `action` in the link's thread, if it still serves."""
        with self._sending:
            if not self.closed:
                self._soon.put(action)
                self._wake_up()

    def _run_soon(self) -> None:
        while not self._soon.empty():
            self._run(self._soon.get())

    def _run(self, action: Callable[[], None]) -> None:
        """Do background work; an error of it is reported, and does not end the link."""
        try:
            action()
        except Exception as error:
            self.errors.show(error, "an action of the link's thread")

    @hidden_frame
    def serve(
        self, handle: Callable[[Json], None], others: Mapping[int, Callable[[], None]] = MappingProxyType({})
    ) -> bool:
        """Read and handle messages; return true for a `rest`, false if the link is no longer usable.

        That is when the other end went away or broke the protocol. The calling thread is the link's until then.
        `others` maps further readable descriptors to functions; it may change at any time, in this thread.
        """
        enter_link_thread()
        uncount_calls(limits.LINK_CALLS)  # the program may set a recursion limit that leaves too few
        gc_pause.pause()
        self.working.acquire()
        try:
            if not self._handled(self._early, handle):
                return False
            poll: Poll | None = None
            watched: set[int] = set()
            while not self.closed:
                numbers = {self._end.number, self._waked.number, *others}
                if poll is None or watched != numbers:
                    watched, poll = numbers, _poll_of(numbers)
                ready = gc_pause.wait(native_wait(poll, self._milliseconds()), self.working)
                if self._is_cut():
                    return False
                places = ready_places(ready)
                if self._waked.number in places and self._is_to_rest():
                    return True
                if not self._take_turn(places, handle, others):
                    return False
            return False
        finally:
            self.working.release()
            gc_pause.resume()
            uncount_calls(-limits.LINK_CALLS)
            leave_link_thread()

    def _take_turn(
        self, ready: list[int], handle: Callable[[Json], None], others: Mapping[int, Callable[[], None]]
    ) -> bool:
        """Do the due work; return false if the link is no longer usable."""
        for place in ready:
            if place in others:
                self._run(others[place])
        if self._end.number in ready and not self._read(handle):
            return False
        self._run_timers()
        if self._after_turn is not None:
            self._after_turn()
        return True

    def _read(self, handle: Callable[[Json], None]) -> bool:
        """Handle received data; return false at the end."""
        try:
            data = self._connection.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.is_lost = not self._is_cut()  # else it was the end of something else
            return False
        return self._handled(data if self._protection is None else self._said_in(data, self._protection), handle)

    def _said_in(self, data: bytes, protection: "Protection") -> bytes:
        """Return the data of a protected connection; data that the other end did not send breaks the protocol."""
        with self._sending:  # an end of TLS does one thing at a time
            try:
                plain = protection.take(data)
            except OSError:
                return _NO_FRAME
            self._write(protection.outgoing())
        return plain

    def _handled(self, data: bytes, handle: Callable[[Json], None]) -> bool:
        received, self._early = data, b""
        try:
            messages = self._reader.feed(received)
        except MalformedFrame:
            self.is_lost = True
            return False
        for message in messages:
            try:
                handle(message)
            except Exception as error:
                self.errors.show(error, "a message from the adapter")
        return True

    def _is_cut(self) -> bool:
        """Return whether the program has closed our descriptors; then the link is closed."""
        if not self.closed and not (self._end.is_ours() and self._waked.is_ours() and self._wake.is_ours()):
            self.is_detached = self.closed = True
        return self.is_detached

    def _wake_up(self) -> None:
        if not self._is_cut():
            send_wake(self._wake.number)

    def _is_to_rest(self) -> bool:
        """Do the work for which the link's thread was woken; return whether it must end."""
        take_wakes(self._waked.number)
        rests, self._resting = self._resting, False
        if rests:
            self._send_remarks()
        elif self._told_of_remarks and self._remarks_due == _NEVER:  # also if another thread has sent them by now
            # The thread that adds them sends many at once, and is to wait for no turn of this one meanwhile.
            self._remarks_due = monotonic() + limits.REMARK_TURN_SECONDS
        self._run_soon()
        return rests

    def _send_remarks(self) -> None:
        self._remarks_due = _NEVER
        self._told_of_remarks = False
        self._send(None)

    @off_link_thread
    def rest(self) -> None:
        """Let `serve` return; nothing is lost, it may be called again."""
        self._resting = True
        self._wake_up()

    def _milliseconds(self) -> int:
        """Return the time until the next due work, apart from the check of the descriptors.

        Those that wait for it are not told.
        """
        if self.is_quiet and not self._timers and self._remarks_due == _NEVER:
            return _FOR_EVER
        now = monotonic()
        due = min(limits.DESCRIPTOR_SECONDS, self._remarks_due - now)
        for when, _ in self._timers:
            due = min(due, when - now)
        return max(0, int(due * 1000) + 1)

    def _run_timers(self) -> None:
        now = monotonic()
        if self._remarks_due <= now:
            self._send_remarks()
        due = [timer for timer in self._timers if timer[0] <= now]
        if due:
            self._timers[:] = [timer for timer in self._timers if timer[0] > now]  # the same list: it is hidden
            for _, action in due:
                self._run(action)

    def flush(self) -> None:
        """Send the remarks that wait."""
        self._send(None)

    def close(self) -> None:
        """Send the waiting data and no more, and let the other end read the end of the stream."""
        self._send(None)
        with self._sending:
            if self._is_cut():
                return
            self.closed = True
            is_tcp = self._connection.family in (_socket.AF_INET, _socket.AF_INET6)
            try:
                self._connection.shutdown(_socket.SHUT_WR if is_tcp else _socket.SHUT_RDWR)
                if is_tcp:
                    self._connection.setblocking(False)  # noqa: FBT003 - its only parameter
            except OSError:
                return  # the other end was first
        if is_tcp:
            self._read_to_end()

    def _read_to_end(self) -> None:
        """Wait until the other end has read all, and has closed the connection.

        A TCP socket drops the data that it has not sent yet if it is closed, or its process ends, with data that was
        not read. The link's thread may be reading as well, so that nothing is left here after the wait.
        """
        until = monotonic() + limits.LAST_DATA_SECONDS
        poll = _poll_of({self._end.number})
        while (rest := until - monotonic()) > 0:
            try:
                if not poll.poll(int(rest * 1000) + 1) or not self._connection.recv(1 << 16):
                    return
            except BlockingIOError:
                continue
            except OSError:
                return

    def discard(self) -> None:
        """Close everything; unsent data is dropped."""
        with self._sending:
            self.drop()
        self._timers.clear()

    def drop(self) -> None:
        """Forget the connection without touching the peer: for the child of a fork. Once: numbers are used again."""
        self.closed = True
        self.marks.end()
        self._connection.detach()
        for descriptor in (self._end, self._waked, self._wake):
            descriptor.close()


def _poll_of(watched: set[int]) -> Poll:
    poll = new_poll()
    for place in watched:
        poll.register(place, READABLE)
    return poll
