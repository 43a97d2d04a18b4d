"""Which adapter fits a program, a process or a port; and of those that fit, the first that is installed.

For a program, by its name: the adapters that know its suffix. If no name fits, the contents decide: a folder, a script
with a `#!` line, an executable. Of several that fit, those in a project of theirs come first, then the lower rank, then
the name. For a process or a port, the kind of process decides.

An adapter is never chosen for a program that it does not fit: if none of the fitting adapters is installed, the error
says what to install.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dapkit.catalog.choice import Choice
from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.errors import Incapable, NoAdapter
from dapkit.catalog.files import BUILT_IN, built_in, user_folders
from dapkit.catalog.installation import Installed, NotInstalled, SearchContext, find, lacks_for_pid
from dapkit.catalog.interpreters import FIRST_ON_PATH, Interpreter, asked, own_interpreter, python_for
from dapkit.catalog.processes import ProcessInfo, listener, look_at_process
from dapkit.catalog.programs import ProgramFile, look_at
from dapkit.catalog.projects import matching, root_of
from dapkit.catalog.versions import numbers

type Ability = Literal["terminal", "input", "core"]
"""An ability that the adapter needs beside debugging the program."""

_ABILITIES: Mapping[Ability, tuple[str, Callable[[AdapterDefinition], bool]]] = {
    "terminal": (
        "run programs in a terminal, which typed input needs",
        lambda adapter: bool(adapter.launch_in_terminal),
    ),
    "input": (
        "have a program read a file",
        lambda adapter: bool(adapter.launch_with_input or adapter.launch_in_terminal),
    ),
    "core": ("open core files", lambda adapter: adapter.open_core is not None),
}

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


@dataclass(slots=True)
class Chooser:
    """One choice: the requirements, the places to search, and the reasons so far."""

    adapters: Mapping[str, AdapterDefinition]
    cwd: Path
    env: Mapping[str, str]
    python: Path | None = None
    to_pid: bool = False
    ability: Ability | None = None
    reasons: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _python: Interpreter | None = None
    _python_matters: bool = True

    # The program to debug

    def named(self, name: str, program: Path | None, *, launches: bool) -> Choice:
        """Choose the adapter that was asked for; only where it `launches` has there to be an interpreter for it."""
        self._python_matters = launches
        if name not in self.adapters:
            close = difflib.get_close_matches(name, self.adapters, n=1)
            hints = (f"did you mean {close[0]}?",) if close else ()
            raise NoAdapter(
                f"there is no adapter {name!r}", hints=(*hints, f"there are {', '.join(sorted(self.adapters))}")
            )
        self.reasons.append(f"{name} was asked for")
        return self._first([self.adapters[name]], program, what=f"adapter {name!r} is not available")

    def for_language(self, language: str, program: Path | None) -> Choice:
        """Choose one for a language, where there is no program to look at."""
        fitting = [adapter for adapter in self.adapters.values() if language in adapter.languages]
        if not fitting:
            languages = sorted({name for adapter in self.adapters.values() for name in adapter.languages})
            raise NoAdapter(f"no adapter debugs {language}", hints=(f"there are adapters for {', '.join(languages)}",))
        return self._first(
            self._sorted(fitting, program or self.cwd), program, what=f"no debugger for {language} is available"
        )

    def for_launch_type(
        self, kind: str, program: Path | None, *, pid: int | None = None, place: tuple[str, int] | None = None
    ) -> Choice:
        """Choose one for the `type` of a launch configuration, which may attach to a process or a port."""
        adapters = [adapter for adapter in self.adapters.values() if kind in adapter.launch_types]
        if not adapters:
            types = sorted({name for adapter in self.adapters.values() for name in adapter.launch_types})
            hint = f"there are adapters for {', '.join(types)}"
            raise NoAdapter(f"no adapter is for configurations of type {kind!r}", hints=(hint,))
        fitting = self._specific(adapters, program or self.cwd)
        self.reasons.append(f"the configuration's type is {kind}, for which there is {_names(fitting)}")
        if pid is not None:
            fitting = [adapter for adapter in fitting if adapter.attach_to_pid is not None]
            self._python_matters = False
            self.reasons.append(f"it attaches to a process, which {_names(fitting)} can")
        if place is not None:
            self._python_matters = False
            fitting = [adapter for adapter in fitting if adapter.attach_to_port is not None]
            if len(fitting) > 1:
                fitting = self._at_port(fitting, *place) or fitting
        return self._first(fitting, program, what=f"no debugger for type {kind!r} is available")

    def for_program(self, path: Path) -> Choice:
        """Choose an adapter by the program's name, or by its contents."""
        program = look_at(path)
        by_name = (
            [] if program.kind == "folder" else [adapter for adapter in self.adapters.values() if adapter.takes(path)]
        )
        fitting = self._specific(by_name, path) if by_name else self._by_content(program)
        self.reasons.append(f"{program}, for which there is {_names(fitting)}")
        if not fitting:
            raise self._nothing_for(program)
        return self._first(fitting, path, what=f"adapter {fitting[0].name!r} is not available")

    def for_process(self, pid: int, program: Path | None) -> Choice:
        """Choose an adapter by the kind of process."""
        process = look_at_process(pid, self._debuggers())
        if process.runs == "python" and self.python is None:
            self._python = asked(process.executable, f"runs as process {pid}", self.env, self.cwd)
        adapters = [adapter for adapter in self.adapters.values() if process.runs in adapter.interpreters]
        fitting = [adapter for adapter in adapters if adapter.attach_to_pid is not None]
        if not adapters or process.runs == "go":
            fitting += [adapter for adapter in self._native() if adapter.attach_to_pid is not None]
        self.reasons.append(f"{process}, to which {_names(fitting)} can attach")
        if not fitting:
            others = ", ".join(adapter.name for adapter in adapters)
            raise NoAdapter(
                f"no debugger can attach to this: {process}, and {others} cannot attach to a process",
                reasons=tuple(self.reasons),
                hints=tuple(
                    f"{adapter.name}: attach to a port; {adapter.notes}"
                    for adapter in adapters
                    if adapter.attach_to_port
                ),
            )
        return self._first(
            self._ranked(fitting), program, what=f"no debugger for process {pid} is available: it {process.evidence}"
        )

    def for_port(self, host: str, port: int, program: Path | None) -> Choice:
        """Choose one by who listens there, which can be seen on this machine only."""
        able = [adapter for adapter in self.adapters.values() if adapter.attach_to_port is not None]
        fitting = self._at_port(able, host, port)
        if not fitting:
            raise NoAdapter(
                f"no debugger speaks to the process that listens on port {port}: {self.reasons[-1]}",
                reasons=tuple(self.reasons),
                hints=("name the adapter if you know better",),
            )
        return self._first(fitting, program, what=f"no debugger for port {port} is available")

    def _at_port(self, able: Sequence[AdapterDefinition], host: str, port: int) -> list[AdapterDefinition]:
        """Return the adapters that speak to the process that listens there."""
        self._python_matters = False  # the process that listens there is already running
        process = listener(port, self._debuggers()) if host in _LOOPBACK else None
        if process is not None:
            self.reasons.append(f"{process} and listens on port {port}")
            return self._listening(able, process)
        where = "the process that listens there cannot be seen" if host in _LOOPBACK else "that is another machine"
        usual = [adapter for adapter in able if adapter.usual_at_ports]
        self.reasons.append(
            f"{_names(usual)} is the usual one for {host}:{port}: {where}; name another adapter if it is not"
        )
        return usual

    def _debuggers(self) -> Mapping[str, str]:
        """Titles of adapters by the names of their processes."""
        return {name: adapter.title for adapter in self.adapters.values() for name in adapter.process_names}

    # Which fit

    def _native(self) -> list[AdapterDefinition]:
        return [adapter for adapter in self.adapters.values() if adapter.native]

    def _by_content(self, program: ProgramFile) -> list[AdapterDefinition]:
        match program.kind:
            case "folder":
                fitting = [
                    adapter
                    for adapter in self.adapters.values()
                    if adapter.directories and self._is_folder_of(program.path, adapter)
                ]
                return self._sorted(fitting, program.path)
            case "executable":
                by_builder = [
                    adapter
                    for adapter in self.adapters.values()
                    if program.interpreter and program.interpreter in adapter.interpreters
                ]
                return [*self._sorted(by_builder, program.path), *self._sorted(self._native(), program.path)]
            case "script":
                fitting = [adapter for adapter in self.adapters.values() if program.interpreter in adapter.interpreters]
                return self._sorted(fitting, program.path)
            case _:
                return []

    def _is_folder_of(self, folder: Path, definition: AdapterDefinition) -> bool:
        if definition.folder_markers:
            return any(True for _ in matching(folder, definition.folder_markers))
        return root_of(folder, definition) is not None

    def _specific(self, fitting: list[AdapterDefinition], path: Path) -> list[AdapterDefinition]:
        """Those that fit, best first; only those whose kind of project this certainly is, if there are such."""
        certain = [adapter for adapter in fitting if adapter.root_contains and root_of(path, adapter) is not None]
        rest = [adapter for adapter in fitting if not adapter.root_contains]
        return self._sorted(certain or rest or fitting, path)

    def _sorted(self, fitting: Iterable[AdapterDefinition], path: Path) -> list[AdapterDefinition]:
        return sorted(fitting, key=lambda adapter: (root_of(path, adapter) is None, adapter.rank, adapter.name))

    def _ranked(self, fitting: Iterable[AdapterDefinition]) -> list[AdapterDefinition]:
        """By rank alone: adapters for Go executables come before adapters for any executable."""
        return sorted(fitting, key=lambda adapter: (adapter.native, adapter.rank, adapter.name))

    def _listening(self, fitting: Sequence[AdapterDefinition], process: ProcessInfo) -> list[AdapterDefinition]:
        parts = {part for word in process.command[1:] for part in Path(word).parts}
        in_command = [adapter for adapter in fitting if parts & set(adapter.listeners)]
        by_kind = [adapter for adapter in fitting if process.runs in adapter.listeners]
        return self._ranked(in_command or by_kind)

    def _nothing_for(self, program: ProgramFile) -> NoAdapter:
        what = str(program)
        if program.kind == "folder":
            able = ", ".join(sorted(adapter.name for adapter in self.adapters.values() if adapter.directories))
            hint = f"folders can be programs for {able}: give an executable, or a file of the program"
        elif program.kind == "script":
            hint = f"no adapter debugs programs of {program.interpreter}: define one in dap.toml, or name one"
        else:
            hint = "name the adapter if one can debug it, or define one in dap.toml"
        installed = [
            adapter.name for adapter in self.adapters.values() if isinstance(self._find(adapter, None), Installed)
        ]
        return NoAdapter(
            f"No debugger adapter available: {what}. Installed adapters: {', '.join(sorted(installed)) or 'none'}",
            reasons=tuple(self.reasons),
            hints=(hint,),
        )

    # Which is installed

    def _first(self, fitting: Sequence[AdapterDefinition], program: Path | None, *, what: str) -> Choice:
        fitting = self._able(fitting)
        missing: list[tuple[AdapterDefinition, NotInstalled]] = []
        choice = self._first_installed(fitting, program, missing)
        if choice is None and self._takes_own_interpreter():
            missing = []
            choice = self._first_installed(fitting, program, missing)
        if choice is not None:
            return choice
        first = f": {missing[0][1].problem if missing else self.reasons[-1]}"
        hints = (
            f"{adapter.name}: {installed.remedy or adapter.install}"
            for adapter, installed in missing
            if installed.remedy or adapter.install
        )
        raise NoAdapter(f"{what}{first}", reasons=tuple(self.reasons), hints=tuple(dict.fromkeys(hints)))

    def _takes_own_interpreter(self) -> bool:
        """Replace an interpreter that the user has not chosen by dapkit's own, before the program is refused."""
        default = self._python
        if not self._python_matters or self.python is not None or default is None or default.why != FIRST_ON_PATH:
            return False
        self._python = own_interpreter(self.env, self.cwd)
        if self._python is None:
            return False
        self._notice(f"{self._python}, and is the default, since {default}")
        return True

    def _first_installed(
        self,
        fitting: Sequence[AdapterDefinition],
        program: Path | None,
        missing: list[tuple[AdapterDefinition, NotInstalled]],
    ) -> Choice | None:
        for place, adapter in enumerate(fitting):
            installed = self._suits(adapter, program)
            if isinstance(installed, NotInstalled):
                missing.append((adapter, installed))
                self._notice(f"not {adapter.name}: {installed.problem}")
                continue
            self._praise(adapter, installed, program)
            if program is not None and adapter.is_source_only(program):
                self.reasons.append(f"{program.name} is a source: {adapter.compiled}")
            if after := fitting[place + 1 :]:
                self.reasons.append(f"after it would come {_names(after)}")
            return Choice(
                definition=adapter,
                command=installed.command,
                reasons=tuple(self.reasons),
                notices=tuple(self.notices),
                program=program,
                python=None if self._python is None else self._python.path,
                version=installed.version,
                cwd=self.cwd,
                env=self.env,
            )
        return None

    def _able(self, fitting: Sequence[AdapterDefinition]) -> Sequence[AdapterDefinition]:
        """Return the adapters with the required ability; if none has it, the error names the others."""
        if self.ability is None:
            return fitting
        what, can = _ABILITIES[self.ability]
        able = [adapter for adapter in fitting if can(adapter)]
        if not able:
            languages = {language for adapter in fitting for language in adapter.languages}
            others = [
                adapter for adapter in self.adapters.values() if can(adapter) and languages & {*adapter.languages}
            ]
            installed = [adapter for adapter in others if isinstance(self._find(adapter, None), Installed)]
            raise Incapable(
                f"{_names(fitting)} cannot {what}",
                reasons=tuple(self.reasons),
                hints=(f"{_names(installed or others)} can: choose that as the adapter",) if others else (),
            )
        for adapter in fitting[: fitting.index(able[0])]:
            self._notice(f"not {adapter.name}: it cannot {what}")
        return able

    def _praise(self, adapter: AdapterDefinition, installed: Installed, program: Path | None) -> None:
        root = None if program is None else root_of(program, adapter)
        inside = "" if root is None else f", in a project of its kind, {root}"
        version = "" if installed.version is None else f", version {installed.version}"
        where = f"{installed.command[0]} ({installed.where}){version}" if installed.command else installed.where
        self.reasons.append(f"{adapter.name}: {where}{inside}")
        users = {BUILT_IN, *user_folders(self.env)}
        if own := [str(source) for source in adapter.sources if source.parent != BUILT_IN]:
            self.reasons.append(f"the definition of {adapter.name} is from {', '.join(own)}")
        if cloned := [str(source) for source in adapter.sources if source.parent not in users]:
            # The user may never have seen it, and it names the command that is run.
            started = " ".join(_without_own_code(adapter, installed.command)) or installed.where
            self._notice(f"as {', '.join(cloned)} of the project says, {adapter.name} is started by: {started}")

    def _notice(self, reason: str) -> None:
        """Keep a reason that the user must know."""
        if reason not in self.notices:
            self.reasons.append(reason)
            self.notices.append(reason)

    def _suits(self, adapter: AdapterDefinition, program: Path | None) -> Installed | NotInstalled:
        installed = self._find(adapter, program, ask_version=self._needs_version(adapter))
        if isinstance(installed, Installed) and self._needs_version(adapter):
            version, minimum = installed.version, adapter.open_core_version
            if version is None or numbers(version) < numbers(minimum):
                return NotInstalled(f"{adapter.name} {version or '?'} cannot open core files, {minimum} and later can")
        if isinstance(installed, NotInstalled) or not self._python_matters or "python" not in adapter.languages:
            return installed
        python = self._interpreter(program)
        if not adapter.minimum_python:
            return installed
        remedy = f"give it CPython {adapter.minimum_python} or later, for example in a .venv of the project"
        if python is None:
            return NotInstalled("no Python interpreter that works was found for the program", remedy)
        if python.implementation != "cpython" or python.version[:2] < numbers(adapter.minimum_python):
            return NotInstalled(f"{python}, and CPython {adapter.minimum_python} or later is needed", remedy)
        self.reasons.append(f"the program's interpreter {python}")
        return installed

    def _needs_version(self, adapter: AdapterDefinition) -> bool:
        return self.ability == "core" and bool(adapter.open_core_version)

    def look_for(self, adapter: AdapterDefinition) -> Installed | NotInstalled:
        """Find out whether an adapter is installed, and its version."""
        return self._find(adapter, None, ask_version=True)

    def _find(
        self, adapter: AdapterDefinition, program: Path | None, *, ask_version: bool = False
    ) -> Installed | NotInstalled:
        root = root_of(program or self.cwd, adapter)
        projects = tuple(dict.fromkeys([*([] if root is None else [root]), self.cwd]))
        python = self._interpreter(program) if _asks_for_python(adapter) else None
        around = SearchContext(projects, self.env, None if python is None else python.path, self._notice)
        installed = find(adapter, around, ask_version=ask_version)
        lacking = lacks_for_pid(adapter, around) if self.to_pid and isinstance(installed, Installed) else None
        return lacking or installed

    def _interpreter(self, program: Path | None) -> Interpreter | None:
        if self._python is None:
            if self.python is not None:
                self._python = asked(self.python, "asked for", self.env, self.cwd)
            else:
                self._python = python_for(program, self.cwd, self.env, self._notice)
        return self._python


def _asks_for_python(definition: AdapterDefinition) -> bool:
    return any("${python}" in word for way in definition.command for word in way)


def _names(adapters: Iterable[AdapterDefinition]) -> str:
    return ", ".join(adapter.name for adapter in adapters) or "no adapter"


def _without_own_code(adapter: AdapterDefinition, command: Sequence[str]) -> list[str]:
    """Return the words of a command, without the code among them that dapkit's own definition has."""
    own = built_in().get(adapter.name)
    own_words = () if own is None else {word for words in own.command for word in words}
    return ["..." if "\n" in word and word in own_words else word for word in command]
