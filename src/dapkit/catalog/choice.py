"""An adapter that was chosen for a program: why it was, and what it is to be sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.catalog.definition import NOTHING, AdapterDefinition, ArgumentTemplate
from dapkit.catalog.errors import CatalogError, MissingArgument, NoProgram
from dapkit.catalog.programs import look_at
from dapkit.catalog.projects import listed, root_of
from dapkit.catalog.templates import fill_table, placeholders
from dapkit.catalog.values import PlaceholderValues


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An adapter that is installed and fits.

    Attributes:
        command: what starts it, with the full path of its program; placeholders for the debugged program
            and for a socket are filled in by `route_to`.
        reasons: why this one, and why not others, a sentence each.
        notices: those of the reasons that a user who starts something has to know: why an adapter that would have
            come first was not chosen, and what a file of the project has made run.
        program: what it was chosen for.
        python: the interpreter of a Python program.
        version: of the adapter, where choosing it had to ask for it.
        env: the variables by which it was found.

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

    @property
    def stops_on_entry(self) -> bool:
        """Whether the adapter knows how to stop at the beginning; others need a breakpoint there."""
        return bool({"stop_on_entry", "not_stop_on_entry"} & placeholders(self.definition.launch))

    @property
    def runs_in_terminal(self) -> bool:
        """Whether the adapter can have a program run in a terminal of the client."""
        return bool(self.definition.launch_in_terminal)

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
        more: ArgumentTemplate = NOTHING,
    ) -> dict[str, object]:
        """Return the arguments for the request that they name as `request`, which is `attach` for some.

        Args:
            program: the one that the adapter was chosen for, unless said otherwise.
            args: of the program.
            cwd: folder that it runs in; the one that the adapter was chosen in, unless said otherwise.
            env: variables beside those that it inherits; None takes one away, where the adapter can.
            stop_on_entry: whether to stop at the beginning; see `stops_on_entry`.
            module: what to run instead of a program, in Python.
            code: the same, as `python -c`.
            python_args: options of the interpreter.
            terminal: whether it is to run in a terminal of the client; see `runs_in_terminal`.
            more: arguments that override the others, by the adapter's own names.

        Raises:
            NoProgram: the program has to be compiled first, or is a module and the adapter knows none.
            MissingArgument: a value that the adapter requires is missing.
            CatalogError: it runs no programs in terminals.

        Example:
            arguments = choice.launch_arguments("program.py", ["--fast"], stop_on_entry=True)
            await session.start(str(arguments["request"]), arguments)

        """
        folder = (cwd or self.cwd).absolute()
        path = self.program if program is None else folder / program
        self._check_program(path if module is None else None, module)
        wanted = PlaceholderValues(
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
            python=self.python,
            inherited=self.env,
        )
        if terminal and not self.runs_in_terminal:
            raise CatalogError(f"{self.definition.name} runs no programs in terminals")
        template = {**self.definition.launch, **(self.definition.launch_in_terminal if terminal else NOTHING)}
        arguments = {**fill_table(template, wanted.value), **more}
        for name, what in self.definition.required.items():
            if not arguments.get(name):
                raise MissingArgument(f"{self.definition.name} needs `{name}` to launch {path or folder}: {what}")
        return arguments

    def attach_arguments(
        self,
        *,
        pid: int | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        cwd: Path | None = None,
        more: ArgumentTemplate = NOTHING,
    ) -> dict[str, object]:
        """Return the arguments to attach to a process, or to what listens on a port.

        Raises:
            CatalogError: the adapter cannot attach so.

        """
        table = self.definition.attach_to_pid if port is None else self.definition.attach_to_port
        if table is None:
            raise CatalogError(f"{self.definition.name} cannot attach to a {'process' if port is None else 'port'}")
        folder = (cwd or self.cwd).absolute()
        wanted = PlaceholderValues(
            program=self.program,
            cwd=folder,
            root=root_of(self.program or folder, self.definition),
            python=self.python,
            pid=pid,
            host=host,
            port=port,
        )
        return {**fill_table(table, wanted.value), **more}

    def _check_program(self, path: Path | None, module: str | None) -> None:
        definition = self.definition
        if module is not None and "module" not in placeholders(definition.launch):
            raise NoProgram(f"{definition.name} launches programs, and cannot launch the module {module} by its name")
        if path is None or not path.is_file() or not definition.is_source_only(path):
            return
        built = [file.name for file in listed(path.parent) if file.stem == path.stem and _is_executable(file)]
        beside = f" ({', '.join(built)} is beside it)" if built else ""
        raise NoProgram(
            f"{path} is a source, and {definition.name} debugs what was built of it{beside}: {definition.compiled}"
        )


def _is_executable(file: Path) -> bool:
    try:
        return file.is_file() and look_at(file).kind == "executable"
    except NoProgram:
        return False
