"""What the program has loaded, and its source."""

from dapkit.agent import parameters as p
from dapkit.agent.call import Call
from dapkit.agent.registry import Approval, action
from dapkit.agent.results.program import LoadedSources, Modules, SourceText


@action(Approval.READ)
async def modules(
    call: Call,
    *,
    start_module: p.StartModule | None = None,
    module_count: p.ModuleCount | None = None,
) -> Modules:
    """Show the modules and libraries that the program has loaded."""
    raise NotImplementedError


@action(Approval.READ)
async def loaded_sources(call: Call) -> LoadedSources:
    """Show the sources that the program has loaded."""
    raise NotImplementedError


@action(Approval.READ, example={"file": "app.py", "line": 12})
async def source(
    call: Call,
    *,
    file: p.File | None = None,
    source_reference: p.SourceReference | None = None,
    line: p.Line | None = None,
    count: p.Count | None = None,
) -> SourceText:
    """Show lines of a source, by default around where the program stands."""
    raise NotImplementedError
