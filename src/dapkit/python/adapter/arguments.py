"""Launch and attach arguments of the Python adapter.

Names are those that existing launch configurations for Python use. What a key may be is said here;
what it does, where it is read. Unknown keys are reported by `keys`.
"""

from typing import Literal

from msgspec import field

from dapkit.protocol import AttachRequestArguments, LaunchRequestArguments, ProtocolObject

type Console = Literal["internalConsole", "integratedTerminal", "externalTerminal"]


class PathMapping(ProtocolObject, frozen=True, kw_only=True):
    """A folder where the client sees it, and where the program does; `.` is the folder that it runs in."""

    local_root: str
    remote_root: str


class Rule(ProtocolObject, frozen=True, kw_only=True):
    """Whether code is the program's own, or exceptions are errors: one of the others, a pattern with `*` and `?`."""

    include: bool
    path: str | None = None
    module: str | None = None
    exception: str | None = None


class AutoReload(ProtocolObject, frozen=True, kw_only=True):
    """Whether functions are replaced in the running program when their file is saved."""

    enable: bool = False
    polling_interval: float | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None


class ProgramAddress(ProtocolObject, frozen=True, kw_only=True):
    """Where a program and its debugger meet.

    Attributes:
        host: an address of this machine, or with `connect` of any.
        port: with `listen`, 0 leaves it to the system, and the choice is shown as console output.
        token_file: where the token is that a peer has to show to connect. Missing: the file that
            `dapkit.listen` or the adapter has made for this port, if it is there.

    """

    host: str = "127.0.0.1"
    port: int
    token_file: str | None = None


class PythonLaunch(LaunchRequestArguments, frozen=True, kw_only=True):
    """How to start a Python program: exactly one of `program`, `module` and `code`.

    Attributes:
        program: path of the file to run, relative to `cwd`.
        module: name of the module to run, as with `python -m`.
        code: program text, as with `python -c`; a list is joined as lines.
        args: arguments of the program; a text is split as a shell does.
        cwd: folder to run in; the adapter's own if it is missing.
        env: variables added to the adapter's environment; null takes one away.
        env_file: a file of such variables, relative to `cwd`; `env` has precedence.
        python: the interpreter, alone or with arguments of its own; CPython 3.12 or later.
            Missing: the one that runs the adapter.
        python_path: an older name of `python`, and so is `pythonpath`.
        python_args: arguments for the interpreter, such as `-X dev`; a text is split as a shell does.
        stop_on_entry: whether to stop before the first line of the program.
        console: where the program's input and output are: with the adapter, or in a terminal
            that the client opens (`runInTerminal`).
        redirect_output: whether what the program writes is reported to the client; not in a terminal if missing.
        just_my_code: whether stepping and exceptions pass over library code.
        stop_all_threads: whether all threads stop with the one that hits something; the others run on without it.
        evaluate_timeout: seconds that an input of the console may run before it is interrupted; 0 is for ever.
        rules: what counts as library code, and which exceptions are not errors; the first rule that fits decides.
        show_return_value: whether variables show what functions returned that a step came out of or went over.
        path_mappings: where the program's files are for the client.
        sub_process: whether child processes are debugged too: not yet.
        auto_reload: whether saved files are loaded into the running program.

    """

    program: str | None = None
    module: str | None = None
    code: str | list[str] | None = None
    args: tuple[str, ...] | str = ()
    cwd: str | None = None
    env: dict[str, str | None] = field(default_factory=dict)
    env_file: str | None = None
    python: str | list[str] | None = None
    python_path: str | list[str] | None = None
    pythonpath: str | list[str] | None = None
    python_args: tuple[str, ...] | str = ()
    stop_on_entry: bool = False
    console: Console = "internalConsole"
    redirect_output: bool | None = None
    just_my_code: bool = True
    stop_all_threads: bool = True
    evaluate_timeout: float = 30.0
    rules: tuple[Rule, ...] = ()
    show_return_value: bool = True
    path_mappings: tuple[PathMapping, ...] = ()
    sub_process: bool | None = None
    auto_reload: AutoReload | None = None


class PythonAttach(AttachRequestArguments, frozen=True, kw_only=True):
    """How to reach a running program: exactly one of `connect`, `listen`, `socket` and `process_id`.

    Attributes:
        connect: where the program listens (`dapkit.listen`).
        listen: where to wait for the program (`dapkit.connect`).
        socket: path of the unix socket where the program listens.
        host: with `port`, an older way to say `connect`.
        port: see `host`.
        process_id: of a program that knows nothing of debuggers: not yet.
        redirect_output: whether what the program writes is reported to the client; it still goes where it went before.

    The others mean what they mean for launch.

    """

    connect: ProgramAddress | None = None
    listen: ProgramAddress | None = None
    socket: str | None = None
    host: str | None = None
    port: int | None = None
    process_id: int | str | None = None
    redirect_output: bool | None = None
    just_my_code: bool = True
    stop_all_threads: bool = True
    evaluate_timeout: float = 30.0
    rules: tuple[Rule, ...] = ()
    show_return_value: bool = True
    path_mappings: tuple[PathMapping, ...] = ()
    sub_process: bool | None = None
    auto_reload: AutoReload | None = None


def engine_options(args: PythonLaunch | PythonAttach) -> dict[str, object]:
    """Return what the engine has to know of the arguments, by the names that it knows."""
    options: dict[str, object] = {
        "justMyCode": args.just_my_code,
        "stopAllThreads": args.stop_all_threads,
        "rules": list(args.rules),
        "showReturnValue": args.show_return_value,
        "evaluateTimeout": args.evaluate_timeout,
    }
    if args.auto_reload is not None:
        options["autoReload"] = args.auto_reload
    match args:
        case PythonLaunch(no_debug=True):
            options["noDebug"] = True
        case PythonLaunch(stop_on_entry=True):
            options["stopOnEntry"] = True
    in_terminal = isinstance(args, PythonAttach) or args.console != "internalConsole"
    if in_terminal and args.redirect_output:
        options["redirectOutput"] = True
    return options
