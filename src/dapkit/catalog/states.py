"""The installed adapters: each with its state, its version and its location."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dapkit.catalog import limits
from dapkit.catalog.catalog import Catalog
from dapkit.catalog.choice import Choice
from dapkit.catalog.chooser import Chooser
from dapkit.catalog.definition import AdapterDefinition
from dapkit.catalog.errors import CatalogError, NoAdapter
from dapkit.catalog.installation import NotInstalled
from dapkit.catalog.tabulation import aligned, indented


@dataclass(frozen=True, slots=True)
class AdapterState:
    """An adapter as it is here.

    Attributes:
        path: its program; None if it is not installed, or none of ours starts it.
        version: None if it does not report it.
        problem: why it counts as missing; empty if it is installed.
        skipped: programs that would have been taken, had no stranger been able to put them there.

    """

    definition: AdapterDefinition
    path: Path | None
    version: str | None
    problem: str
    skipped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self.definition.name

    @property
    def installed(self) -> bool:
        """Whether it can be started."""
        return not self.problem


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a program gets the adapter that it gets, or gets none.

    Attributes:
        choice: None if no adapter was chosen.
        reasons: the checks, in their order.
        problem: why no adapter was chosen, and what to do about it.

    """

    choice: Choice | None
    reasons: tuple[str, ...]
    problem: str = ""


def states(catalog: Catalog, *, cwd: Path) -> list[AdapterState]:
    """Return the state of each adapter, those that are installed first.

    It asks each for its version, which takes a second or two: in an event loop, call it in a thread.
    """
    with ThreadPoolExecutor(limits.VERSIONS_AT_ONCE) as pool:
        adapter_states = list(pool.map(lambda definition: _state(definition, catalog, cwd), catalog.adapters.values()))
    return sorted(adapter_states, key=lambda state: (not state.installed, state.name))


def why(
    catalog: Catalog,
    program: Path | str | None = None,
    *,
    cwd: Path,
    pid: int | None = None,
    port: int | None = None,
    adapter: str | None = None,
) -> Explanation:
    """Explain the choice of `Catalog.choose`, or why it cannot choose."""
    try:
        choice = catalog.choose(program, cwd=cwd, pid=pid, port=port, adapter=adapter)
    except NoAdapter as error:
        return Explanation(None, error.reasons, str(error))
    except CatalogError as error:
        return Explanation(None, (), str(error))
    return Explanation(choice, choice.reasons)


def render_states(adapter_states: list[AdapterState], catalog: Catalog, *, everything: bool = True) -> str:
    """Return the states as text for a terminal; without `everything`, only the names of those that are missing."""
    missing = [] if everything else [state.name for state in adapter_states if not state.installed]
    note = [f"not installed: {', '.join(missing)} (--all says how to install them)"] if missing else []
    rows = [("adapter", "state", "version", "for", "where")]
    rows += [
        (
            state.name,
            "installed" if state.installed else "missing",
            state.version or "-",
            ", ".join(state.definition.languages),
            str(state.path or state.problem or f"{state.definition.host}:{state.definition.port}"),
        )
        for state in adapter_states
        if everything or state.installed
    ]
    return "\n".join([*aligned(rows), *note, *render_problems(catalog, adapter_states)])


def render_problems(catalog: Catalog, adapter_states: Iterable[AdapterState]) -> Iterator[str]:
    """Yield the definitions and programs of users' files that were left out, a line each."""
    for problem in catalog.problems:
        yield f"left out: {problem}"
    yield from dict.fromkeys(text for state in adapter_states for text in state.skipped)


def render_why(explained: Explanation) -> str:
    """Return an explanation as text for a terminal."""
    choice = explained.choice
    if choice is None:
        return "\n".join([explained.problem, *indented(explained.reasons)])
    name, title = choice.definition.name, choice.definition.title
    lines = [f"{name}: {title}" if title else name, *indented(explained.reasons)]
    if choice.command:
        lines.append(f"it is started by: {' '.join(choice.command)}")
    if choice.definition.notes:
        lines.append(f"to know: {choice.definition.notes}")
    return "\n".join(lines)


def _state(definition: AdapterDefinition, catalog: Catalog, cwd: Path) -> AdapterState:
    chooser = Chooser(catalog.adapters, cwd.absolute(), catalog.env)
    installed = chooser.look_for(definition)
    skipped = tuple(chooser.notices)
    if isinstance(installed, NotInstalled):
        return AdapterState(definition, None, None, installed.problem, skipped)
    return AdapterState(definition, installed.path if installed.command else None, installed.version, "", skipped)
