"""Starting a program under a debugger, or attaching to one."""

import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.breakpoint_forms.rows import function_breakpoints, source_breakpoints
from dapkit.agent.breakpoint_forms.source_files import SourceFinder, with_files
from dapkit.agent.breakpoint_forms.specs import check_condition, specs_of
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.calls.session_notes import Launched, SessionNotes
from dapkit.agent.configurations import plans_of
from dapkit.agent.reading.report import last_output, stop_report
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.session import Started
from dapkit.catalog import Catalog, Choice, NoProgram, Traits, load, route_to, with_sources_mapped
from dapkit.catalog.chooser import Ability
from dapkit.catalog.debug_port import debug_port
from dapkit.catalog.launch_json import Plan
from dapkit.catalog.programs import bare_name
from dapkit.client import BreakpointSpec, FunctionLocation
from dapkit.client.routes import Route
from dapkit.protocol import DapkitError
from dapkit.python.program_command import ProgramCommand, python_command
from dapkit.redaction.redaction import Redaction
from dapkit.sessions.start_spec import StartSpec
from dapkit.sessions.stops import Outcome

log = logging.getLogger(__name__)

_TIME_TRAVEL = "timeTravel"
"""The key of dapkit's adapter for Python."""


@action(Approval.EXECUTE, example={"program": "app.py", "args": ["--fast"], "breakpoints": ["app.py:12"]})
async def launch(
    call: ActionCall,
    *,
    program: p.Program | None = None,
    args: p.Args | None = None,
    module: p.Module | None = None,
    test: p.Test | None = None,
    configuration: p.Configuration | None = None,
    inputs: p.Inputs | None = None,
    adapter: p.AdapterName | None = None,
    cwd: p.Folder | None = None,
    env: p.Environment | None = None,
    stdin_file: p.StdinFile | None = None,
    terminal: p.InTerminal = False,
    breakpoints: p.Breakpoints | None = None,
    exceptions: p.Exceptions | None = None,
    expressions: p.Expressions | None = None,
    stop_on_entry: p.StopOnEntry | None = None,
    time_travel: p.TimeTravel = False,
    source_map: p.SourceMap | None = None,
    options: p.Options | None = None,
) -> Started:
    """Start a program, a Python module, a test or a configuration of launch.json under its debugger."""
    _one_of(program=program, module=module, test=test, configuration=configuration)
    folder = _folder(call, cwd)
    specs = specs_of(breakpoints or (), folders=(call.folder, folder))
    call.progress("choosing a debug adapter")
    catalog = await anyio.to_thread.run_sync(lambda: load(folder, env=call.request.env))
    if time_travel:
        options = {_TIME_TRAVEL: True, **(options or {})}
    if configuration is not None:
        changes = {"args": args, "cwd": cwd and str(cwd), "stopOnEntry": stop_on_entry, **(options or {})}
        plans = await anyio.to_thread.run_sync(
            lambda: plans_of(configuration, catalog, folder, program=program, inputs=inputs, env=env, changes=changes)
        )
        plans = _mapped(plans, _source_map(source_map, folder))
        return await _configured(call, plans, folder, specs=specs, exceptions=exceptions, expressions=expressions or ())
    command = _command(catalog, folder, program=program, module=module, test=test, args=args or (), adapter=adapter)
    if stdin_file is not None and (not stdin_file.exists() or stdin_file.is_dir()):
        raise InvalidArguments(f"stdin_file: there is no file {stdin_file}")
    choice = await _choice(
        catalog,
        folder,
        command,
        adapter=adapter,
        ability="terminal" if terminal else "input" if stdin_file is not None else None,
        python=_named_interpreter(options or {}, folder, catalog.env),
    )
    if time_travel and not choice.definition.traits.recorded_history:
        raise InvalidArguments(
            f"time_travel: adapter {choice.definition.name} keeps no history; adapter dapkit does, for Python programs"
        )
    choice = with_sources_mapped(choice, _source_map(source_map, folder))
    specs = await _found(call, specs, folder, choice)
    own_input = call.request.stdin if stdin_file is None and not terminal else None
    unread_input = own_input is not None and not choice.has_input_read
    given_input = stdin_file if unread_input or own_input is None else own_input
    by_arguments = bool(choice.definition.launch_with_input) and not terminal
    program_choice = Launched(
        choice=choice,
        program=None if choice.program is None else str(choice.program),
        module=command.module,
        code=command.code,
        python_args=command.options,
        args=command.args,
        cwd=folder,
        env=env or {},
        stop_on_entry=_stops_on_entry(stop_on_entry, choice, otherwise=bool(specs or exceptions)),
        terminal=terminal or (given_input is not None and not by_arguments),
        program_input=given_input if by_arguments else None,
        options=options or {},
    )
    arguments = await anyio.to_thread.run_sync(program_choice.configuration)  # it may look into the program
    start_of_it = replace(
        _start_of(choice, arguments, route_to(choice, arguments), folder, _name(choice, program_choice)),
        breakpoints=specs,
        exceptions=exceptions,
        panic_function=await anyio.to_thread.run_sync(choice.panic_function),
        input=None if by_arguments else given_input,
    )
    notes_of_session = SessionNotes(
        launched=program_choice, redaction=_redaction(call, env), expressions=[*(expressions or ())]
    )
    await _open(call, start_of_it, notes_of_session)
    notes = [*map(str, call.settings.problems), *choice.notices, *choice.ignored(arguments)]
    if stop_on_entry and not choice.stops_on_entry:
        notes.append(f"{choice.definition.name} cannot stop where the program begins: set a breakpoint there")
    patience = call.settings.session_initial_stop_seconds
    return await _started(call, notes, patience=patience, unread_input=unread_input)


@action(Approval.EXECUTE, example={"pid": 4711})
async def attach(
    call: ActionCall,
    *,
    pid: p.Pid | None = None,
    port: p.Port | None = None,
    host: p.Host | None = None,
    program: p.Program | None = None,
    configuration: p.Configuration | None = None,
    inputs: p.Inputs | None = None,
    adapter: p.AdapterName | None = None,
    cwd: p.Folder | None = None,
    breakpoints: p.Breakpoints | None = None,
    exceptions: p.Exceptions | None = None,
    source_map: p.SourceMap | None = None,
    options: p.Options | None = None,
) -> Started:
    """Attach to a running process, or to a debugger or program that listens on a port."""
    if pid is None and port is None and configuration is None:
        raise InvalidArguments("attach requires pid or port", hint="Or the name of a configuration of launch.json.")
    if pid is not None and port is not None:
        raise InvalidArguments("attach: pid and port exclude each other")
    folder = _folder(call, cwd)
    specs = specs_of(breakpoints or (), folders=(call.folder, folder))
    where = host or "127.0.0.1"
    call.progress("choosing a debug adapter")
    catalog = await anyio.to_thread.run_sync(lambda: load(folder, env=call.request.env))
    if configuration is not None:
        changes = {"port": port, "host": host, **(options or {})}
        plans = await anyio.to_thread.run_sync(
            lambda: plans_of(configuration, catalog, folder, program=program, pid=pid, inputs=inputs, changes=changes)
        )
        plans = _mapped(plans, _source_map(source_map, folder))
        return await _configured(call, plans, folder, specs=specs, exceptions=exceptions)
    choice = await anyio.to_thread.run_sync(
        lambda: catalog.choose(program, cwd=folder, adapter=adapter, pid=pid, host=where, port=port)
    )
    choice = with_sources_mapped(choice, _source_map(source_map, folder))
    specs = await _found(call, specs, folder, choice)
    target = program or (f"process {pid}" if pid is not None else f"{where}:{port}")
    if pid is not None and choice.definition.attach_signal:
        call.progress(f"asking process {pid} to listen for a debugger")
        port, pid = await anyio.to_thread.run_sync(debug_port, pid, choice.definition), None
    arguments = choice.attach_arguments(pid=pid, host=where, port=port, cwd=folder, more=options or {})
    route = route_to(choice, arguments, host=where, port=port)
    start_of_it = replace(
        _start_of(choice, arguments, route, folder, target),
        request="attach",
        breakpoints=specs,
        exceptions=exceptions,
    )
    await _open(call, start_of_it, SessionNotes(redaction=_redaction(call, None)))
    return await _started(call, choice.notices, patience=limits.ATTACHED_STOP_SECONDS)


async def attach_to_engine(
    call: ActionCall, options: Mapping[str, object], *, pid: int, breakpoints: Sequence[str], target: str
) -> Started:
    """Attach to a member of a job; the options name the socket of its engine. Raises: as `attach`."""
    folder = _folder(call, None)
    specs = specs_of([*breakpoints], folders=(call.folder, folder))
    catalog = await anyio.to_thread.run_sync(lambda: load(folder, env=call.request.env))
    choice = await anyio.to_thread.run_sync(lambda: catalog.choose(cwd=folder, adapter="dapkit", pid=pid))
    arguments = choice.attach_arguments(pid=pid, cwd=folder, more=dict(options))
    arguments.pop("processId", None)
    start_of_it = replace(
        _start_of(choice, arguments, route_to(choice, arguments), folder, target),
        request="attach",
        breakpoints=specs,
    )
    await _open(call, start_of_it, SessionNotes(redaction=_redaction(call, None)))
    return await _started(call, choice.notices, patience=limits.ATTACHED_STOP_SECONDS)


@action(Approval.EXECUTE, example={"program": "app", "core": "core.4711"})
async def core(
    call: ActionCall,
    *,
    program: p.Program,
    core: p.CoreFile,
    adapter: p.AdapterName | None = None,
    cwd: p.Folder | None = None,
    options: p.Options | None = None,
) -> Started:
    """Open the core file of a program that has crashed, to look at its stacks and values."""
    folder = _folder(call, cwd)
    call.progress("choosing a debug adapter")
    catalog = await anyio.to_thread.run_sync(lambda: load(folder, env=call.request.env))
    path = _program(program, folder, catalog.env)
    choice = await anyio.to_thread.run_sync(lambda: catalog.choose(path, cwd=folder, adapter=adapter, ability="core"))
    arguments = choice.core_arguments(core, cwd=folder, more=options or {})
    start_of_it = _start_of(choice, arguments, route_to(choice, arguments), folder, str(path))
    await _open(call, replace(start_of_it, post_mortem=True), SessionNotes(redaction=_redaction(call, None)))
    return await _started(call, choice.notices, patience=limits.ATTACHED_STOP_SECONDS)


@action(Approval.EXECUTE, example={})
async def restart(
    call: ActionCall,
    *,
    args: p.Args | None = None,
    env: p.Environment | None = None,
    breakpoints: p.Breakpoints | None = None,
    stop_on_entry: p.StopOnEntry | None = None,
) -> Started:
    """Start the program again with the same breakpoints, which follow their lines if files were edited, and further."""
    session, remembered = call.session, call.remembered
    specs = specs_of(breakpoints or (), folders=(call.folder, session.cwd))
    remembered.redaction = Redaction([call.request.env or {}, env or {}], also=[remembered.redaction])
    changes: Mapping[str, object] = {}
    if args is not None or env is not None or stop_on_entry is not None:
        if remembered.launched is None:
            raise InvalidArguments("restart: only a program that launch has started can be given other arguments")
        remembered.launched = remembered.launched.changed(args=args, env=env, stop_on_entry=stop_on_entry)
        changes = await anyio.to_thread.run_sync(remembered.launched.configuration)
    call.progress("starting the program again")
    for spec in await with_files(call, specs):
        check_condition(spec.condition, session.traits)
        await session.breakpoints.set(spec)
    await session.restart(changes, deadline=call.left)
    return await _started(call, (), patience=call.settings.session_initial_stop_seconds)


def _start_of(
    choice: Choice, arguments: Mapping[str, object], route: Route, folder: Path, program: str | None
) -> StartSpec:
    """Return the arguments that start a session with a chosen adapter; none of them stops the program yet."""
    return StartSpec(
        adapter=choice.definition.name,
        route=route,
        request="attach" if arguments.get("request") == "attach" else "launch",
        configuration=arguments,
        cwd=folder,
        program=program,
        adapter_id=choice.definition.own_id,
        traits=choice.definition.traits,
    )


async def _configured(
    call: ActionCall,
    plans: Sequence[Plan],
    folder: Path,
    *,
    specs: Sequence[BreakpointSpec],
    exceptions: Sequence[str] | None,
    expressions: Sequence[str] = (),
) -> Started:
    """Start a configuration of launch.json; start all parts of a compound, and report the last."""
    notes: list[str] = []
    for plan in plans:
        if plan.choice is not None:
            plan.choice.check_launch(plan.arguments)
            notes += plan.choice.ignored(plan.arguments)
    for plan in [await anyio.to_thread.run_sync(_by_debug_port, plan) for plan in plans]:
        located = specs if plan.choice is None else await _found(call, specs, folder, plan.choice)
        spec_to_start = StartSpec(
            adapter=plan.choice.definition.name if plan.choice is not None else plan.name,
            route=plan.route(),
            request="attach" if plan.request == "attach" else "launch",
            configuration=plan.arguments,
            cwd=Path(str(plan.arguments.get("cwd") or folder)),
            program=str(plan.arguments.get("program") or plan.name),
            adapter_id=plan.choice.definition.own_id if plan.choice is not None else "dapkit",
            traits=plan.choice.definition.traits if plan.choice is not None else Traits(),
            breakpoints=located,
            post_mortem=plan.choice is not None and plan.choice.opens_core(plan.arguments),
            exceptions=exceptions,
            panic_function=None if plan.choice is None else await anyio.to_thread.run_sync(plan.choice.panic_function),
        )
        env = plan.arguments.get("env")
        redaction = _redaction(call, env if isinstance(env, dict) else None, plan.secrets)
        notes_of_session = SessionNotes(redaction=redaction, expressions=[*expressions])
        await _open(call, spec_to_start, notes_of_session, has_name=len(plans) == 1)
        notes += [*plan.notes, *([f"{plan.name} is session {call.session.name}"] if len(plans) > 1 else [])]
    return await _started(call, notes, patience=call.settings.session_initial_stop_seconds)


def _by_debug_port(plan: Plan) -> Plan:
    """Replace a process id by the port of that process, where the adapter attaches to ports alone; see `debug_port`."""
    pid = str(plan.arguments.get("processId", ""))
    if (
        plan.request != "attach"
        or plan.choice is None
        or not plan.choice.definition.attach_signal
        or not pid.isdecimal()
    ):
        return plan
    others = {name: value for name, value in plan.arguments.items() if name != "processId"}
    return replace(plan, arguments={**others, "port": debug_port(int(pid), plan.choice.definition)})


def _source_map(mapping: Mapping[str, str | None] | None, folder: Path) -> dict[str, str]:
    """Make the local side of mapped sources absolute."""
    for there, here in (mapping or {}).items():
        if not here:
            raise InvalidArguments(f"source_map: expected FROM=TO, found {there!r}")
    return {there: os.path.normpath(folder / Path(here or "").expanduser()) for there, here in (mapping or {}).items()}


def _mapped(plans: Sequence[Plan], source_map: Mapping[str, str]) -> list[Plan]:
    """Make the adapters of configurations map sources. Raises: CatalogError."""
    return [
        plan if plan.choice is None else plan.with_choice(with_sources_mapped(plan.choice, source_map))
        for plan in plans
    ]


def _one_of(*, program: str | None, configuration: str | None, **others: str | None) -> None:
    """Make sure that there is exactly one thing to launch; a configuration may need a program beside it."""
    values = {**others, "configuration": configuration, **({"program": program} if configuration is None else {})}
    names = [name for name, value in values.items() if value is not None]
    if not names:
        raise InvalidArguments("program is required for launch", hint="Or one of module, test and configuration.")
    if len(names) > 1:
        raise InvalidArguments(f"launch: {' and '.join(names)} exclude each other")


def _folder(call: ActionCall, cwd: Path | None) -> Path:
    folder = cwd or call.folder
    if not folder.is_dir():
        raise InvalidArguments(f"cwd: there is no folder {folder}")
    return folder


def _command(
    catalog: Catalog,
    folder: Path,
    *,
    program: str | None,
    module: str | None,
    test: str | None,
    args: Sequence[str],
    adapter: str | None,
) -> ProgramCommand:
    """Return the program to run: if the program is a Python interpreter, the one that its arguments name."""
    if program is None:
        return ProgramCommand(
            module="pytest" if test is not None else module, args=(*([test] if test is not None else ()), *args)
        )
    path = _program(program, folder, catalog.env)
    pythons = [
        definition
        for definition in catalog.adapters.values()
        if "python" in definition.languages and adapter in (None, definition.name)
    ]
    if path.is_file() and any(bare_name(program) in definition.interpreters for definition in pythons):
        command = python_command(path, args)
        if command is not None:
            return command
    return ProgramCommand(script=program, args=tuple(args))


async def _choice(
    catalog: Catalog,
    folder: Path,
    command: ProgramCommand,
    *,
    adapter: str | None,
    ability: Ability | None,
    python: Path | None,
) -> Choice:
    """Choose the adapter for a launch; modules, tests and programs of a Python interpreter are Python's.

    `python` is the interpreter that the options name; one in the command line takes precedence.

    Raises:
        InvalidArguments: the program is a folder, and the adapter takes none.
        CatalogError: there is no such program, or nothing fits it.

    """
    script, interpreter = command.script, command.interpreter
    path = None if script is None else folder / script if interpreter else _program(script, folder, catalog.env)
    if path is not None and "/" not in str(script) and adapter is None and not path.exists():
        raise NoProgram(f"there is no program {path}, and no command {script} on PATH")
    language = "python" if path is None or interpreter is not None else None
    choice = await anyio.to_thread.run_sync(
        lambda: catalog.choose(
            path,
            cwd=folder,
            adapter=adapter,
            language=language,
            python=interpreter or python,
            ability=ability,
        )
    )
    if path is not None and path.is_dir() and not choice.definition.directories:
        raise InvalidArguments(
            f"launch program resolves to a directory: {script}/. "
            "Pass an executable file path or choose an adapter that supports package directories."
        )
    return choice


def _named_interpreter(options: Mapping[str, object], folder: Path, env: Mapping[str, str]) -> Path | None:
    """Return the interpreter that the options name as `python`, alone or with arguments of its own."""
    value = options.get("python")
    name = value[0] if isinstance(value, list) and value else value
    return _program(name, folder, env) if isinstance(name, str) and name else None


def _program(program: str, folder: Path, env: Mapping[str, str]) -> Path:
    """Find the program: a path relative to the folder, or a command of the caller's PATH."""
    path = folder / program
    if not path.exists() and "/" not in program and (path_in_path := shutil.which(program, path=env.get("PATH"))):
        return Path(path_in_path)
    return path


async def _found(
    call: ActionCall, specs: Sequence[BreakpointSpec], folder: Path, choice: Choice
) -> list[BreakpointSpec]:
    """Return breakpoints with the files that they mean. Raises: as `SourceFinder.specs`."""
    finder = SourceFinder(
        folders=(call.folder, folder),
        project=call.folder,
        program=choice.program,
        finds_names=choice.definition.traits.finds_sources_by_name,
    )
    return await anyio.to_thread.run_sync(finder.specs, specs)


def _stops_on_entry(stop_on_entry: bool | None, choice: Choice, *, otherwise: bool) -> bool:
    """Whether to stop where the program begins: as asked, or where nothing else would stop it."""
    if stop_on_entry is not None:
        return stop_on_entry
    return choice.stops_on_entry and not otherwise


def _name(choice: Choice, launched: Launched) -> str:
    if launched.module is not None:
        return " ".join(["-m", launched.module, *launched.args])
    if launched.code is not None:
        return f"-c {launched.code}"
    return str(choice.program or launched.program)


def _redaction(call: ActionCall, env: Mapping[str, str | None] | None, secrets: Sequence[str] = ()) -> Redaction:
    return Redaction([call.request.env or {}, env or {}], secrets)


async def _open(call: ActionCall, start_spec: StartSpec, remembered: SessionNotes, *, has_name: bool = True) -> None:
    for spec in start_spec.breakpoints:
        check_condition(spec.condition, start_spec.traits)
    call.progress(f"starting {start_spec.adapter}")
    name = call.request.session if has_name else None
    session = await call.sessions.open(
        call.folder, start_spec, name=name, deadline=call.left, settings=call.settings, on_progress=call.report_progress
    )
    call.memories[session] = remembered
    call.use(session)


async def _started(call: ActionCall, notes: Sequence[str], *, patience: float, unread_input: bool = False) -> Started:
    """Wait for the first stop, and report it."""
    session = call.session
    call.progress("waiting for the first stop")
    seconds = call.left if call.patient else patience
    outcome = await session.execution.wait(deadline=seconds)
    if outcome.stop is not None and outcome.stop.reason == "entry":
        outcome = await _on_to_entry(call, outcome)
    report = None if outcome.stop is None else await stop_report(call, outcome.stop)
    return Started(
        snapshot=snapshot(session),
        adapter=session.adapter,
        notes=[*notes, *_unstopped(outcome, seconds)],
        breakpoints=source_breakpoints(session.breakpoints),
        function_breakpoints=function_breakpoints(session.breakpoints),
        stop=report,
        output="" if report is not None else last_output(call.take_output()[0]),
        unread_input=unread_input,
    )


async def _on_to_entry(call: ActionCall, outcome: Outcome) -> Outcome:
    """Run on from a stop that comes before the user's code to its entry function, if the adapter finds that."""
    session = call.session
    entry = FunctionLocation(session.traits.entry_function)
    if not entry.name or session.start.request != "launch" or session.start.post_mortem:
        return outcome  # a running process is past its entry, and a core file runs no more
    try:
        await session.breakpoints.set_temporary(entry)
        entry_breakpoint = session.breakpoints.at(entry)
        if entry_breakpoint is None or not entry_breakpoint.verified:
            await session.breakpoints.take_back_temporary()
            return outcome
        return await session.execution.resume(deadline=call.left)
    except DapkitError as error:
        log.info("%s was not run to: %s", entry.name, error)
        return outcome


def _unstopped(outcome: Outcome, seconds: float) -> Sequence[str]:
    """Say why there is no stop to report, unless the program has ended."""
    if outcome.failure:
        return [outcome.failure]
    return [f"it runs, and has not stopped within {round(seconds, 1):g} s: wait waits on"] if outcome.timed_out else []
