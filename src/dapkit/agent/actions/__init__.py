"""All actions; importing this fills the registry."""

from dapkit.agent.actions import (
    breakpoints,
    execution,
    history,
    inspection,
    launch,
    memory,
    run,
    sessions,
    sources,
    watchpoints,
)
from dapkit.agent.calls.registry import ACTIONS, Action

TOPICS = (run, launch, breakpoints, execution, history, inspection, watchpoints, memory, sources, sessions)
"""The modules of actions, in the order in which they are shown."""


def in_order() -> dict[str, Action]:
    """Return all actions by name, in the order of their topics."""
    topics = [topic.__name__.rpartition(".")[2] for topic in TOPICS]
    return {item.name: item for item in sorted(ACTIONS.values(), key=lambda action: topics.index(action.topic))}
