"""Launch and attach arguments of the Python adapter.

Names are those that existing launch configurations for Python use. This module states the allowed values of a key; the
code that reads a key states its effect. Older keys are turned into those that replaced them by `keys`, and keys
that do nothing here are reported by `keys`.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from dapkit.protocol import AttachRequestArguments, LaunchRequestArguments, ProtocolObject
from dapkit.python.recording.file import SUFFIX
from dapkit.system.files import user

type Console = Literal["internalConsole", "integratedTerminal", "externalTerminal"]
type Presentation = Literal["group", "inline", "hide"]


class PathMapping(ProtocolObject, frozen=True, kw_only=True):
    """A folder where the client sees it, and where the program does; `.` is the folder that it runs in."""

    local_root: str | None
    remote_root: str | None


class ExitCodeRange(ProtocolObject, frozen=True, kw_only=True):
    """Exit codes, the first and the last of them."""

    first: int = field(default=0, name="from")
    last: int = field(default=0, name="to")


class VariablePresentation(ProtocolObject, frozen=True, kw_only=True):
    """How rows of a value that are seldom wanted are shown; `all` is for those that are not given."""

    all: Presentation | None = None
    special: Presentation | None = None
    function: Presentation | None = None
    class_: Presentation | None = field(default=None, name="class")
    protected: Presentation | None = None


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


class TimeTravelSettings(ProtocolObject, frozen=True, kw_only=True):
    """How the history of a program is kept.

    Attributes:
        interval: seconds between two checkpoints of the program, at least; more where copying takes long.
        memory_limit: megabytes that all checkpoints may have together, shared memory counted once; some are dropped if
            they have more.
        threads: whether threads take `turns`, so that the history goes on, or the program runs as it does without time
            travel from the moment when it begins a second one, and its history will `end` there.
        past_writes: whether a change of the past is refused, or the program continues from there in a `branch`, and the
            later history is dropped.

    """

    interval: Annotated[float, Meta(ge=0.001, le=3600)] = 0.05
    memory_limit: Annotated[int, Meta(ge=1)] = 1000
    threads: Literal["turns", "end"] = "turns"
    past_writes: Literal["refuse", "branch"] = "refuse"


class ProgramAddress(ProtocolObject, frozen=True, kw_only=True):
    """Where a program and its debugger meet.

    Attributes:
        host: an address of this machine, or with `connect` of any.
        port: with `listen`, 0 leaves it to the system, and the choice is shown as console output.
        token_file: where the token is that a peer has to show to connect. Missing: the file that
            `dapkit.listen` or the adapter has made for this port, if it is there.
        tls_authority: with `connect`, a file of certificates that vouch for the program's, for a port that speaks TLS.
        tls_certificate: with `listen`, a file of the certificate that programs are shown, by TLS.
        tls_key: with `listen`, the file of its key, if that is not in the same one.
        allow_remote: with `listen`, whether the address may be one that other machines can reach.

    """

    host: str = "127.0.0.1"
    port: int | Annotated[str, Meta(pattern=r"^\d{1,5}$")]
    token_file: str | None = None
    tls_authority: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None
    allow_remote: bool = False

    @property
    def number(self) -> int:
        """The port, which a configuration may give as a text."""
        return int(self.port)


class PythonLaunch(LaunchRequestArguments, frozen=True, kw_only=True):
    """How to start a Python program: exactly one of `program`, `module` and `code`.

    Attributes:
        program: path of the file to run, relative to `cwd`.
        module: name of the module to run, as with `python -m`.
        code: program text, as with `python -c`; a list is joined as lines.
        args: arguments of the program. A text is left to the shell of the terminal that the client opens, as far as
            there is one, and else split into words as a shell does.
        cwd: folder to run in. Missing: the folder of `program`; else `workspace_folder`, or the adapter's own.
        env: variables added to the adapter's environment, numbers and truth values as they are written in JSON; null
            takes one away.
        env_file: a file of such variables, relative to `cwd`; `env` has precedence.
        python: the interpreter, alone or with arguments of its own; CPython 3.12 or later. Missing: the one that runs
            the adapter.
        python_path: an older name of `python`, and so is `pythonpath`.
        python_args: arguments for the interpreter, such as `-X dev`; a text is split as a shell does.
        stop_on_entry: whether to stop before the first line of the program.
        console_title: the client's title for the terminal; `console_name` is the same.
        sudo: whether the program runs as root, by `sudo -E` in the terminal, which may ask for a password there. Its
            children are not debugged. An adapter that is root itself needs none.
        workspace_folder: the folder that is open in the editor.
        console: where the program's input and output are: with the adapter, or in a terminal that the client opens
            (`runInTerminal`).
        redirect_output: whether the program's output is reported to the client; by default, unless it runs in a
            terminal.
        just_my_code: whether stepping and exceptions pass over library code.
        stop_all_threads: whether all threads stop with the one that hits something; the others keep running without it.
        evaluate_timeout: seconds that an input of the console may run before it is interrupted; 0 is for ever.
        rules: which code counts as library code, and which exceptions are not errors; the first rule that fits decides.
        show_return_value: whether variables show the results of functions that a step left or stepped over.
        path_mappings: where the program's files are for the client.
        sub_process: whether child processes are debugged too, each in a session of its own; so if missing. With
            `replay`: whether the failed processes of the recording are.
        sub_process_include: patterns, with `*` and `?`, of the child processes to debug; by default all.
        sub_process_exclude: patterns of child processes not to debug.
        auto_reload: whether saved files are loaded into the running program.
        break_on_system_exit: the exit codes of SystemExit at which exception breakpoints stop; null means `sys.exit()`.
            Missing: at all but 0 and null.
        break_on_system_exit_zero: whether they stop at all exit codes.
        django: whether templates of Django are sources (breakpoints, steps, variables); and exit code 3, by which the
            program is started anew, is not to stop it either.
        flask: the same as `jinja`.
        jinja: the same as `django` for templates of Jinja2.
        stepping_resumes_all_threads: whether the other threads run while one is stepped.
        max_exception_stack_frames: how many frames `exceptionInfo` shows, the newest; 0 is all.
        variable_presentation: how special, function, class and private variables are shown.
        gui_event_loop: the event loop that serves the program's windows while its main thread is stopped: `qt`, `tk`,
            `matplotlib`, or a function by its full name.
        presenters: files that say how values of the project's own classes are shown, relative to `cwd`. Missing: those
            of `[tool.dapkit]` in the nearest `pyproject.toml`.
        replay: a recording (`dapkit record`), executed again instead of a program; relative to `cwd`. No key about
            starting a program is used, except `python`, and `args` for the number of a process in the recording. A
            `program` whose name ends in `.dapkit` is the same.
        time_travel: whether the program can be shown at moments of its past (`stepBack`, `reverseContinue`), and how
            its history is kept. Its children are not debugged then.
        debug_options: an older way to say others; see `keys`, also for `debug_std_lib` and
            `stop_all_threads_on_suspend`.

    """

    program: str | None = None
    module: str | None = None
    code: str | list[str] | None = None
    args: tuple[str, ...] | str = ()
    cwd: str | None = None
    env: dict[str, str | int | float | bool | None] = field(default_factory=dict)
    env_file: str | None = None
    python: str | list[str] | None = None
    python_path: str | list[str] | None = None
    pythonpath: str | list[str] | None = None
    python_args: tuple[str, ...] | str = ()
    stop_on_entry: bool = False
    console: Console = "internalConsole"
    console_title: str | None = None
    console_name: str | None = None
    sudo: bool = False
    workspace_folder: str | None = None
    redirect_output: bool | None = None
    just_my_code: bool | None = None
    stop_all_threads: bool = True
    evaluate_timeout: float = 30.0
    rules: tuple[Rule, ...] = ()
    show_return_value: bool = True
    path_mappings: tuple[PathMapping, ...] = ()
    sub_process: bool | None = None
    sub_process_include: tuple[str, ...] | None = None
    sub_process_exclude: tuple[str, ...] = ()
    auto_reload: AutoReload | None = None
    break_on_system_exit: tuple[int | ExitCodeRange | None, ...] | None = None
    break_on_system_exit_zero: bool = False
    django: bool = False
    flask: bool = False
    jinja: bool = False
    stepping_resumes_all_threads: bool = True
    max_exception_stack_frames: int = 0
    variable_presentation: VariablePresentation | None = None
    gui_event_loop: str | None = None
    presenters: tuple[str, ...] | None = None
    replay: str | None = None
    time_travel: bool | TimeTravelSettings = False
    debug_options: tuple[str, ...] = ()
    debug_std_lib: bool = False
    stop_all_threads_on_suspend: bool | None = None

    @property
    def recording(self) -> str | None:
        """The file of a recording that is to be executed again."""
        return self.replay or (self.program if self.program and self.program.endswith(SUFFIX) else None)

    @property
    def travels(self) -> bool:
        """Whether the program has a history."""
        return self.time_travel is not False or self.recording is not None

    @property
    def history_settings(self) -> TimeTravelSettings:
        """How the history of the program is kept, if it has one."""
        return TimeTravelSettings() if isinstance(self.time_travel, bool) else self.time_travel

    @property
    def is_elevated(self) -> bool:
        """Whether the program runs as root, and the adapter does not."""
        return self.sudo and user() != 0


class PythonAttach(AttachRequestArguments, frozen=True, kw_only=True):
    """How to reach a running program: exactly one of `connect`, `listen`, `socket` and `process_id`.

    Attributes:
        connect: where the program listens (`dapkit.listen`).
        listen: where to wait for the program (`dapkit.connect`).
        socket: path of the unix socket where the program listens.
        host: with `port`, an older way to say `connect`.
        port: see `host`.
        process_id: of a program that knows nothing of debuggers; see `injection`.
        sub_process_id: the id of a child process, if `socket` attaches to one.
        redirect_output: whether the program's output is reported to the client; it is still written to its usual place.
        presenters: files that say how values of the project's own classes are shown, by their paths where the program
            runs.

    The others have the same meaning as for launch.

    """

    connect: ProgramAddress | None = None
    listen: ProgramAddress | None = None
    socket: str | None = None
    host: str | None = None
    port: int | Annotated[str, Meta(pattern=r"^\d{1,5}$")] | None = None
    process_id: int | str | None = None
    sub_process_id: int | None = None
    redirect_output: bool | None = None
    just_my_code: bool | None = None
    stop_all_threads: bool = True
    evaluate_timeout: float = 30.0
    rules: tuple[Rule, ...] = ()
    show_return_value: bool = True
    path_mappings: tuple[PathMapping, ...] = ()
    sub_process: bool | None = None
    sub_process_include: tuple[str, ...] | None = None
    sub_process_exclude: tuple[str, ...] = ()
    auto_reload: AutoReload | None = None
    break_on_system_exit: tuple[int | ExitCodeRange | None, ...] | None = None
    break_on_system_exit_zero: bool = False
    django: bool = False
    flask: bool = False
    jinja: bool = False
    stepping_resumes_all_threads: bool = True
    max_exception_stack_frames: int = 0
    variable_presentation: VariablePresentation | None = None
    gui_event_loop: str | None = None
    presenters: tuple[str, ...] | None = None
    debug_options: tuple[str, ...] = ()
    debug_std_lib: bool = False
    stop_all_threads_on_suspend: bool | None = None
