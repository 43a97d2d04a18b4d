"""The history of a program with time travel: its copies, and the processes that are executed again from them.

    the program --copies itself--> checkpoints, which connect here and wait
    a checkpoint --is told to--> begin a replay process, which connects here by a name

They are reached by a socket of their own, in the folder that only our user can enter, and show a token. Their messages
are described in `debuggee/native/time_travel/checkpoints.c`. A copy ends with its connection.
"""

import bisect
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Literal

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from dapkit.adapter import RequestFailed
from dapkit.protocol import encode_frame, encode_value
from dapkit.protocol.time_travel import HistoryMoment
from dapkit.python import limits
from dapkit.system import procfs
from dapkit.transport import StateChange, background_tasks, listen_unix, new_token, private_folder
from dapkit.transport.signals import signal_name

log = logging.getLogger(__name__)

type ReplayKind = Literal["replay", "scan", "steps", "frame", "watch", "birth", "look"]
"""The purpose of a replay process: to show its goal, to find a moment on the way there, or to look from there on."""

_LINE_BYTES = 4096
UNEXPECTED = "time travel: a process of the past has ended unexpectedly"
_ENDINGS = 100
"""Ends of replay processes that are remembered, of one copy."""


def _memory_of(pids: Iterable[int]) -> int:
    """Return the bytes that processes occupy together; shared memory is divided among its owners."""
    return sum(procfs.memory_sizes(pid).get("Pss", 0) for pid in pids)


class Diverged(RequestFailed):
    """A replay process asked for something else than the live program did: history ends there."""


class HistoryEnds(RequestFailed):
    """A replay process has reached the end of the event log before its goal."""


@contextmanager
def in_time() -> Iterator[None]:
    """Bound how long a replay process is waited for.

    Raises:
        RequestFailed: it takes too long.

    """
    try:
        with anyio.fail_after(limits.REPLAY_SECONDS):
            yield
    except TimeoutError as error:
        text = f"time travel: the moment was not reached within {limits.REPLAY_SECONDS:g} s"
        raise RequestFailed(text) from error


class Checkpoint:
    """A copy of the program that waits; `moment` is when the live program was at its clock, if it is a copy of that."""

    def __init__(self, clock: int, pid: int, moment: HistoryMoment | None, stream: ByteStream) -> None:
        self.clock = clock
        self.pid = pid
        self.moment = moment
        self.stream = stream
        self.dropped = anyio.Event()
        self._endings: dict[int, int] = {}  # of its replay processes: how they ended, as `wait` has it
        self._changed = StateChange()

    def drop(self) -> None:
        """Need it no more."""
        self.dropped.set()
        self._changed.notify()

    def note_ending(self, pid: int, status: int) -> None:
        """Record how a replay process that began here has ended."""
        self._endings[pid] = status
        if len(self._endings) > _ENDINGS:
            del self._endings[next(iter(self._endings))]
        self._changed.notify()

    async def ending_of(self, pid: int) -> str:
        """Return how a process that began here has ended."""
        with anyio.move_on_after(limits.ENDING_SECONDS):
            await self._changed.until(lambda: pid in self._endings or self.dropped.is_set())
        status = self._endings.get(pid, 0)
        if os.WIFSIGNALED(status):
            return f"was killed by {signal_name(os.WTERMSIG(status))}"
        return "has ended unexpectedly"


class PastProcess:
    """The connection of a replay process, or of a copy that introduces itself."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self.pid = 0
        self.origin: Checkpoint | None = None
        self._rest = b""
        self.over = anyio.Event()

    async def loss(self) -> RequestFailed:
        """Return a message about its end, which no request caused."""
        how = "has ended unexpectedly" if self.origin is None else await self.origin.ending_of(self.pid)
        return RequestFailed(f"time travel: a process of the past {how}")

    async def line(self) -> list[str]:
        """Return the words of the next line, which comes when the process is at its goal.

        Raises:
            RequestFailed: it has ended instead, or the line does not come in time.

        """
        with in_time():
            while b"\n" not in self._rest:
                try:
                    self._rest += await self.stream.receive(_LINE_BYTES)
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    raise await self.loss() from None
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").split(" ")

    async def say(self, message: object) -> None:
        """Send a message.

        Raises:
            RequestFailed: it has ended.

        """
        try:
            await self.stream.send(encode_frame(encode_value(message)))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise await self.loss() from error


class History:
    """The recorded past of one program.

    Invariant: `checkpoints` are in the order of their clocks; the first is kept as long as the program lives.
    """

    def __init__(self, memory_limit: int) -> None:
        """Take how many bytes the copies may have together."""
        self._memory_limit = memory_limit
        self.token = new_token()
        self.path = private_folder() / f"past-{os.urandom(8).hex()}"
        self.checkpoints: list[Checkpoint] = []
        self._changes: list[int] = []
        self._numbers: set[int] = set()  # of the copies of the live program that have come
        self._looked_at = 0  # how many had come when it was last looked how much memory they have
        self._arrived = StateChange()
        self._awaited: dict[str, tuple[anyio.Event, list[PastProcess]]] = {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let checkpoints of the program come."""
        async with (
            listen_unix(self.path, self._take, max_connections=limits.PAST_PROCESSES),
            background_tasks() as tasks,
        ):
            tasks.start_soon(self._keep_within_limit)
            yield

    def before(self, clock: int) -> Checkpoint | None:
        """Return the last checkpoint at a clock or before it."""
        place = bisect.bisect_right(self.checkpoints, clock, key=lambda checkpoint: checkpoint.clock)
        return self.checkpoints[place - 1] if place else None

    def first_for(self, clock: int) -> Checkpoint | None:
        """Return the first checkpoint from which the program can be executed again up to a clock."""
        place = bisect.bisect_right(self._changes, clock)
        return self.before(self._changes[place - 1] if place else self.beginning)

    def note_change(self, clock: int) -> None:
        """Note that the client has changed the stopped program: a replay does not see the change."""
        if not self.has_change(clock):
            bisect.insort(self._changes, clock)

    def change_after(self, clock: int) -> int:
        """Return the clock of the next such change; 0 if there is no such change."""
        place = bisect.bisect_right(self._changes, clock)
        return self._changes[place] if place < len(self._changes) else 0

    def has_change(self, clock: int) -> bool:
        """Return whether the client has changed the program when it stood at a clock."""
        return clock in self._changes

    @property
    def beginning(self) -> int:
        """The clock of the first checkpoint."""
        return self.checkpoints[0].clock if self.checkpoints else 0

    @asynccontextmanager
    async def begun(
        self, kind: ReplayKind, checkpoint: Checkpoint, goal: int, frame: int = 0, *, at: tuple[int, int] = (0, 0)
    ) -> AsyncIterator[PastProcess]:
        """Start a replay process at a checkpoint; it ends with the block.

        Some take the identity of a frame, or the addresses of an object and its type.

        Raises:
            RequestFailed: the checkpoint is gone, or its process does not come in time.

        """
        name = os.urandom(8).hex()
        came, process = anyio.Event(), list[PastProcess]()
        self._awaited[name] = came, process
        try:
            with anyio.move_on_after(limits.PAST_SECONDS):
                await checkpoint.stream.send(f"{kind} {name} {goal} {frame} {at[0]} {at[1]}\n".encode())
                await came.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise RequestFailed("time travel: a copy of the program has ended") from error
        finally:
            del self._awaited[name]
        if not process:
            raise RequestFailed(f"time travel: no process of the past began within {limits.PAST_SECONDS:g} s")
        process[0].origin = checkpoint
        try:
            yield process[0]
        finally:
            process[0].over.set()

    async def _take(self, stream: ByteStream) -> None:
        """Serve a copy, or a replay process, as long as it is needed."""
        import hmac

        visitor = PastProcess(stream)
        words = await visitor.line()
        match words:
            case ["checkpoint", token, number, pid, *moment] if hmac.compare_digest(token, self.token):
                moment_of_copy = _moment(*moment)
                await self._keep(
                    Checkpoint(moment_of_copy.clock, int(pid), moment_of_copy if int(number) else None, stream),
                    int(number),
                )
            case ["begun", name, pid, _clock] if name in self._awaited:
                came, processes = self._awaited[name]
                visitor.pid = int(pid)
                processes.append(visitor)
                came.set()
                await visitor.over.wait()
            case _:
                log.info("a process came to %s that is not expected: %s", self.path.name, words[:1])

    def end_at(self, clock: int, copies: int) -> None:
        """Drop the past after a clock at which so many checkpoints existed."""
        for checkpoint in [each for each in self.checkpoints if each.clock > clock]:
            self.checkpoints.remove(checkpoint)
            checkpoint.drop()
        self._changes = [each for each in self._changes if each <= clock]
        self._numbers = set(range(1, copies + 1))
        self._looked_at = copies

    async def have(self, count: int) -> None:
        """Wait for the copies that the live program has had made by now."""
        with anyio.move_on_after(limits.PAST_SECONDS):
            await self._arrived.until(lambda: len(self._numbers) >= count)

    async def until_nearer(self, clock: int, nearest: Checkpoint) -> None:
        """Wait for a copy that is nearer to a clock than a known one."""
        await self._arrived.until(lambda: self.before(clock - 1) is not nearest)

    async def _keep(self, checkpoint: Checkpoint, number: int) -> None:
        if number:
            self._numbers.add(number)
        bisect.insort(self.checkpoints, checkpoint, key=lambda each: each.clock)
        self._arrived.notify()
        self._thin_out()
        try:
            async with background_tasks() as tasks:
                tasks.start_soon(_until_its_end, checkpoint)
                await checkpoint.dropped.wait()
        finally:
            if checkpoint in self.checkpoints:
                self.checkpoints.remove(checkpoint)

    async def _keep_within_limit(self) -> None:
        """Drop copies, now and then, that have too much memory together."""
        while True:
            await self._arrived.until(lambda: len(self._numbers) > self._looked_at)
            self._looked_at = len(self._numbers)
            sizes = await anyio.to_thread.run_sync(_memory_of, [checkpoint.pid for checkpoint in self.checkpoints])
            each = sizes // max(len(self.checkpoints), 1)
            while sizes > self._memory_limit and len(self.checkpoints) > limits.LEAST_CHECKPOINTS:
                self._drop_one()
                sizes -= each
            await anyio.sleep(limits.MEMORY_LOOK_SECONDS)

    def _thin_out(self) -> None:
        if len(self.checkpoints) > limits.CHECKPOINTS:
            self._drop_one()

    def _drop_one(self) -> None:
        """Drop the one that is missed least, more of those that are long ago."""
        latest = self.checkpoints[-1].clock

        def gap(place: int) -> float:
            checkpoints = self.checkpoints
            return (checkpoints[place + 1].clock - checkpoints[place - 1].clock) / (
                latest - checkpoints[place].clock + 1
            )

        least = min(range(1, len(self.checkpoints) - 1), key=gap)
        self.checkpoints.pop(least).drop()


def _moment(clock: str, microseconds: str, output: str) -> HistoryMoment:
    return HistoryMoment(clock=int(clock), time=int(microseconds) / 1_000_000, output=int(output))


async def _until_its_end(checkpoint: Checkpoint) -> None:
    """Hear from a copy which of its processes have ended; drop it once it has ended itself."""
    rest = b""
    with contextlib.suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            *lines, rest = (rest + await checkpoint.stream.receive(_LINE_BYTES)).split(b"\n")
            for line in lines:
                _, pid, status = line.split()
                checkpoint.note_ending(int(pid), int(status))
    checkpoint.drop()


def problem_of(words: list[str]) -> RequestFailed:
    """Return the end message of a replay process."""
    match words:
        case ["diverged", clock, call, noted, when, *place]:
            had = f"{noted} with other arguments or at another moment" if call == noted else noted
            return Diverged(
                f"diverged: at clock {clock} the program called {call} where it had called {had} at clock {when}, "
                f"at {' '.join(place)}; history ends there"
            )
        case ["end", clock, *_]:
            return HistoryEnds(f"diverged: at clock {clock} the program went on where its history had ended")
        case ["failed", *text]:
            return RequestFailed(f"time travel: {' '.join(text)}")
    return RequestFailed(UNEXPECTED)
