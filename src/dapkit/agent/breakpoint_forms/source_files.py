"""Which file a breakpoint means whose path leads nowhere from where it was given.

`lstrlib.c:1276` may be given in any folder. A path that exists is that file. Otherwise the name, or the end of a path,
must match a file that the session knows, that the adapter itself finds, from which the program was built, or that lies
in the project; several matches are an error that names them.
"""

import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread

from dapkit import limits as shared_limits
from dapkit.agent import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.client import BreakpointSpec, FunctionLocation, SourceLocation
from dapkit.sessions.errors import SessionError
from dapkit.sessions.session import DebugSession

_PACKAGES = {"node_modules", "site-packages", "__pycache__", "vendor", "venv"}
"""Folders of a project that hold the code of others."""

_PATH_BYTES = 4000
_PRINTABLE = re.compile(rb"[\x20-\x7e]")


def file_of_stop(call: ActionCall) -> Path | None:
    """Return the file in which the program of the session is stopped, which a line alone is of; None if it is not."""
    try:
        stop = call.session.state.stop
    except SessionError:
        return None
    return None if stop is None or stop.path is None else Path(stop.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFinder:
    """Finds the files of breakpoints.

    Attributes:
        folders: those that a relative path may have been meant in.
        project: the folder that is searched.
        known: paths of sources that the session knows.
        program: the executable, if there is one: a Go executable names its sources in full.
        finds_names: whether the adapter takes the name of a file, or the end of its path, for the file
            (`Traits.finds_sources_by_name`).

    """

    folders: Sequence[Path]
    project: Path
    known: Sequence[str] = ()
    program: Path | None = None
    finds_names: bool = False

    def specs(self, specs: Iterable[BreakpointSpec]) -> list[BreakpointSpec]:
        """Return breakpoints with the files that they mean. Raises: as `location`."""
        return [
            replace(spec, location=self.location(spec.location)) if isinstance(spec.location, SourceLocation) else spec
            for spec in specs
        ]

    def location(self, location: SourceLocation) -> SourceLocation:
        """Return a location with the file that it means; as it is if there is no such file.

        Raises:
            InvalidArguments: several files could be meant.

        """
        file = location.file
        if location.named is not None or file.exists() or (end := self._end(file)) is None:
            return location
        if str(end) in self.known:
            return replace(location, file=end)
        session_files = [path for path in dict.fromkeys(self.known) if _ends_with(Path(path), end)]
        if len(session_files) == 1:
            return replace(location, file=Path(session_files[0]))
        if self.finds_names and location.text is None:
            return replace(location, file=end)
        candidates = (
            session_files or list(_sources_in(self.program, end)) or [*map(str, _files_below(self.project, end))]
        )
        if len(candidates) > 1:
            listed = ", ".join(map(str, candidates[: shared_limits.PLACES_SHOWN]))
            raise InvalidArguments(f"{end} could be any of {listed}", hint="Give more of its path.")
        return replace(location, file=Path(candidates[0])) if candidates else location

    def _end(self, file: Path) -> Path | None:
        """Return the path as it was given, without the folder that it is relative to."""
        ends = [file.relative_to(folder) for folder in self.folders if file.is_relative_to(folder)]
        return min(ends, key=lambda end: len(end.parts), default=None)


def finder_of(session: DebugSession, folder: Path) -> SourceFinder:
    """Make the finder for a session of a project in a folder."""
    stops = [target.stop for target in session.state.targets.values() if target.stop is not None]
    of_frames = [frame.source.path for stop in stops for frame in stop.frames or () if frame.source is not None]
    reported = [source.path for source in session.event_state.sources.values()]
    locations = [each.spec.location for each in session.breakpoints]
    each = [str(location.file) for location in locations if isinstance(location, SourceLocation)]
    return SourceFinder(
        folders=(session.cwd, folder),
        project=folder,
        known=[path for path in (*each, *reported, *of_frames) if path is not None],
        program=None if session.program is None else session.cwd / session.program,
        finds_names=session.traits.finds_sources_by_name,
    )


async def found[L: SourceLocation | FunctionLocation](call: ActionCall, location: L) -> L | SourceLocation:
    """Return a location of the caller's session with the file that it means. Raises: as `SourceFinder.location`."""
    if not isinstance(location, SourceLocation):
        return location
    return await anyio.to_thread.run_sync(finder_of(call.session, call.folder).location, location)


async def with_files(call: ActionCall, specs: Iterable[BreakpointSpec]) -> list[BreakpointSpec]:
    """Return breakpoints for the caller's session with the files that they mean. Raises: as `SourceFinder.location`."""
    return await anyio.to_thread.run_sync(finder_of(call.session, call.folder).specs, specs)


def _ends_with(path: Path, end: Path) -> bool:
    return path.parts[-len(end.parts) :] == end.parts


def _sources_in(program: Path | None, end: Path) -> Iterator[str]:
    """Yield the paths in an executable that end so, as Go's table of files has them."""
    try:
        if program is None or not program.is_file() or not 0 < program.stat().st_size <= limits.EXECUTABLE_BYTES:
            return
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield from dict.fromkeys(map(os.fsdecode, _paths_in(content, b"/" + os.fsencode(end))))
    except OSError:
        return


def _paths_in(content: mmap.mmap, end: bytes) -> Iterator[bytes]:
    """Yield the paths that end so, some more than once; a regular expression alone holds up all threads for seconds."""
    path = re.compile(rb"(?<![\x20-\x7e])/[\x20-\x7e]{0,%d}?" % _PATH_BYTES + re.escape(end) + rb"(?![\x20-\x7e])")
    place = -1
    while (place := content.find(end, place + 1)) >= 0:
        after = place + len(end)
        if not _PRINTABLE.match(content, after):
            yield from path.findall(content, max(0, place - _PATH_BYTES - 1), after + 1)


def _files_below(folder: Path, end: Path) -> Iterator[Path]:
    """Yield the files of a project whose paths end so, except files in hidden folders and in packages that it uses."""
    entry_count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PACKAGES)
        entry_count += len(files) + len(folders)
        if entry_count > limits.PROJECT_FILES:
            return
        path = Path(place, end.name)
        if end.name in files and _ends_with(path, end):
            yield path
