"""Start each installed adapter, shake hands with it, and report the result and the missing programs."""

import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dapkit.catalog import limits
from dapkit.catalog.catalog import Catalog
from dapkit.catalog.choice import Choice
from dapkit.catalog.chooser import Chooser
from dapkit.catalog.definition import NOTHING, ArgumentTemplate
from dapkit.catalog.route import route_to
from dapkit.catalog.states import AdapterState, render_problems, states
from dapkit.catalog.tabulation import aligned
from dapkit.protocol import DapkitError, encode_value

if TYPE_CHECKING:
    from dapkit.client import Session

type CheckupVerdict = Literal["works", "broken", "missing"]


@dataclass(frozen=True, slots=True)
class Checkup:
    """The result of starting an adapter.

    Attributes:
        seconds: from its start to its answer to `initialize`; None if there was none.
        abilities: how many capabilities it announced.
        problem: the failure; empty if it works.

    """

    state: AdapterState
    verdict: CheckupVerdict
    seconds: float | None = None
    abilities: int = 0
    problem: str = ""

    @property
    def remedy(self) -> str:
        """The remedy for a failure; empty if it works."""
        return "" if self.verdict == "works" else self.state.definition.install


async def doctor(catalog: Catalog, *, cwd: Path) -> list[Checkup]:
    """Check all adapters; those that work come first, then the broken, then the missing."""
    import anyio.to_thread

    adapter_states = await anyio.to_thread.run_sync(partial(states, catalog, cwd=cwd))
    results: list[Checkup] = []
    limiter = anyio.CapacityLimiter(limits.CHECKUPS_AT_ONCE)

    async def check(state: AdapterState) -> None:
        async with limiter:
            results.append(await _checkup(state, catalog, cwd))

    async with anyio.create_task_group() as tasks:
        for state in adapter_states:
            tasks.start_soon(check, state)
    order = ("works", "broken", "missing")
    return sorted(results, key=lambda checkup: (order.index(checkup.verdict), checkup.state.name))


async def _checkup(state: AdapterState, catalog: Catalog, cwd: Path) -> Checkup:
    if not state.installed:
        return Checkup(state, "missing", problem=state.problem)
    import anyio.to_thread

    from dapkit.client import Session

    with tempfile.TemporaryDirectory(prefix="dapkit-") as folder:
        try:
            choice = await anyio.to_thread.run_sync(_choice, state, catalog, cwd)
            arguments = _sample(choice, Path(folder))
            began = time.monotonic()
            with anyio.fail_after(limits.CHECKUP_SECONDS):
                async with Session(route_to(choice, arguments), adapter_id=choice.definition.own_id) as session:
                    seconds = time.monotonic() - began
                    abilities = _announced(session)
        except DapkitError as error:
            return Checkup(state, "broken", problem=str(error))
        except TimeoutError:
            return Checkup(state, "broken", problem=f"it did not answer within {limits.CHECKUP_SECONDS:g} s")
    return Checkup(replace(state, version=state.version or choice.version), "works", seconds, abilities)


def _choice(state: AdapterState, catalog: Catalog, cwd: Path) -> Choice:
    return Chooser(catalog.adapters, cwd.absolute(), catalog.env).named(state.name, None, launches=False)


def _sample(choice: Choice, folder: Path) -> ArgumentTemplate:
    """Write the program by which an adapter is started that needs one, and return its arguments."""
    sample = choice.definition.sample
    if not sample:
        return NOTHING
    program = folder / sample["name"]
    program.write_text(sample["text"], encoding="utf-8")
    return choice.launch_arguments(program, cwd=folder)


def _announced(session: "Session") -> int:
    return encode_value(session.capabilities).count(b":true")


def render_doctor(results: list[Checkup], catalog: Catalog) -> str:
    """Return the results as text for a terminal, with the programs to install at the end."""
    rows = [
        (
            checkup.verdict,
            checkup.state.name,
            checkup.state.version or "-",
            "" if checkup.seconds is None else f"{checkup.seconds:.2f} s, {checkup.abilities} capabilities",
            checkup.problem.splitlines()[0] if checkup.problem else str(checkup.state.path or ""),
        )
        for checkup in results
    ]
    lines = list(aligned(rows))
    remedies = [checkup for checkup in results if checkup.remedy]
    if remedies:
        lines += ["", "for the others:"]
        lines += [f"  {line}" for line in aligned([(checkup.state.name, checkup.remedy) for checkup in remedies])]
    return "\n".join([*lines, *render_problems(catalog, (checkup.state for checkup in results))])
