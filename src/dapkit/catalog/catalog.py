"""All adapters that hold in a folder, and the one that fits."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.catalog.choice import Choice
from dapkit.catalog.chooser import Ability, Chooser
from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.errors import CatalogError
from dapkit.catalog.files import DefinitionProblem, read_all, user_folders
from dapkit.system.user_folders import HOME


@dataclass(frozen=True, slots=True)
class Catalog:
    """Adapters by name.

    Attributes:
        adapters: those that come with dapkit, with the user's files over them.
        problems: the faults in these files; the faulty definitions were left out.
        env: the user's environment: PATH, virtual environments, ...

    """

    adapters: Mapping[str, AdapterDefinition]
    problems: tuple[DefinitionProblem, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)

    def choose(
        self,
        program: Path | str | None = None,
        *,
        cwd: Path,
        adapter: str | None = None,
        language: str | None = None,
        pid: int | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        launch_type: str | None = None,
        python: Path | None = None,
        ability: Ability | None = None,
    ) -> Choice:
        """Choose the adapter for a program, for a process, or for a listener on a port.

        It looks at files, and may ask programs for their version, for some tenths of a
        second: in an event loop, call it in a thread.

        Args:
            program: the program to launch, relative to `cwd`; beside `pid` or `port`, the program that runs there.
            cwd: folder of the user, whose project has its own programs.
            adapter: the one that is wanted, instead of one that fits.
            language: the language of the program, if there is no file to look at.
            pid: process to attach to.
            host: of `port`.
            port: where something listens to be attached to.
            launch_type: the `type` in a `launch.json`; with `pid` or `port` if it attaches to these.
            python: interpreter of a Python program, instead of the one that is found.
            ability: the ability that the adapter must have: run a program in a `terminal`, or open a `core` file.

        Raises:
            NoAdapter: no adapter fits, or none that fits is installed; the text says what to do.
            NoProgram: there is no such program or process.
            CatalogError: the call names no program, process or port.

        """
        folder = cwd.absolute()
        path = None if program is None else Path(os.path.normpath(folder / program))
        left_out = [f"left out: {problem}" for problem in self.problems]
        chooser = Chooser(
            self.adapters, folder, self.env, python, to_pid=pid is not None, ability=ability, notices=left_out
        )
        if adapter is not None:
            return chooser.named(adapter, path, launches=pid is None and port is None)
        if launch_type is not None:
            place = None if port is None else (host, port)
            return chooser.for_launch_type(launch_type, path, pid=pid, place=place)
        if pid is not None:
            return chooser.for_process(pid, path)
        if port is not None:
            return chooser.for_port(host, port, path)
        if language is not None:
            return chooser.for_language(language, path)
        if path is not None:
            return chooser.for_program(path)
        raise CatalogError("there is nothing to choose an adapter for: give a program, a process, a port or a language")


def load(cwd: Path, home: Path | None = None, *, env: Mapping[str, str] | None = None) -> Catalog:
    """Read the definitions that come with dapkit, and the user's files from the home folder down to this one.

    Args:
        cwd: folder of the user.
        home: the user's home folder; by default the home folder in `env`.
        env: the user's environment; our own if it is missing.

    """
    variables = dict(os.environ if env is None else env)
    adapters, problems = read_all(cwd.absolute(), *user_folders(variables | ({HOME: str(home)} if home else {})))
    return Catalog(adapters, tuple(problems), variables)
