"""Configurations of a `launch.json`, ready to be started with the changes that a caller wants."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dapkit.agent.calls.failures import InvalidArguments
from dapkit.catalog import Catalog, launch_json
from dapkit.catalog.launch_json import Plan


def plans_of(
    name: str,
    catalog: Catalog,
    folder: Path,
    *,
    program: str | None = None,
    pid: int | None = None,
    inputs: Mapping[str, str] | None = None,
    env: Mapping[str, str | None] | None = None,
    changes: Mapping[str, object],
) -> list[Plan]:
    """Plan a configuration, or each of a compound; `changes` and `env` override it, None changes nothing.

    It reads files, and may ask programs for their version: in an event loop, call it in a thread.

    Raises:
        InvalidArguments: there is no such file, or it does not ask for one of the inputs.
        CatalogError: it has no such configuration, or nothing fits it.

    """
    workspace = launch_json.find(folder)
    if workspace is None:
        raise InvalidArguments(f"configuration: there is no .vscode/launch.json in {folder} or above it")
    file = launch_json.read(workspace)
    open_file, answers = None if program is None else folder / program, inputs or {}
    question_names = [question.name for question in file.asked(name)]
    for answered in answers:
        if answered not in question_names:
            raise InvalidArguments(
                f"inputs: {name} does not ask for {answered}; it asks for {', '.join(question_names) or 'nothing'}"
            )
    plans = [file.plan(member, catalog, program=open_file, inputs=answers, pid=pid) for member in file.members(name)]
    return [_changed(plan, env or {}, changes) for plan in plans]


def _changed(plan: Plan, env: Mapping[str, str | None], changes: Mapping[str, object]) -> Plan:
    settings = {key: value for key, value in changes.items() if value is not None}
    before = plan.arguments.get("env")
    if env:
        settings["env"] = {**(before if isinstance(before, Mapping) else {}), **env}
    return replace(plan, arguments={**plan.arguments, **settings})
