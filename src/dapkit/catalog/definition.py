"""The definition of one debug adapter.

A definition is data: a file of `adapters/`, or a table of a user's own file over
it. Its texts may hold placeholders, such as `${program}`; `values` decides the meaning of each, and `templates` fills
them in.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal

type Transport = Literal["stdio", "tcp", "unix", "connect"]
"""On its stdin and stdout, on a socket that its command names, or at a place where it listens already."""

type SignalExitCodes = Literal["negative", "low_byte", "number"]
"""Exit codes for a program that a signal has killed: minus the signal's number, the low byte of that, or the number."""

type ArgumentTemplate = Mapping[str, object]
"""Arguments of a request, with placeholders in the texts."""

NOTHING: ArgumentTemplate = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Peculiarities of an adapter's responses that a reader must know.

    Attributes:
        adapter_is_program: whether the adapter runs inside the program, so that its process ends with the exit code of
            the program.
        command_mark: the first characters of a command in the context `repl`; empty if every text sent there is a
            command.
        call_traces: whether it answers `dapkit/traceCall`, a request to note the lines of a call without stops.
        counts_hits: whether a hit condition has the same meaning for it as for dapkit; dapkit counts the hits for other
            adapters.
        completion_prefix: the words before an expression in the text of a `completions` request, which is taken as a
            line of the debugger; empty if expressions are completed as they are.
        debugger_lines: the lines that the adapter or its debugger wrote about itself, into its console or the program's
            output: the whole line, as first group. They are not shown.
        default_filters: exception filters that are on until the user chooses others, in place of those that it turns on
            by default: these may stop at exceptions that are caught, or not at uncaught ones.
        entry_function: where the user's own code begins, if a stop at the entry comes before that: in the loader, or
            where there is no stack yet.
        evaluates_running: whether it evaluates expressions without a frame while the program runs.
        exit_line: the line in the program's output that reports its end, if no event does: the whole line, with the
            exit code as first group. The last one counts.
        exit_message: the message in its console when the program has ended, if it sends no `exited`: the whole message,
            with the exit code as first group.
        finds_sources_by_name: whether it takes the name of a file, or the end of its path, in place of the path.
        f_string_log_messages: whether it writes the log messages of breakpoints as Python's f-strings.
        fixed_addresses: whether programs that it starts run without randomised addresses, so that a fault of memory may
            differ from the one of a plain run.
        frame_command: the command of its `repl` that selects the frame at `{index}`, if commands ignore the request's
            frame.
        heap_request: whether it answers `dapkit/heap`, a request for the contents of the program's heap.
        line_command: the command of its `repl` that prints the line that the instruction at `{address}` belongs to.
        locks_request: whether it answers `dapkit/locks`, a request for the locks that are taken.
        log_lines_run_on: whether the log messages of breakpoints that it writes lack the line end.
        members_run_code: whether it runs code of the program to list the members of a value, such as properties.
        signal_message: the message in its console when a signal has killed the program, if it reports the exit code as
            shells do: the whole message, with the signal's name as first group.
        signal_exit_codes: the exit code that it reports otherwise. A negative one is always a signal; a `number` is one
            only if the program was stopped at that signal last.
        signal_description: how it describes a stop at a signal: the beginning, with the signal's name as first group.
        signal_expression: the expression with the signal's number at a stop at a signal, if the adapter does not report
            the number.
        pause_signals: names of the signals by which it stops a program that is to pause, if it reports them and not the
            reason `pause`.
        python_expressions: whether conditions and expressions are Python's, so that it can be seen before the start
            that one cannot be read.
        recorded_history: whether it answers `dapkit/timeline` and `dapkit/why` when it can step back.
        repl_is_command_line: whether `repl` is the debugger's own command line, where an expression could be taken for
            a command.
        scope_commands: commands of its `repl` that print NAME = VALUE for the variables of a scope, by the scope's
            `presentationHint`, if it refuses a whole scope because of one variable.
        stopped_call: words of its error for a call in an expression that a breakpoint or a panic has stopped; empty
            if it reports no such error.
        thrown: expressions for the exception being thrown, if the top frame is in `function`: its `type`, as a text or
            as the group of `type_pattern`, its `message`, as a text, or else its `value`.
        total_frames_is_guess: whether it reports a number of frames only so that it is asked for more, as the
            specification allows.
        unreadable_value: the first words of the value of a variable that cannot be read but has members.
        watch_commands: commands of its `repl` that set data breakpoints, if it has no request for them: by `write`,
            `read` and `readWrite`, with {id} for the data; by `remove`, with {number} for its own number; and by `name`
            the expression that is evaluated first, with {expression} and a {number}, so that `id` names the data in
            every frame.
        watches_addresses: whether it takes the value of an expression as the address to watch, and names that
            ADDRESS/SIZE.

    """

    adapter_is_program: bool = False
    command_mark: str = ""
    call_traces: bool = False
    counts_hits: bool = False
    completion_prefix: str = ""
    debugger_lines: re.Pattern[str] | None = None
    default_filters: tuple[str, ...] | None = None
    entry_function: str = ""
    evaluates_running: bool = False
    f_string_log_messages: bool = False
    fixed_addresses: bool = False
    exit_line: re.Pattern[str] | None = None
    exit_message: re.Pattern[str] | None = None
    finds_sources_by_name: bool = False
    frame_command: str = ""
    heap_request: bool = False
    line_command: str = ""
    locks_request: bool = False
    log_lines_run_on: bool = False
    members_run_code: bool = False
    signal_message: re.Pattern[str] | None = None
    signal_exit_codes: SignalExitCodes = "negative"
    signal_description: re.Pattern[str] | None = None
    signal_expression: str = ""
    pause_signals: tuple[str, ...] = ()
    python_expressions: bool = False
    recorded_history: bool = False
    repl_is_command_line: bool = False
    scope_commands: Mapping[str, str] = field(default_factory=dict)
    stopped_call: str = ""
    thrown: Mapping[str, str] = field(default_factory=dict)
    total_frames_is_guess: bool = False
    unreadable_value: str = ""
    watch_commands: Mapping[str, str] = field(default_factory=dict)
    watches_addresses: bool = False

    def exit_code_in(self, text: str) -> int | None:
        """Return the exit code of the program; None if this is not the adapter's exit message."""
        return _code_of(None if self.exit_message is None else self.exit_message.fullmatch(text))

    def exit_code_at_end_of(self, output: str) -> int | None:
        """Return the exit code in the last exit line of the program's output; None if there is no such line."""
        if self.exit_line is None:
            return None
        codes = (_code_of(self.exit_line.fullmatch(line)) for line in reversed(output.splitlines()))
        return next((code for code in codes if code is not None), None)

    def is_of_debugger(self, line: str) -> bool:
        """Whether the adapter or its debugger wrote this line of the program's output."""
        patterns = (self.debugger_lines, self.exit_line)
        return any(pattern is not None and pattern.fullmatch(line) is not None for pattern in patterns)

    def signal_in(self, text: str) -> str | None:
        """Return the signal that killed the program; None if this is not the adapter's signal message."""
        match = None if self.signal_message is None else self.signal_message.fullmatch(text)
        return None if match is None else match[1]

    def signal_described(self, description: str) -> str | None:
        """Return the signal that a stop is described by; None if it is not a stop at a signal."""
        match = None if self.signal_description is None else self.signal_description.match(description)
        return None if match is None else match[1]

    def names_pause_signal(self, description: str) -> bool:
        """Whether the description of a stop names a signal by which the adapter pauses programs."""
        return any(signal in description for signal in self.pause_signals)


_WHOLE_NUMBER = re.compile(r"-?\d{1,10}")


def _code_of(match: re.Match[str] | None) -> int | None:
    code = None if match is None else match[1]
    return int(code) if code is not None and _WHOLE_NUMBER.fullmatch(code) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterDefinition:
    """One adapter of the catalog.

    Attributes:
        name: its name for users.
        title: a description in a few words.
        command: the ways to start it, best first, each a list of arguments. A `*` in the first one stands for a
            version: the highest that is there.
        transport: how it speaks.
        ready: the text that it writes when it accepts connections, if it listens before.
        host: for the transport `connect`.
        port: the same.
        adapter_id: the name that it expects as its own in `initialize`.
        cwd: folder that it is started in; the user's if empty.
        languages: the languages of its programs.
        file_types: suffixes (`.py`) and whole names (`CMakeLists.txt`) of its programs, or of their sources.
        root_markers: files that show the root of a project, with `*` for any part of a name.
        root_contains: text that one of these has to contain for the project to be one of this adapter's.
        interpreters: programs that run its programs, as in `#!` lines and as processes.
        launch_types: its names as `type` in a `launch.json`.
        native: whether it debugs executables of the machine.
        directories: whether a folder can be a program.
        folder_markers: files that such a folder contains; if empty, the folder lies in a project of this adapter's.
        compiled: the hint for a source that must be built first; empty if sources are run as they are.
        programs: which of the file types are programs all the same.
        rank: of several that fit, the one with the lowest comes first.
        minimum_python: lowest version of the program's Python interpreter.
        launch: arguments of `launch`, `request` included, which may say `attach`.
        launch_in_terminal: arguments that replace those in `launch` to run the program in a terminal; empty if it has
            no such arguments.
        launch_with_input: arguments that replace those in `launch` to have the program read the file `input`; empty if
            it has no such arguments, as one that does this in a terminal needs none.
        attach_to_pid: arguments to attach to a process; None if it cannot.
        open_core: arguments to open a core file, `request` included; None if it cannot.
        open_core_version: the lowest version that opens core files; empty for any.
        launch_keys: all keys of `launch` that it knows, beside the keys of VS Code; empty if the keys are not known.
        attach_to_pid_needs: programs by which it gets into a process.
        attach_signal: name of the signal at which a process opens a port for a debugger: the adapter attaches to that;
            empty if it attaches to processes.
        debug_port: the port that such a process opens unless another is asked for.
        attach_to_port: arguments to attach to a port; None if it cannot.
        source_map: arguments that replace those in launch and attach to map sources, with the placeholders `pairs`,
            `table`, `substitutions` and `roots`.
        source_map_words: words of its command for each source that is mapped, with `there` and `here`.
        debugger_commands: arguments over the others that have the debugger run `commands` at its start.
        debugger_command_words: words of its command for each such `command`.
        listeners: processes that listen on such a port: the name of the executable, or a part of a path in the command
            line.
        port_is_adapter: whether such a port is the adapter itself, so that none is started.
        usual_at_ports: whether it is chosen for a port whose listener cannot be seen.
        process_names: names of its own processes, whatever built them and whatever they have loaded.
        reads_env_file: whether it reads `envFile` of a launch configuration itself.
        traits: the peculiarities of its responses.
        required: arguments without which a launch fails, and their meaning.
        version: arguments that make the first part of its command print its version; empty if nothing does.
        needs_version: whether it counts as installed only if it prints it.
        minimum_version: the lowest that works; empty for any.
        needs: other programs that it cannot do without.
        sample: name and text of a program by which it can be started for a check, if it needs one to start.
        install: how to get it.
        notes: its peculiarities, for users.
        sources: files that it was read from; a later one overrides an earlier one.

    """

    name: str
    title: str = ""
    command: tuple[tuple[str, ...], ...] = ()
    transport: Transport = "stdio"
    ready: str = ""
    host: str = "127.0.0.1"
    port: int = 0
    adapter_id: str = ""
    cwd: str = ""
    languages: tuple[str, ...] = ()
    file_types: tuple[str, ...] = ()
    root_markers: tuple[str, ...] = ()
    root_contains: str = ""
    interpreters: tuple[str, ...] = ()
    launch_types: tuple[str, ...] = ()
    native: bool = False
    directories: bool = False
    folder_markers: tuple[str, ...] = ()
    compiled: str = ""
    programs: tuple[str, ...] = ()
    rank: int = 100
    minimum_python: str = ""
    launch: ArgumentTemplate = NOTHING
    launch_in_terminal: ArgumentTemplate = NOTHING
    launch_with_input: ArgumentTemplate = NOTHING
    attach_to_pid: ArgumentTemplate | None = None
    open_core: ArgumentTemplate | None = None
    open_core_version: str = ""
    launch_keys: tuple[str, ...] = ()
    attach_to_pid_needs: tuple[str, ...] = ()
    attach_signal: str = ""
    debug_port: int = 0
    attach_to_port: ArgumentTemplate | None = None
    source_map: ArgumentTemplate = NOTHING
    source_map_words: tuple[str, ...] = ()
    debugger_commands: ArgumentTemplate = NOTHING
    debugger_command_words: tuple[str, ...] = ()
    listeners: tuple[str, ...] = ()
    port_is_adapter: bool = False
    usual_at_ports: bool = False
    process_names: tuple[str, ...] = ()
    reads_env_file: bool = False
    traits: Traits = Traits()
    required: Mapping[str, str] = field(default_factory=dict)
    version: tuple[str, ...] = ()
    needs_version: bool = False
    minimum_version: str = ""
    needs: tuple[str, ...] = ()
    sample: Mapping[str, str] = field(default_factory=dict)
    install: str = ""
    notes: str = ""
    sources: tuple[Path, ...] = ()

    def takes(self, file: Path) -> bool:
        """Whether the file's name says that it is a program, or the source of one, for this adapter."""
        return file.suffix.lower() in self.file_types or file.name in self.file_types

    def is_source_only(self, file: Path) -> bool:
        """Whether the file must be compiled before there is anything to debug."""
        return bool(self.compiled) and self.takes(file) and file.suffix.lower() not in self.programs

    @property
    def own_id(self) -> str:
        """Its name as it wants to read it in `initialize`."""
        return self.adapter_id or self.name
