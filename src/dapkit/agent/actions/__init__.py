"""All actions; importing this fills the registry."""

from dapkit.agent.actions import (
    autopsy,
    breakpoints,
    execution,
    history,
    inspection,
    jobs,
    launch,
    memory,
    probe,
    run,
    sessions,
    sources,
    stacks,
    trace,
    watchpoints,
)
from dapkit.agent.calls.registry import ACTIONS, Action

_MODULES = (
    *(run, probe, trace, autopsy, launch, breakpoints, execution, history, inspection, stacks, watchpoints, memory),
    *(sources, sessions, jobs),
)

TOPICS = [module.__name__.rpartition(".")[2] for module in _MODULES]
"""The topics of actions, in the order in which they are shown."""


def in_order() -> dict[str, Action]:
    """Return all actions by name, in the order of their topics."""
    return {item.name: item for item in sorted(ACTIONS.values(), key=lambda action: TOPICS.index(action.topic))}
