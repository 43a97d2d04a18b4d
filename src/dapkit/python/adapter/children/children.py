"""Child processes of a program: each gets a session of its own, which the client opens.

A child connects to a unix socket of dapkit, identifies itself, and waits (`children.child_handshake`). The client is
asked to attach to it (`startDebugging`); the configuration has the child's socket, so that any dapkit adapter can reach
it, and this process's socket, so that a client that knows it needs no other process (`adapterSocket`). A child to which
no client attaches continues.
"""

import contextlib
import fnmatch
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec
from anyio.abc import ByteStream

from dapkit import limits as shared_limits
from dapkit.adapter import Adapter
from dapkit.protocol import (
    DapkitError,
    FrameDecoder,
    RawJson,
    TerminateArguments,
    decode_as,
    encode_frame,
    to_json_value,
)
from dapkit.python import limits
from dapkit.python.adapter.children.debugpy_event import EVENT, Invitations, expects_event, inviting
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.adapter.time_travel.recorded_program import FailedProcesses
from dapkit.python.debuggee.children.targets import PYTHON, kind_of
from dapkit.system.selection import IS_WINDOWS
from dapkit.system.this_system import SYSTEM
from dapkit.transport import StateChange, TransportError, connect_unix, listen_unix, private_folder, remove_dead_sockets

log = logging.getLogger(__name__)

EXECUTES_EVENT = "dapkit/executes"
"""The engine's message before the program becomes another one."""

INVITATION_EVENT = "dapkit/invitation"
"""Our message to a child without a session (`debuggee.children.family_socket`)."""


class ChildRun(Protocol):
    """Commands for a child that has a session here."""

    async def terminate(self, args: TerminateArguments) -> None:
        """Ask it to end."""
        ...

    async def release(self, *, suspend: bool) -> None:
        """Let it keep running."""
        ...


class ChildAdapter(Protocol):
    """Serves the session of a child."""

    @property
    def run(self) -> ChildRun | None:
        """The child, once it is there."""
        ...

    @property
    def is_admitted(self) -> bool:
        """Whether its client has shown the token, if one is wanted."""
        ...

    async def serve_stream(self, stream: ByteStream) -> None:
        """Serve one session."""
        ...


type MakeAdapter = Callable[[bool, str], ChildAdapter]
"""Makes an adapter for a child, which ends with us or not, and only for clients that know a token if one is given."""

_INHERITED = (
    "auto_reload",
    "break_on_system_exit",
    "break_on_system_exit_zero",
    "django",
    "evaluate_timeout",
    "flask",
    "gui_event_loop",
    "jinja",
    "just_my_code",
    "max_exception_stack_frames",
    "path_mappings",
    "rules",
    "show_return_value",
    "stepping_resumes_all_threads",
    "stop_all_threads",
    "sub_process",
    "sub_process_exclude",
    "sub_process_include",
    "variable_presentation",
)
"""Fields of a configuration that children have as well."""

_INHERITED_FROM_REPLAY = ("cwd", "python", "python_path", "pythonpath", "time_travel", "workspace_folder")
"""Fields of a configuration that the other processes of a recording have besides."""


class _Arrived(msgspec.Struct, rename="camel"):
    """A child's description of itself."""

    name: str
    process_id: int
    parent_id: int
    socket: str
    arguments: list[str]


class _Executes(msgspec.Struct, rename="camel"):
    """The engine's message about a program that is about to become another one."""

    process_id: int


class _Arrival(msgspec.Struct):
    """The frame that it says it in."""

    body: _Arrived


class Children:
    """The children of one program.

    Invariant: `_coming` counts the children whose sessions are to begin, `_living` has the processes that have had one
    and run, `_served` the adapters of the sessions that this process serves; `_executing` is the program itself if it
    is about to become another one; `_opens_sessions` is false once the client has accepted a child and not come to it.

    Attributes:
        door: where they come to; None if they are left alone.
        announced: whether the program is to remark on the first one, because the client opens no sessions for them.
        end_with_us: whether the program and its children end if we are killed.
        presenters: the files that show values of the project's own classes, by their full paths.
        family: the beginning of the paths where children listen that were started before this session; "" for none.
        recorded: the processes that have failed in the recording that is debugged, until sessions are opened for them.

    """

    def __init__(
        self, host: Adapter[Any, Any], args: PythonLaunch | PythonAttach, make: MakeAdapter, *, end_with_us: bool
    ) -> None:
        self.end_with_us = end_with_us
        self.presenters: Sequence[str] = args.presenters or ()
        self.listener_path: Path | None = None
        self.announced = False
        self.family = ""
        self.recorded: FailedProcesses | None = None
        self._host = host
        self._args = args
        self._make = make
        self._sessions: Path | None = None
        self._invitations: Invitations | None = None
        self._served: list[ChildAdapter] = []
        self._unproven: list[tuple[ChildAdapter, anyio.CancelScope]] = []
        self._living: list[int] = []
        self._arrived: set[int] = set()
        self._coming = 0
        self._opens_sessions = True
        self._executing: int | None = None
        self._changed = StateChange()
        self._turns = anyio.Semaphore(limits.CHILDREN_AT_ONCE)

    @asynccontextmanager
    async def coming(self) -> AsyncIterator[None]:
        """Let children come, and serve their sessions, as long as the block lasts."""
        client = self._host.client
        args = self._args
        if args.sub_process is False or (isinstance(args, PythonLaunch) and (args.no_debug or args.is_elevated)):
            yield
            return
        invites = expects_event(client, self._args.extra.get("type"))
        if not (invites or client.supports_start_debugging_request):
            self.announced = True
            yield
            return
        folder = private_folder()
        if getattr(self._args, "sub_process_id", None) is None:  # once for a whole family
            for pattern in ("child-*", "door-*", "family-*", "talk-*"):
                remove_dead_sockets(folder, pattern)  # of processes that were killed
        mark = os.urandom(8).hex()
        self._sessions, listener_path = folder / f"talk-{mark}", folder / f"door-{mark}"
        async with (
            listen_unix(self._sessions, self._serve),
            inviting(self._serve) if invites else nullcontext() as self._invitations,
            listen_unix(listener_path, self._meet),
        ):
            self.listener_path = listener_path
            try:
                yield
            finally:
                self.listener_path = None
                with anyio.move_on_after(shared_limits.CLOSE_SECONDS, shield=True):  # their last messages
                    await self._changed.until(lambda: not self._served)

    async def invite(self) -> None:
        """Invite the children that were started before this session, or were debugged in an earlier one."""
        if self.listener_path is None or not self.family:
            return
        folder, name = os.path.split(self.family)
        body = {"listener": str(self.listener_path)}
        invitation = json.dumps({"seq": 1, "type": "event", "event": INVITATION_EVENT, "body": body}).encode()
        for path in sorted(await anyio.to_thread.run_sync(lambda: list(Path(folder).glob(f"{name}-*")))):
            with contextlib.suppress(TransportError, OSError, anyio.BrokenResourceError):  # it has ended meanwhile
                async with await connect_unix(path) as stream:
                    await stream.send(encode_frame(invitation))

    @property
    def opens_recorded(self) -> bool:
        """Whether failed processes of the recording get sessions: with `replay`, if the client opens such sessions."""
        args = self._args
        if not isinstance(args, PythonLaunch) or args.sub_process is False:
            return False
        is_asked = args.sub_process or args.replay is not None
        return bool(is_asked and self._host.client.supports_start_debugging_request)

    async def open_recorded(self) -> None:
        """Ask the client for a session for each failed process of the recording, up to a limit."""
        recorded = self.recorded
        if recorded is not None and self.opens_recorded:
            await self._open_recorded(recorded)
        self.recorded = None
        self._changed.notify()

    async def recorded_opened(self) -> None:
        """Wait until the client has been asked for the sessions of failed processes."""
        await self._changed.until(lambda: self.recorded is None)

    async def _open_recorded(self, recorded: FailedProcesses) -> None:
        inherited = self._inherited((*_INHERITED, *_INHERITED_FROM_REPLAY))
        for number, program in list(recorded.names.items())[: limits.RECORDED_SESSIONS]:
            name = f"{program} [process {number}]"
            own = {"request": "launch", "name": name, "replay": str(recorded.file), "args": [str(number)]}
            try:
                await self._host.start_debugging({**inherited, **own}, "launch")
            except DapkitError as error:
                await self._host.output(f"{name} is not opened: {error}\n", category="important")

    def expect(self, body: object) -> None:
        """Record that the program is about to become another one, which comes to the door."""
        self._executing = decode_as(_Executes, body if isinstance(body, RawJson) else None).process_id
        self._host.start_soon(self._follow, self._executing)

    @property
    def is_expecting(self) -> bool:
        """Whether the program is to come to the door as another one."""
        return self._executing is not None

    @property
    def sockets(self) -> tuple[Path, ...]:
        """The sockets of this process, while children can connect."""
        return () if self.listener_path is None or self._sessions is None else (self.listener_path, self._sessions)

    async def over(self, remaining: Sequence[int] = ()) -> None:
        """Wait until all that had sessions have ended, and the sessions with them.

        The program has `remaining` these processes when it ended; some may still be on their way to the door.
        """
        with anyio.move_on_after(limits.ARRIVAL_SECONDS):
            while any(map(self._is_coming, remaining)):  # noqa: ASYNC110 - it may end without a word
                await anyio.sleep(limits.ARRIVAL_POLL_SECONDS)
        await self._changed.until(lambda: not self._coming)
        if self._living and not self.is_expecting:
            text = f"The program has ended; child processes of it are still debugged ({len(self._living)}).\n"
            await self._host.output(text, category="console")
        await self._changed.until(lambda: not self._living)
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS):  # the client may leave a session open
            await self._changed.until(lambda: not self._served)

    def _is_coming(self, process: int) -> bool:
        """Return whether a process was shown the way to the door, and has not come yet."""
        if self.listener_path is None or process in self._arrived:
            return False
        try:
            if kind_of(SYSTEM.executable_of(process)) != PYTHON:
                return False
            if SYSTEM.has_in_environment(process, bytes(self.listener_path)):
                return True
            # Windows shows the environment as it is now, and the child removes the path from it as soon as it starts.
            return IS_WINDOWS and time.time() - SYSTEM.started_at(process) < limits.ARRIVAL_SECONDS
        except OSError:
            return False  # it has ended, or is another user's

    async def terminate(self, args: TerminateArguments) -> None:
        """Ask them to end, as Ctrl-C in a terminal reaches them as well."""
        for adapter in list(self._served):
            if adapter.run is not None:
                self._host.start_soon(_in_spite_of_refusals, partial(adapter.run.terminate, args))

    async def release(self) -> None:
        """Let them keep running undebugged, all at once: one that does not answer keeps no other waiting."""
        with anyio.move_on_after(shared_limits.CLOSE_SECONDS):
            async with anyio.create_task_group() as tasks:
                for adapter in list(self._served):
                    if adapter.run is not None:
                        tasks.start_soon(_in_spite_of_refusals, partial(adapter.run.release, suspend=False))

    async def _serve(self, stream: ByteStream, token: str = "") -> None:
        """Serve the session of a child."""
        adapter = self._make(self.end_with_us, token)
        self._served.append(adapter)
        try:
            with anyio.CancelScope() as scope:
                if token:
                    self._displace_oldest()
                    self._unproven.append((adapter, scope))
                await adapter.serve_stream(stream)
        finally:
            self._served.remove(adapter)
            self._unproven = [each for each in self._unproven if each[0] is not adapter]
            self._changed.notify()

    def _displace_oldest(self) -> None:
        """Make room for a connection: those that have shown no token keep no client out."""
        self._unproven = [each for each in self._unproven if not each[0].is_admitted]
        if len(self._unproven) >= shared_limits.UNADMITTED_CONNECTIONS:
            self._unproven.pop(0)[1].cancel()

    async def _meet(self, stream: ByteStream) -> None:
        """Debug a child that has connected; it continues when the stream is closed."""
        try:
            with anyio.fail_after(limits.INTRODUCTION_SECONDS):
                child = await _introduction(stream)
        except (DapkitError, TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            log.info("a connection that is not from a child: %s", error)
            return
        self._arrived.add(child.process_id)
        if not self._wanted(child):
            return
        self._coming += 1
        try:
            async with self._turns:
                is_debugged = await self._debugged(child, stream)
        finally:
            self._coming -= 1
            self._changed.notify()
        if is_debugged:
            await self._follow(child.process_id)

    async def _follow(self, process: int) -> None:
        """Record that a process is debugged, until it has ended."""
        with suppress(ProcessLookupError), SYSTEM.open_process(process) as watched:
            self._living.append(process)
            try:
                await anyio.wait_readable(watched.descriptor)
            finally:
                self._living.remove(process)
                self._changed.notify()

    async def _debugged(self, child: _Arrived, stream: ByteStream) -> bool:
        """Ask the client to open a session; return whether it did."""
        invitations, patience = self._invitations, limits.CHILD_SECONDS
        if not self._opens_sessions:
            return False
        if invitations is None:
            try:
                await self._host.start_debugging(self._configuration(child), "attach")
            except DapkitError as error:
                await self._report(child, str(error))
                return False
        else:
            patience = limits.INVITED_SECONDS
            await self._host.send_custom_event(EVENT, {**self._configuration(child), **invitations.keys})
        with anyio.move_on_after(patience):
            await _end_of(stream)  # the child has its session then
            await stream.aclose()
            return True
        await self._report(child, f"no session came within {patience:g} s; later children are not offered")
        self._opens_sessions = False
        return False

    async def _report(self, child: _Arrived, why: str) -> None:
        text = f"{child.name}, process {child.process_id}, runs on undebugged: {why}\n"
        await self._host.output(text, category="important")

    def _wanted(self, child: _Arrived) -> bool:
        include, exclude = self._args.sub_process_include, self._args.sub_process_exclude
        if any(fnmatch.fnmatchcase(child.name, pattern) for pattern in exclude):
            return False
        return include is None or any(fnmatch.fnmatchcase(child.name, pattern) for pattern in include)

    def _inherited(self, names: Iterable[str] = _INHERITED) -> dict[str, object]:
        """Return the part of this configuration that the one of another process has, too."""
        args = to_json_value(self._args)
        variables = args if isinstance(args, dict) else {}
        keys = dict(zip(self._args.__struct_fields__, self._args.__struct_encode_fields__, strict=True))
        inherited = {keys[name]: variables[keys[name]] for name in names if keys[name] in variables}
        return {**inherited, "type": self._args.extra.get("type", "python")}

    def _configuration(self, child: _Arrived) -> dict[str, object]:
        return {
            **self._inherited(),
            "presenters": list(self.presenters),
            "request": "attach",
            "name": f"{child.name} [{child.process_id}]",
            "socket": child.socket,
            "adapterSocket": str(self._sessions),
            "subProcessId": child.process_id,
        }


async def ends_now(process: int) -> bool:
    """Return whether a process has ended, or does within a moment: its files are closed before."""
    with suppress(ProcessLookupError), SYSTEM.open_process(process) as watched:
        with anyio.move_on_after(limits.CUT_SECONDS):
            await anyio.wait_readable(watched.descriptor)
            return True
        return False
    return True


async def _introduction(stream: ByteStream) -> _Arrived:
    frames = FrameDecoder()
    while True:
        for payload in frames.feed(await stream.receive()):
            return decode_as(_Arrival, RawJson(payload)).body


async def _end_of(stream: ByteStream) -> None:
    try:
        while True:
            await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def _in_spite_of_refusals(ask: Callable[[], Awaitable[object]]) -> None:
    with contextlib.suppress(DapkitError):  # it may have ended meanwhile
        await ask()
