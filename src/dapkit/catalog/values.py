"""Values of the placeholders in launch and attach arguments.

program, module, args, args_text     the program; the last as one text for a shell
input                                the file that the program reads as its standard input, which may be /dev/null
args_and_input                       the arguments as one text for a shell, with that file
code, python_args                    Python code, and options of the interpreter
cwd, env, env_or_empty, env_list     where, and with which variables
whole_env                            the same with all variables that it would inherit
stop_on_entry, not_stop_on_entry
root of the project; nothing if there is no root
program_folder, python               its folder, and its interpreter
go_mode, go_program, kotlin_class    for Delve and the Kotlin adapter
lldb_commands                        commands for LLDB, before the program starts
rust_language                        the list of `rust` for a program of Rust, else nothing
node_launcher                        a program that runs node and reports its exit code
pid, pid_text, executable            of a running process
host, port
core                                 a core file
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.catalog import limits
from dapkit.catalog.rust import lldb_formatters, panic_function
from dapkit.catalog.templates import UNKNOWN
from dapkit.system.this_system import SYSTEM
from dapkit.system.trusted_files import read_start


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceholderValues:
    """The program to launch, or the target to attach to."""

    program: Path | None = None
    module: str | None = None
    code: str | None = None
    python_args: Sequence[str] = ()
    args: Sequence[str] = ()
    cwd: Path
    env: Mapping[str, str | None] | None = None
    stop_on_entry: bool = False
    terminal: bool = False
    root: Path | None = None
    python: Path | None = None
    pid: int | None = None
    host: str | None = None
    port: int | None = None
    core: Path | None = None
    input: Path | None = None
    inherited: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> object:
        """Return the value of a placeholder; None if it has no value."""
        reader = _VALUES.get(name)
        return UNKNOWN if reader is None else reader(self)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _whole_env(values: PlaceholderValues) -> dict[str, str] | None:
    if values.env is None:
        return None
    merged = {**values.inherited, **values.env}
    return {name: value for name, value in merged.items() if value is not None}


def _env_list(values: PlaceholderValues) -> list[str] | None:
    return None if values.env is None else [f"{name}={value}" for name, value in (_whole_env(values) or {}).items()]


def _folder(values: PlaceholderValues) -> str:
    program = values.program
    if program is None:
        return str(values.cwd)
    return str(program if program.is_dir() else program.parent)


def _go_mode(values: PlaceholderValues) -> str | None:
    program = values.program
    if program is None:
        return None
    if program.name.endswith("_test.go"):
        return "test"
    return "debug" if program.is_dir() or program.suffix == ".go" else "exec"


_NOT_IN_PACKAGE = re.compile(rb"^//\s*(?:go:build|\+build)\s+ignore\b", re.MULTILINE)


def _go_program(values: PlaceholderValues) -> str | None:
    """Name the package that a file belongs to: alone it would lack the functions of the others."""
    program = values.program
    if program is None or program.suffix != ".go" or program.is_dir() or values.root is None:
        return _text(program)
    alone = _NOT_IN_PACKAGE.search(_start_of(program)) is not None
    return str(program if alone else program.parent)


_KOTLIN_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)", re.MULTILINE)
_KOTLIN_NAME = re.compile(r'^@file:JvmName\("(\w+)"\)', re.MULTILINE)
_KOTLIN_MAIN = re.compile(r"^(?:public\s+)?(?:suspend\s+)?fun\s+main\s*\(", re.MULTILINE)


def _kotlin_class(values: PlaceholderValues) -> str | None:
    """Name the class into which Kotlin puts the functions of a file, if one of them is `main`."""
    program = values.program
    if program is None or not program.is_file():
        return None
    text = _start_of(program).decode(errors="replace")
    if _KOTLIN_MAIN.search(text) is None:
        return None
    package, name = _KOTLIN_PACKAGE.search(text), _KOTLIN_NAME.search(text)
    own = name[1] if name is not None else f"{program.stem[:1].upper()}{program.stem[1:]}Kt"
    return own if package is None else f"{package[1]}.{own}"


def _input(values: PlaceholderValues) -> str:
    return "/dev/null" if values.input is None else str(values.input)


def _args_and_input(values: PlaceholderValues) -> str:
    return f"{shlex.join(values.args)} <{shlex.quote(_input(values))}".lstrip()


def _lldb_commands(values: PlaceholderValues) -> list[str] | None:
    rust = [] if values.program is None else lldb_formatters(values.program, values.inherited)
    return [*_symbols_without_servers(values), *rust] or None


def _rust_language(values: PlaceholderValues) -> list[str] | None:
    is_rust = values.program is not None and panic_function(values.program) is not None
    return ["rust"] if is_rust else None


def _symbols_without_servers(values: PlaceholderValues) -> list[str]:
    """Keep LLDB from servers for symbols in a terminal, unless the user has named some.

    There it attaches to a process of its own that becomes the program, and would first
    ask them about every library in that: some 15 seconds where they cannot be reached,
    of the 20 that it gives itself for the start.
    """
    if not values.terminal or "DEBUGINFOD_URLS" in values.inherited:
        return []
    return ["?settings clear plugin.symbol-locator.debuginfod.server-urls"]


_LAUNCHERS = Path(__file__).parent / "launchers"


def _start_of(file: Path) -> bytes:
    try:
        return read_start(file, limits.MARKER_BYTES)
    except OSError:
        return b""


def _executable(values: PlaceholderValues) -> str | None:
    try:
        return None if values.pid is None else SYSTEM.executable_of(values.pid)
    except OSError:
        return None


_VALUES: Mapping[str, Callable[[PlaceholderValues], object]] = {
    "program": lambda values: _text(values.program),
    "module": lambda values: values.module,
    "code": lambda values: values.code,
    "python_args": lambda values: list(values.python_args) or None,
    "args": lambda values: list(values.args),
    "args_text": lambda values: shlex.join(values.args) if values.args else None,
    "args_and_input": _args_and_input,
    "input": _input,
    "cwd": lambda values: str(values.cwd),
    "env": lambda values: None if values.env is None else dict(values.env),
    "env_or_empty": lambda values: dict(values.env or {}),
    "env_list": _env_list,
    "whole_env": _whole_env,
    "stop_on_entry": lambda values: values.stop_on_entry,
    "not_stop_on_entry": lambda values: not values.stop_on_entry,
    "root": lambda values: _text(values.root),
    "program_folder": _folder,
    "python": lambda values: _text(values.python),
    "go_mode": _go_mode,
    "go_program": _go_program,
    "kotlin_class": _kotlin_class,
    "lldb_commands": _lldb_commands,
    "rust_language": _rust_language,
    "node_launcher": lambda _values: str(_LAUNCHERS / "node.sh"),
    "pid": lambda values: values.pid,
    "pid_text": lambda values: _text(values.pid),
    "executable": _executable,
    "host": lambda values: values.host,
    "port": lambda values: values.port,
    "core": lambda values: _text(values.core),
}
