"""What the catalog can fail with.

DapkitError                      (dapkit.protocol)
└── CatalogError
    ├── NoAdapter                none fits, or none of those that fit is installed
    │   └── Incapable            none of those that fit can do what else is asked for
    ├── NoProgram                what is to be debugged is not there, or cannot be debugged as it is
    ├── MissingArgument          the adapter requires it, and it is not given
    └── LaunchFileError          a `launch.json`, or what it asks for, cannot be used
"""

from pathlib import Path

from dapkit.protocol import DapkitError


class CatalogError(DapkitError):
    """Base of the errors of this layer."""


class NoAdapter(CatalogError):  # noqa: N818 - the sentence reads right where it is raised
    """Nothing that could debug this.

    Attributes:
        reasons: what was looked at, and why it would not do.
        hints: what to install, or what to say, so that there is one.

    """

    def __init__(self, problem: str, *, reasons: tuple[str, ...] = (), hints: tuple[str, ...] = ()) -> None:
        super().__init__("\n".join([problem, *(f"  {hint}" for hint in hints)]))
        self.problem = problem
        self.reasons = reasons
        self.hints = hints


class Incapable(NoAdapter):
    """None of the adapters that fit can do what else is asked for."""


class NoProgram(CatalogError):  # noqa: N818 - as above
    """A program, a process or a port that is not there, or not yet what can be debugged."""


class MissingArgument(CatalogError):  # noqa: N818 - as above
    """An argument of launch or attach that the adapter needs and nobody gave."""


class LaunchFileError(CatalogError):
    """A `launch.json` that cannot be read, or asks for what cannot be done here.

    Attributes:
        file: where it is.

    """

    def __init__(self, file: Path, problem: str) -> None:
        super().__init__(f"{file}: {problem}")
        self.file = file
