"""The modules that the program has loaded, and its source."""

from pathlib import Path

import anyio.to_thread

from dapkit.agent import limits
from dapkit.agent.budget import shortened
from dapkit.agent.calls import parameters as p
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.registry import Approval, action
from dapkit.agent.reading.pages import at_most, lines_of
from dapkit.agent.reading.snapshots import snapshot
from dapkit.agent.results.program import LoadedSourcesResult, ModuleRow, ModulesResult, SourceText
from dapkit.protocol import LoadedSourcesArguments, ModulesArguments, ModulesBody, Source, SourceArguments
from dapkit.sessions.errors import NoFrame


@action(Approval.READ)
async def modules(
    call: ActionCall,
    *,
    start_module: p.StartModule | None = None,
    module_count: p.ModuleCount | None = None,
) -> ModulesResult:
    """Show the modules and libraries that the program has loaded."""
    start = start_module or 0
    if start < 0 or (module_count or 0) < 0:
        raise InvalidArguments(f"{'start_module' if start < 0 else 'module_count'} must be 0 or more")
    reported_modules = list(call.session.event_state.modules.values())
    if reported_modules and not call.capabilities.supports_modules_request:
        body = ModulesBody(
            modules=reported_modules, total_modules=len(reported_modules)
        )  # of events, which some adapters send instead
    else:
        call.require("supports_modules_request", "module introspection")
        body = await call.requests.ask(ModulesArguments(start_module=start_module, module_count=module_count))
    came, total = body.modules, body.total_modules or len(body.modules) + start
    if len(came) > total - start:  # lldb-dap sends all of them, whatever it is asked for
        came = came[start:]
    page = came[: min(module_count or limits.MODULES_SHOWN, limits.MODULES_MOST)]
    return ModulesResult(
        snapshot=snapshot(call.session),
        modules=[
            ModuleRow(
                id=module.id,
                name=module.name,
                path=module.path,
                symbol_status=module.symbol_status,
                address_range=module.address_range,
                version=module.version,
            )
            for module in page
        ],
        more=max(0, total - start - len(page)),
    )


@action(Approval.READ)
async def loaded_sources(call: ActionCall) -> LoadedSourcesResult:
    """Show the sources that the program has loaded."""
    folder, all_sources = call.session.cwd, list(call.session.event_state.sources.values())
    if not all_sources or call.capabilities.supports_loaded_sources_request:
        call.require("supports_loaded_sources_request", "loaded sources")
        all_sources = (await call.requests.ask(LoadedSourcesArguments())).sources
    # gdb has thousands in no order: the user's own come first, before the list is cut
    sources = sorted(
        all_sources, key=lambda source: source.path is None or not Path(source.path).is_relative_to(folder)
    )
    page = sources[: limits.MODULES_SHOWN]
    return LoadedSourcesResult(snapshot=snapshot(call.session), sources=page, more=len(sources) - len(page))


@action(Approval.READ, example={"file": "app.py", "line": 12})
async def source(
    call: ActionCall,
    *,
    file: p.File | None = None,
    source_reference: p.SourceReference | None = None,
    line: p.Line | None = None,
    count: p.Count | None = None,
) -> SourceText:
    """Show lines of a source, by default around where the program stands."""
    stop = call.session.state.stop
    if file is None and source_reference is None and (stop is None or stop.path is None):
        raise NoFrame
    here = stop is not None and stop.path is not None and source_reference is None and file in (None, Path(stop.path))
    name = str(file) if file is not None else stop.path if here and stop is not None else f"source {source_reference}"
    top_source = stop.frames[stop.frame].source if here and stop is not None and stop.frames else None
    reference = source_reference if top_source is None else top_source.source_reference or None
    lines = await _lines(call, Path(str(name)), reference)
    if not lines:
        raise InvalidArguments(f"There is no text of {name}.")
    current = stop.line if here and stop is not None else None
    around = line or current
    line_count = at_most("count", count, otherwise=limits.SOURCE_LINES_SHOWN, most=limits.SOURCE_LINES_MOST)
    first = 1 if around is None else max(1, min(around - line_count // 2, len(lines) - line_count + 1))
    return SourceText(
        snapshot=snapshot(call.session),
        name=str(name),
        content="\n".join(
            shortened(line, limits.VALUE_CHARACTERS)[0] for line in lines[first - 1 : first - 1 + line_count]
        ),
        first_line=first,
        total_lines=len(lines),
        current_line=current,
    )


async def _lines(call: ActionCall, file: Path, reference: int | None) -> list[str]:
    """Get the text from the file, or from the adapter, which may have it where there is no file."""
    if reference is None and (lines := await anyio.to_thread.run_sync(lines_of, file)) is not None:
        return lines
    source = Source(source_reference=reference) if reference is not None else Source(path=str(file), source_reference=0)
    body = await call.requests.ask(SourceArguments(source=source, source_reference=reference or 0))
    return body.content.splitlines()
