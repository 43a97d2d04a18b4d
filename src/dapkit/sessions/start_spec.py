"""The specification of a session's start: the adapter, its configuration, and the first breakpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec
from dapkit.client.routes import Route
from dapkit.protocol import ExceptionFilterOptions


@dataclass(frozen=True, slots=True)
class StartSpec:
    """Everything that one start of a session takes; a restart takes the same, or a changed copy.

    Attributes:
        adapter: its name, for people.
        route: the way to the adapter.
        request: whether a program is started, or one that runs is attached to.
        configuration: arguments of `launch` or `attach`, by the adapter's own wire names.
        cwd: the folder of the program.
        program: the debugged program, for people; None if it has no name.
        adapter_id: the `adapterID` of the `initialize` request.
        traits: the peculiarities of its responses.
        breakpoints: set before the program runs; after a restart, the session's present breakpoints are set instead.
        exceptions: filters of exceptions that stop; None for the adapter's own defaults.
        panic_function: a function that each panic of the program passes, whose stops are exceptions; None for none.
            Filters of exceptions replace it.
        post_mortem: whether it is about a core file: there are stacks and values, and nothing runs.
        input: a file that the program reads as its standard input; the adapter must run it in a terminal.

    """

    adapter: str
    route: Route
    request: Literal["launch", "attach"]
    configuration: Mapping[str, object]
    cwd: Path
    program: str | None = None
    adapter_id: str = "dapkit"
    traits: Traits = field(default_factory=Traits)
    breakpoints: Sequence[BreakpointSpec] = ()
    exceptions: Sequence[str | ExceptionFilterOptions] | None = None
    panic_function: str | None = None
    post_mortem: bool = False
    input: Path | None = None
