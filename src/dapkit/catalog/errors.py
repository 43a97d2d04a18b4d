"""Errors of the catalog.

DapkitError                      (dapkit.protocol)
└── CatalogError
    ├── NoAdapter                no adapter fits, or no fitting adapter is installed
    │   └── Incapable            no fitting adapter has the required ability
    ├── NoProgram                the program does not exist, or cannot be debugged as it is
    ├── MissingArgument          the adapter requires it, and it is not given
    └── LaunchFileError          a `launch.json`, or a configuration in it, cannot be used
"""

from pathlib import Path

from dapkit.protocol import DapkitError


class CatalogError(DapkitError):
    """Base of the errors of this layer."""


class NoAdapter(CatalogError):  # noqa: N818 - the sentence reads right where it is raised
    """Nothing that could debug this.

    Attributes:
        reasons: the adapters that were considered, and why each was not chosen.
        hints: the programs to install, or the options to give, so that an adapter fits.

    """

    def __init__(self, problem: str, *, reasons: tuple[str, ...] = (), hints: tuple[str, ...] = ()) -> None:
        super().__init__("\n".join([problem, *(f"  {hint}" for hint in hints)]))
        self.problem = problem
        self.reasons = reasons
        self.hints = hints


class Incapable(NoAdapter):
    """No fitting adapter has the required ability."""


class NoProgram(CatalogError):  # noqa: N818 - as above
    """A program, process or port that does not exist, or that cannot be debugged yet."""


class MissingArgument(CatalogError):  # noqa: N818 - as above
    """A required argument of launch or attach is missing."""


class LaunchFileError(CatalogError):
    """A `launch.json` that cannot be read, or with a configuration that cannot be carried out here.

    Attributes:
        file: where it is.

    """

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(f"{file}: {problem}")
        self.file = file
