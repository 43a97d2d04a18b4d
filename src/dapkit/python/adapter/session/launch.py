"""Ways to a program that we start: as a child of ours, or in a terminal of the client's."""

import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace

from dapkit import limits
from dapkit.adapter import RequestFailed
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import LaunchRequestArguments
from dapkit.python.adapter.configuration.arguments import PythonLaunch
from dapkit.python.adapter.configuration.paths import PathTranslation
from dapkit.python.adapter.engine.debuggee import Debuggee
from dapkit.python.adapter.engine.link import LinkListener, NeverCame, listening
from dapkit.python.adapter.launch.command import Command, command_for, objection_to
from dapkit.python.adapter.launch.launched_program import Category, LaunchedProgram, started, started_in_terminal
from dapkit.python.adapter.session.engine_options import engine_options
from dapkit.python.adapter.session.run import Connector, DebuggeeRun, ProgramEndedEarly
from dapkit.python.adapter.time_travel.checkpoints import History
from dapkit.python.adapter.time_travel.recorded_program import ProcessesAlone, opened
from dapkit.python.adapter.time_travel.timeline import Past, TimeTravel
from dapkit.system.selection import IS_WINDOWS
from dapkit.transport import TransportError
from dapkit.transport.signals import signal_name


def launch_connector(launch: PythonLaunch) -> Connector:
    """Return the connector that starts a program and connects to it."""

    def connect(run: DebuggeeRun) -> AbstractAsyncContextManager[Debuggee]:
        return _started(launch, run)

    return connect


@asynccontextmanager
async def _started(launch: PythonLaunch, run: DebuggeeRun) -> AsyncIterator[Debuggee]:
    async with listening() as listener, _past(launch, run) as past:
        replay = None if past is None else past.replay
        command = await _command(launch, listener, run) if replay is None else replay.command(listener.path)
        async with _program(launch, command, run) as program:
            program.outlived_by = run.children.over
            run.children.presenters = command.presenters
            reached = False
            try:
                async with listener.accept(program.wait) as (link, order):
                    options = {**engine_options(launch, run.children), "presenters": list(command.presenters)}
                    if replay is not None:
                        options["recordedTexts"] = replay.texts
                    await link.request(LaunchRequestArguments(extra=_live_options(options, program, past)))
                    if replay is not None and replay.remark:
                        await run.host.output(f"{replay.remark}\n", category="important")
                    paths = PathTranslation(launch.path_mappings, str(command.cwd))
                    debuggee = Debuggee(link, order, program, paths)
                    if past is not None:
                        debuggee = TimeTravel(
                            debuggee,
                            program,
                            past,
                            options=options,
                            remembered=run.remembered,
                            report=run.report_from_past,
                            start_soon=run.host.start_soon,
                        )
                    reached = True
                    yield debuggee
            except (NeverCame, TransportError) as error:
                if reached:
                    raise
                raise await _why(command, program, error) from error


@asynccontextmanager
async def _past(launch: PythonLaunch, run: DebuggeeRun) -> AsyncIterator[Past | None]:
    """Yield the past that the program is to have, whose checkpoints may come; None without time travel.

    Raises:
        ProgramEndedEarly: the recording has no program, but processes that get sessions of their own.
        RequestFailed: the recording cannot be opened.

    """
    if not launch.travels:
        yield None
        return
    if launch.no_debug:
        if launch.recording is not None:
            raise RequestFailed("replay: a recording can only be debugged: launch it without noDebug")
        yield None
        return
    settings = launch.history_settings
    history = History(settings.memory_limit * limits.MEGABYTE)
    async with history.open(), AsyncExitStack() as stack:
        try:
            replay = await stack.enter_async_context(opened(launch))
        except ProcessesAlone as error:
            run.children.recorded = error.failed
            if not (error.failed.names and run.children.opens_recorded):
                raise
            await run.host.output(f"{error}\n", category="important")
            raise ProgramEndedEarly(str(error)) from error
        if replay is not None:
            run.children.recorded = replay.failed
        yield Past(history, settings, replay)


@asynccontextmanager
async def _program(launch: PythonLaunch, command: Command, run: DebuggeeRun) -> AsyncIterator[LaunchedProgram]:
    async def report(text: str, category: Category) -> None:
        if launch.redirect_output is not False:
            await run.report_output(text, category)

    async def run_in_terminal(argv: list[str]) -> None:
        # The variables to remove come first: VS Code keeps the order, and `env` takes `-u` only before assignments.
        await run.host.run_in_terminal(
            kind="external" if launch.console == "externalTerminal" else "integrated",
            title=launch.console_title or launch.console_name or command.name,
            cwd=str(command.cwd),
            args=[*map(shlex.quote, argv), command.shell_text] if command.shell_text else argv,
            args_can_be_interpreted_by_shell=True if command.shell_text else None,
            env=dict(sorted(command.env.items(), key=lambda variable: variable[1] is not None)) or None,
        )

    if launch.console == "internalConsole":
        async with started(command, report) as program:
            yield program
        return
    if command.interpreter != (sys.executable,):
        objection = await objection_to(command.interpreter, command.environment())
        if objection is not None:
            raise RequestFailed(objection)
    try:
        async with started_in_terminal(command, run_in_terminal) as program:
            yield program
    except CapabilityMissing as error:
        instead = "" if command.as_root else "; use internalConsole"
        raise RequestFailed(f"console is {launch.console!r}, but {error}{instead}") from error


async def _command(launch: PythonLaunch, listener: LinkListener, run: DebuggeeRun) -> Command:
    # Shells of Windows read other texts.
    has_shell = (
        not IS_WINDOWS
        and launch.console != "internalConsole"
        and bool(run.host.client.supports_args_can_be_interpreted_by_shell)
    )
    command = command_for(launch, listener.path, has_shell=has_shell)
    for problem in command.problems:
        await run.host.output(f"{problem}\n", category="console")
    return replace(command, sockets=run.children.sockets)


def _live_options(options: dict[str, object], program: LaunchedProgram, past: Past | None) -> dict[str, object]:
    """Return the options of the live program's engine; replay engines get those that all have."""
    options = {**options, "marksOutput": program.pipe_identities()}
    if past is not None:
        options |= past.options()
    elif program.marked.memory is not None:  # a replay process has read nothing
        options["outputMemory"] = program.marked.memory.place()
    return options


async def _why(command: Command, program: LaunchedProgram, error: Exception) -> RequestFailed:
    """Find out why a program could not be debugged."""
    objection = await objection_to(command.interpreter, command.environment())
    if objection is not None:
        return RequestFailed(objection)
    code = program.returncode
    how = "" if code is None else f" (exit code {code})" if code >= 0 else f" ({signal_name(-code)})"
    errors = program.last_errors()
    return RequestFailed(f"{error}{how}{f'; it wrote:\n{errors}' if errors else ''}")
