"""An adapter that was chosen for a program: the reasons, and the arguments to send to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.catalog import rust
from dapkit.catalog.definition import NOTHING, AdapterDefinition, ArgumentTemplate
from dapkit.catalog.errors import CatalogError, MissingArgument, NoProgram
from dapkit.catalog.programs import check_core, check_executable, look_at
from dapkit.catalog.projects import listed, matching, root_of
from dapkit.catalog.templates import fill_table, placeholders
from dapkit.catalog.values import PlaceholderValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An adapter that is installed and fits.

    Attributes:
        command: the command that starts it, with the full path of its program; `route_to` fills in the placeholders for
            the debugged program and for a socket.
        reasons: why this one, and why not others, a sentence each.
        notices: the reasons that the user must know: why an adapter of higher rank was not chosen, and which command of
            the project's own files was run.
        program: the program for which it was chosen.
        python: the interpreter of a Python program.
        version: of the adapter, where choosing it had to ask for it.
        env: the variables by which it was found.
        arguments: further arguments for `launch` and `attach`, beside the ones in its definition.

    """

    definition: AdapterDefinition
    command: tuple[str, ...]
    reasons: tuple[str, ...]
    notices: tuple[str, ...] = ()
    program: Path | None = None
    python: Path | None = None
    version: str | None = None
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    arguments: ArgumentTemplate = NOTHING

    @property
    def stops_on_entry(self) -> bool:
        """Whether the adapter knows how to stop at the beginning; others need a breakpoint there."""
        return bool({"stop_on_entry", "not_stop_on_entry"} & placeholders(self.definition.launch))

    @property
    def runs_in_terminal(self) -> bool:
        """Whether the adapter can have a program run in a terminal of the client."""
        return bool(self.definition.launch_in_terminal)

    @property
    def has_input_read(self) -> bool:
        """Whether the adapter can have a program read a file as its standard input."""
        return bool(self.definition.launch_with_input) or self.runs_in_terminal

    def launch_arguments(
        self,
        program: Path | str | None = None,
        args: Sequence[str] = (),
        *,
        cwd: Path | None = None,
        env: Mapping[str, str | None] | None = None,
        stop_on_entry: bool = False,
        module: str | None = None,
        code: str | None = None,
        python_args: Sequence[str] = (),
        terminal: bool = False,
        program_input: Path | None = None,
        more: ArgumentTemplate = NOTHING,
    ) -> dict[str, object]:
        """Return the arguments for the request that they name as `request`, which is `attach` for some.

        Args:
            program: the one that the adapter was chosen for, unless said otherwise.
            args: of the program.
            cwd: folder that it runs in; the one that the adapter was chosen in, unless said otherwise.
            env: variables beside those that it inherits; None takes one away, where the adapter can.
            stop_on_entry: whether to stop at the beginning; see `stops_on_entry`.
            module: the Python module to run instead of a program.
            code: the same, as `python -c`.
            python_args: options of the interpreter.
            terminal: whether it is to run in a terminal of the client; see `runs_in_terminal`.
            program_input: the file that it reads as its standard input, if `launch_with_input` is how that is done.
            more: arguments that override the others, by the adapter's own names.

        Raises:
            NoProgram: the program must be compiled first, or is a module and the adapter knows none.
            MissingArgument: a value that the adapter requires is missing.
            CatalogError: it runs no programs in terminals.

        Example:
            arguments = choice.launch_arguments("program.py", ["--fast"], stop_on_entry=True)
            await session.start(str(arguments["request"]), arguments)

        """
        folder = (cwd or self.cwd).absolute()
        path = self.program if program is None else folder / program
        self._check_program(path if module is None else None, module)
        values = PlaceholderValues(
            program=None if module is not None else path,
            module=module,
            code=code,
            python_args=python_args,
            args=args,
            cwd=folder,
            env=env,
            stop_on_entry=stop_on_entry,
            root=root_of(path or folder, self.definition),
            terminal=terminal,
            input=program_input,
            python=self.python,
            inherited=self.env,
        )
        if terminal and not self.runs_in_terminal:
            raise CatalogError(f"{self.definition.name} runs no programs in terminals")
        template = {
            **self.definition.launch,
            **(self.definition.launch_in_terminal if terminal else NOTHING),
            **(self.definition.launch_with_input if program_input is not None else NOTHING),
        }
        arguments = {**fill_table(template, values.value), **self.arguments, **more}
        for name, what in self.definition.required.items():
            if not arguments.get(name):
                raise MissingArgument(f"{self.definition.name} needs `{name}` to launch {path or folder}: {what}")
        return arguments

    def panic_function(self) -> str | None:
        """Return the function that each panic of the program passes, if it is one of Rust."""
        return rust.panic_function(self.program) if self.definition.native and self.program is not None else None

    def attach_arguments(
        self,
        *,
        pid: int | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        cwd: Path | None = None,
        more: ArgumentTemplate = NOTHING,
    ) -> dict[str, object]:
        """Return the arguments to attach to a process, or to a listener on a port.

        Raises:
            CatalogError: the adapter cannot attach so.

        """
        table = self.definition.attach_to_pid if port is None else self.definition.attach_to_port
        if table is None:
            raise CatalogError(f"{self.definition.name} cannot attach to a {'process' if port is None else 'port'}")
        folder = (cwd or self.cwd).absolute()
        values = PlaceholderValues(
            program=self.program,
            cwd=folder,
            root=root_of(self.program or folder, self.definition),
            python=self.python,
            pid=pid,
            host=host,
            port=port,
        )
        return {**fill_table(table, values.value), **self.arguments, **more}

    def core_arguments(
        self, core: Path, *, cwd: Path | None = None, more: ArgumentTemplate = NOTHING
    ) -> dict[str, object]:
        """Return the arguments to open a core file of the program, for the request that they name as `request`.

        Raises:
            CatalogError: the adapter cannot open one.
            NoProgram: the file does not exist, or it is not a core file.

        """
        if self.definition.open_core is None:
            raise CatalogError(f"{self.definition.name} cannot open core files")
        folder = (cwd or self.cwd).absolute()
        check_core(folder / core)
        values = PlaceholderValues(program=self.program, core=folder / core, cwd=folder)
        return {**fill_table(self.definition.open_core, values.value), **self.arguments, **more}

    def check_launch(self, arguments: Mapping[str, object], program: Path | None = None) -> None:
        """Check the arguments of `launch` before anything runs.

        Args:
            arguments: of the request.
            program: the requested program, if it is a file and not a module.

        Raises:
            CatalogError: there is no such folder to run in, or a core file was given.
            NoProgram: the program is not there, or cannot be run.

        """
        definition, folder = self.definition, self.cwd / str(arguments.get("cwd") or "")
        if program is not None:
            self._check_kind(program)
        if arguments.get("request", "launch") != "launch":
            return
        for key in () if self.opens_core(arguments) else CORE_KEYS & set(arguments):
            raise CatalogError(
                f"{key}: {definition.name} would run the program; dapkit core PROGRAM CORE opens a core file"
            )
        if not folder.is_dir():
            raise CatalogError(f"cwd: there is no folder {folder}")
        if definition.native and isinstance(path := arguments.get("program"), str):
            check_executable(folder / path, definition.name)

    def opens_core(self, arguments: Mapping[str, object]) -> bool:
        """Whether these arguments make the adapter open a core file."""
        template = self.definition.open_core
        return template is not None and all(
            name in arguments and (arguments[name] == value or bool(placeholders({name: value})))
            for name, value in template.items()
        )

    def ignored(self, arguments: Mapping[str, object]) -> list[str]:
        """Return which arguments of `launch` the adapter does not know, as far as that is known."""
        definition = self.definition
        if not definition.launch_keys or arguments.get("request", "launch") != "launch":
            return []
        unknown = sorted(set(arguments) - {*definition.launch, *definition.launch_keys, *_EDITORS})
        return [f"{definition.name} does not know {', '.join(unknown)}: ignored"] if unknown else []

    def _check_program(self, path: Path | None, module: str | None) -> None:
        definition = self.definition
        if module is not None and "module" not in placeholders(definition.launch):
            raise NoProgram(f"{definition.name} launches programs, and cannot launch the module {module} by its name")
        if path is None or not path.is_file() or not definition.is_source_only(path):
            return
        built = [file.name for file in listed(path.parent) if file.stem == path.stem and _is_executable(file)]
        beside = f" ({', '.join(built)} is beside it)" if built else ""
        raise NoProgram(f"{path} is a source, and {definition.name} debugs executables{beside}: {definition.compiled}")

    def _check_kind(self, path: Path) -> None:
        """Check that a program is there, and is a kind of file that the adapter runs."""
        definition, file = self.definition, look_at(path)
        markers = definition.folder_markers
        if file.kind == "folder" and not definition.directories:
            raise NoProgram(f"{path} is a folder, and {definition.name} runs files")
        if file.kind == "folder" and markers and not any(True for _ in matching(path, markers)):
            raise NoProgram(f"{path} is a folder without {' or '.join(markers)}, so {definition.name} cannot run it")
        foreign = definition.file_types and file.interpreter not in definition.interpreters
        if file.kind == "executable" and foreign and not definition.native and not definition.takes(path):
            raise NoProgram(f"{file}, and {definition.name} debugs {', '.join(definition.languages)}")
        if definition.native and not definition.is_source_only(path):
            check_executable(path, definition.name)


CORE_KEYS = {"core", "coreFile", "coreFilePath", "coreDumpPath"}
"""The names of a core file among adapters and extensions."""

_EDITORS = {"name", "type", "request"}
"""Keys of a launch configuration that only the editor uses."""


def _is_executable(file: Path) -> bool:
    try:
        return file.is_file() and look_at(file).kind == "executable"
    except NoProgram:
        return False
