"""All debug sessions, by project and name.

Sessions of one project folder do not see the sessions of another. A session that has
ended stays, so that its output can be read, until it has been idle for too long or
another takes its name.
"""

import itertools
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from dapkit.sessions import limits
from dapkit.sessions.errors import AmbiguousSession, NameTaken, NoSession, UnknownSession
from dapkit.sessions.event_state import ProgressListener, ignore_progress
from dapkit.sessions.session import DebugSession
from dapkit.sessions.start_spec import StartSpec
from dapkit.settings import Settings
from dapkit.transport import background_tasks

log = logging.getLogger(__name__)


class SessionRegistry:
    """All sessions; an async context manager, which ends them when it is left.

    Invariant: within a project no two sessions have one name, and no name that was made here comes twice.

    Example:
        async with Sessions() as sessions:
            session = await sessions.open(Path.cwd(), start)
            outcome = await session.execution.wait()

    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = Settings() if settings is None else settings
        self._sessions: dict[tuple[Path, str], DebugSession] = {}
        self._numbers: dict[Path, Iterator[int]] = {}
        self._context = background_tasks()
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Begin to watch the sessions."""
        self._tasks = await self._context.__aenter__()
        self._tasks.start_soon(self._sweep)
        self._tasks.start_soon(self._check_adapters)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End all sessions."""
        with anyio.CancelScope(shield=True):
            await self.close_all()
        return await self._context.__aexit__(kind, error, trace)

    async def open(
        self,
        project: Path,
        start: StartSpec,
        *,
        name: str | None = None,
        deadline: float | None = None,
        settings: Settings | None = None,
        on_progress: ProgressListener = ignore_progress,
    ) -> DebugSession:
        """Start a session; it is named `debug-1`, `debug-2`, ... unless a name is given.

        It returns when the program runs, which may be before its first stop: see `Execution.wait`.
        `settings` are the project's, if they differ from the hub's; `on_progress` is called with the step on which the
        adapter spends time.

        Raises:
            NameTaken: a session that lives has the name.
            StartFailed: the program could not be started.
            DapkitError: the adapter could not be reached, or a breakpoint not be placed.

        """
        if self._tasks is None:
            raise RuntimeError("the registry is not open: use it in `async with`")
        project = _folder(project)
        session_name = self._free_name(project) if name is None else name
        before = self._sessions.get((project, session_name))
        if before is not None and not before.state.over:
            raise NameTaken(session_name)
        session = DebugSession(session_name, project, start, tasks=self._tasks, settings=settings or self.settings)
        self._sessions.pop((project, session_name), None)  # so that this one is the last
        self._sessions[project, session_name] = session
        self._forget_ended(project)
        try:
            with session.in_use(), session.event_state.reporting_to(on_progress):
                await session.begin(deadline=deadline)
        except BaseException:
            if self._sessions.get((project, session_name)) is session:
                del self._sessions[project, session_name]
            raise
        return session

    def find(self, project: Path, name: str | None = None) -> DebugSession:
        """Look a session up; without a name the only one that lives, or if none does, the one that was used last.

        Raises:
            NoSession: there is no session, nor was there lately.
            AmbiguousSession: several do, and none was named.
            UnknownSession: none has the name.

        """
        have = self.of(project)
        if name is not None:
            match = next((session for session in have if session.name == name), None)
            if match is None:
                raise UnknownSession(name, [session.name for session in have])
            return match
        live = [session for session in have if not session.state.over]
        if len(live) > 1:
            raise AmbiguousSession([session.name for session in live])
        if not have:
            raise NoSession(self.near(project))
        return live[0] if live else max(have, key=lambda session: session.last_used)

    def of(self, project: Path) -> tuple[DebugSession, ...]:
        """All sessions of a project, in the order in which they were opened."""
        folder = _folder(project)
        return tuple(session for session in self._sessions.values() if session.project == folder)

    def near(self, project: Path) -> list[tuple[str, Path]]:
        """Live sessions of the folders around a project and below it, each with its folder."""
        folder = _folder(project)
        return [
            (session.name, session.project)
            for session in self.live
            if session.project != folder
            and (folder.is_relative_to(session.project) or session.project.is_relative_to(folder))
        ]

    @property
    def all(self) -> tuple[DebugSession, ...]:
        """All sessions of all projects."""
        return tuple(self._sessions.values())

    @property
    def live(self) -> tuple[DebugSession, ...]:
        """All sessions that have not ended."""
        return tuple(session for session in self.all if not session.state.over)

    async def close_all(self) -> None:
        """End every session, side by side."""
        async with anyio.create_task_group() as tasks:
            for session in self.live:
                tasks.start_soon(session.abandon, "the hub has ended")

    def _free_name(self, project: Path) -> str:
        numbers = self._numbers.setdefault(project, itertools.count(1))
        names = (f"debug-{number}" for number in numbers)
        return next(name for name in names if (project, name) not in self._sessions)

    def _forget_ended(self, project: Path) -> None:
        """Keep only the latest of the sessions that have ended."""
        ended = [session for session in self.of(project) if session.state.over]
        for session in ended[: -limits.ENDED_SESSIONS_KEPT]:
            del self._sessions[project, session.name]

    async def _check_adapters(self) -> None:
        """End sessions whose adapter has ended, though its streams are still open."""
        while True:
            await anyio.sleep(self.settings.session_heartbeat_seconds)
            for session in self.live:
                session.check()

    async def _sweep(self) -> None:
        """End sessions that no caller uses any more, and forget those that had ended."""
        while True:
            await anyio.sleep(self.settings.session_sweep_seconds)
            for key, session in list(self._sessions.items()):
                limit = session.settings.session_idle_seconds
                if session.idle_seconds < limit:
                    continue
                if session.state.over:
                    del self._sessions[key]
                else:
                    log.info("%s was idle for too long and is ended", session.name)
                    await session.abandon(f"it was not used for {limit:g} s")
                    session.last_used = time.time()  # it stays a while, so that this can be read


def _folder(project: Path) -> Path:
    """Return the one name of a project's folder."""
    return project.resolve()
