"""The start of a debugged program: `python [options] entry.py --link unix:PATH ...`.

    entry.py --link unix:PATH (--program FILE | --module NAME | --code TEXT) [--] [argument...]
    entry.py --beginning DESCRIPTOR (--program FILE | --module NAME | --code TEXT) [--] [argument...]
    entry.py --record FOLDER (--program FILE | --module NAME | --code TEXT) [--] [argument...]

`python -m dapkit` becomes the second: the program is not launched by an adapter, but clients can attach to it from its
beginning on; the descriptor is a pipe, which holds the options (`startup`). `dapkit record` starts the third: the
program's inputs are recorded (`time_travel/record_only.py`). Everything after the program is the program's own; one
`--` in front of that is dropped.

This file runs as a script, in an interpreter where dapkit need not be installed. It lets `loader` make a world for the
package beside it, and removes entries from `sys.path` that the program would not find there without a debugger.

The wire
--------
DAP itself, with this process as the server; it connects to the socket that the adapter listens on:

1. adapter: `initialize`; we: its response (capabilities), then the event `initialized`.
2. adapter: `launch` with `justMyCode` (true) and `stopOnEntry` (false); answered at once.
   Then `setBreakpoints` and `setExceptionBreakpoints`, which may come later as well, at any time.
3. adapter: `configurationDone`; we: its response, the events `process` and `thread` (started, 1), and
   the program begins. `pause`, `threads` and `stackTrace` work while it runs.
4. Each stop is a `stopped` event: reason `breakpoint` (with hitBreakpointIds), `step`, `pause`, `exception`
   (with description and text) or `entry`; `allThreadsStopped` is true. Then also `scopes`, `variables`,
   `evaluate`, `exceptionInfo`, and `continue`, `next`, `stepIn`, `stepOut`, each with `singleThread`.
5. The program ends: `exited`, after all else and after its output was flushed, and the link closes.
   A program that is killed, or calls `os._exit`, closes it without.

`output` events are only log messages (category console) and dapkit's own messages (console, stderr); the program's
output is in its pipes. `thread` events report threads that `threading` starts.

Every request gets one response. A refusal has the reason in `message`:
"there is no thread 7; there are [1]", "thread 1 is running; pause it first", "reference 17 belongs to stop 3,
the program is at stop 5", "unknown command 'x'", "internal error of the debugger: ...".

`terminate` raises KeyboardInterrupt in the main thread and removes all breakpoints. `disconnect` ends the
process at once unless `terminateDebuggee` is false; then, and only then, it keeps running without us.
If the link breaks, the process ends at once, with exit code 129: a launched program dies with its debugger.
A child process comes by a way of its own (`child.py`).
"""

import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_ENGINE = (
    "engine.engine",
    "connection.link",
    "requests.dispatch",
    "connection.current_engine",
    "children.launch_hooks",
    "time_travel.record",
)
"""The parts of the engine that a launched program has before it begins."""


def _load_engine() -> "Callable[[str], Any]":
    """Load the package of this folder where the program does not see it; return its module loader."""
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of this script
    path = __file__.removesuffix("entry.py").rstrip("/\\").removesuffix("starting") + "loader.py"
    loader: Any = type(sys)("_dapkit_debuggee.loader")
    loader.__file__ = path
    loader.__builtins__ = dict(vars(builtins))
    exec(sys.modules["_frozen_importlib_external"].SourceFileLoader("loader", path).get_code("loader"), vars(loader))
    load: Callable[[str], Any] = loader.start(loader)
    return load


def _check(load: "Callable[[str], Any]") -> None:
    """Exit if the interpreter does not meet the engine's assumptions."""
    try:
        load("engine.interpreter_checks").check()
    except RuntimeError as error:
        sys.exit(f"dapkit: {error}")


def _arguments(words: list[str]) -> tuple[str, str, str, str, list[str]]:
    """Split the command line into the kind and source of the start, kind of program, program, and its arguments."""
    match words:
        case [
            ("--link" | "--beginning" | "--record") as how,
            way,
            ("--program" | "--module" | "--code") as kind,
            what,
            *rest,
        ]:
            return how[2:], way, kind[2:], what, rest[1:] if rest[:1] == ["--"] else rest
    raise SystemExit(
        "usage: entry.py --link unix:PATH | --beginning DESCRIPTOR | --record FOLDER "
        "(--program FILE | --module NAME | --code TEXT) [--] [argument...]"
    )


def _show_lines_at_once() -> None:
    """Write each line when it ends, as to a terminal: it must be seen before the next stop."""
    if sys.stdout is not None and not sys.stdout.isatty():
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # the program has not replaced it yet


def main() -> "Callable[[], None]":
    """Start as the command line says, and return the function that runs the program."""
    how, way, kind, what, rest = _arguments(sys.argv[1:])
    begin = {"link": _begin_launched, "beginning": _begin_attachable, "record": _begin_recorded}[how]
    return begin(_load_engine(), way, kind, what, rest)


def _begin_launched(
    load: "Callable[[str], Any]", link: str, kind: str, what: str, rest: list[str]
) -> "Callable[[], None]":
    """Connect to the adapter and wait for it to configure."""
    of_interpreter = set(map(id, load("loader").standard("gc").get_objects()))
    _check(load)
    program = load("program.main")
    archive = program.is_archive(kind, what)
    engine = load("engine.engine").Engine(
        load("connection.link").connect(link), what if kind != "code" else "-c", load("requests.dispatch").Dispatcher
    )
    if kind == "code":
        engine.shown.hints.append(what)
    current = load("connection.current_engine")
    current.engine = engine
    load("children.launch_hooks").prepare()
    load("loader").standard("atexit").register(current.finish)  # the first to be registered is the last to be called
    engine.start()
    load("interpreter.gc_tracking").untrack_all(of_interpreter)
    engine.let_link_take_turn()
    recording = engine.options.travel and engine.options.travel.recording
    if not recording:
        _show_lines_at_once()
    run, file = program.prepare(kind, what, rest, archive=archive, text=recording.program if recording else "")
    engine.data_breakpoints.program_begins()
    if engine.options.travel is not None:
        run = load("time_travel.record").begin(engine, run)
    if file:
        engine.sources.claim_for_program(file)
    run_to_end: Callable[[], None] = program.run_to_end(
        run,
        current.note_exit_code,
        engine.sources,
        sys._getframe(2).f_code,
        asked_to_end=current.asked_to_end,
    )
    return run_to_end


def _content(load: "Callable[[str], Any]", handle: int) -> bytes:
    """Return the contents of a pipe, and close it."""
    system = load("loader").standard("os")
    if system.name == "nt":  # it is a handle
        handle = load("loader").standard("msvcrt").open_osfhandle(handle, 0)
    parts = list(iter(lambda: system.read(handle, 1 << 16), b""))
    system.close(handle)
    return b"".join(parts)


def _begin_attachable(
    load: "Callable[[str], Any]", handle: str, kind: str, what: str, rest: list[str]
) -> "Callable[[], None]":
    """Let clients attach, and wait for the first if that is wanted."""
    of_interpreter = set(map(id, load("loader").standard("gc").get_objects()))
    beginning = load("loader").standard("marshal").loads(_content(load, int(handle)))
    load("loader").log_file = beginning["log"]
    startup, program, current = load("starting.startup"), load("program.main"), load("connection.current_engine")
    run, file = program.prepare(kind, what, rest, archive=program.is_archive(kind, what))
    identity = load("starting.attachable").identity
    identity.name, identity.file, identity.text = (what, file, "") if kind != "code" else ("-c", "", what)
    try:
        startup.begin(beginning)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"dapkit: {startup.explain(error, beginning)}")
    sources = startup.sources()
    load("interpreter.gc_tracking").untrack_all(of_interpreter)
    run_to_end: Callable[[], None] = program.run_to_end(
        run,
        identity.note_exit_code,
        sources,
        sys._getframe(2).f_code,
        asked_to_end=current.asked_to_end,
    )
    return run_to_end


def _begin_recorded(
    load: "Callable[[str], Any]", folder: str, kind: str, what: str, rest: list[str]
) -> "Callable[[], None]":
    """Record the program's inputs."""
    of_interpreter = set(map(id, load("loader").standard("gc").get_objects()))
    _check(load)
    program = load("program.main")
    for name in _ENGINE:  # so that the interpreter has the same names and modules when it is executed again
        load(name)
    run, _ = program.prepare(kind, what, rest, archive=program.is_archive(kind, what))
    record_only = load("time_travel.record_only")
    run = record_only.begin(folder, run)
    sources = load("starting.startup").sources()
    load("interpreter.gc_tracking").untrack_all(of_interpreter)
    run_to_end: Callable[[], None] = program.run_to_end(
        run, record_only.note_exit_code, sources, sys._getframe(2).f_code, asked_to_end=lambda: False
    )
    return run_to_end


if __name__ == "__main__":
    # An older one cannot even read the engine's modules. The adapter asks it for its version, and reports that.
    if sys.version_info < (3, 12):  # noqa: UP036 - that is for the interpreters that we support
        sys.exit(1)
    main()()
