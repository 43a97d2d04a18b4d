"""A call in the form in which the hub passes it on, and the handler of calls."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from dapkit.hub import limits
from dapkit.hub.errors import CallRefused
from dapkit.settings import Settings

type ReportProgress = Callable[[str, float | None], None]
"""Reports the current step to the caller, and its progress in percent; it never waits."""


type ShowPart = Callable[[str], None]
"""Sends a text to the caller, after those that were sent before; it never waits."""


@dataclass(frozen=True, kw_only=True)
class HubCall:
    """One call of one caller.

    Attributes:
        name: of the action.
        arguments: as the caller gave them, unchecked.
        project: folder whose sessions are meant.
        session: name of the session; None for the only one.
        read_only: whether anything but reading is to be refused.
        env: the caller's whole environment, where the action starts a program.
        stdin: where the caller's standard input can be opened, if a program that is started is to read that.
        settings: as they hold for the caller and its project.
        report: for progress.
        show: sends a part of the answer that is ready before the whole.

    """

    name: str
    arguments: Mapping[str, object]
    project: Path
    session: str | None
    read_only: bool
    env: Mapping[str, str] | None
    settings: Settings
    report: ReportProgress
    show: ShowPart = lambda _text: None
    stdin: Path | None = None


class CallHandler(Protocol):
    """Answers calls."""

    async def handle(self, call: HubCall) -> dict[str, object]:
        """Carry out a call; cancelled when the caller gives it up."""
        ...

    def busy(self) -> bool:
        """Whether there is anything that would be lost with the hub."""
        ...


type HandlerFactory = Callable[[Settings], AbstractAsyncContextManager[CallHandler]]
"""Makes the handler for the time that the hub runs; leaving the context ends all sessions."""


async def read_call(message: Mapping[str, object], report: ReportProgress, show: ShowPart) -> HubCall:
    """Read a call from a message, and the settings of its project.

    Raises:
        CallRefused: a field is missing or wrong, or the settings cannot be read in time.

    """
    project = _field(message, "project", str, None)
    if not Path(project).is_absolute():
        raise CallRefused("invalid_call", f"project: expected an absolute path, found {project!r}")
    if not _names_a_file(project):
        raise CallRefused("invalid_call", f"project: expected a path in UTF-8 and without NUL, found {project!r}")
    session = _field(message, "session", str, "")
    env = _field(message, "env", dict, {})
    stdin = _field(message, "stdin", str, "")
    return HubCall(
        name=_field(message, "call", str, None),
        arguments=_field(message, "arguments", dict, {}),
        project=Path(project),
        session=session or None,
        read_only=_field(message, "read_only", bool, False),  # noqa: FBT003 - the default
        env=_texts("env", env) if env else None,
        settings=await load_settings(Path(project), _texts("overrides", _field(message, "overrides", dict, {}))),
        report=report,
        show=show,
        stdin=Path(stdin) if stdin else None,
    )


async def load_settings(project: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Load the settings as `Settings.load` does, in a thread: a file may be where nothing answers.

    Raises:
        CallRefused: they cannot be read within `limits.CONFIGURATION_SECONDS`.

    """
    load = partial(Settings.load, project, environ=environ)
    with anyio.move_on_after(limits.CONFIGURATION_SECONDS):
        return await anyio.to_thread.run_sync(load, abandon_on_cancel=True)
    seconds = limits.CONFIGURATION_SECONDS
    raise CallRefused("settings_unread", f"the settings of {project} could not be read within {seconds:g} s")


def _names_a_file(path: str) -> bool:
    try:
        return b"\0" not in path.encode()
    except UnicodeEncodeError:
        return False


def _field[T](message: Mapping[str, object], name: str, kind: type[T], missing: T | None) -> T:
    value = message.get(name)
    if value is None and missing is not None:
        return missing
    if not isinstance(value, kind):
        raise CallRefused("invalid_call", f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return value


def _texts(name: str, values: Mapping[object, object]) -> dict[str, str]:
    texts = {key: value for key, value in values.items() if isinstance(key, str) and isinstance(value, str)}
    if len(texts) != len(values):
        raise CallRefused("invalid_call", f"{name}: expected texts only")
    return texts
