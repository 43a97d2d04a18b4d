"""All commands by topic: their modules and their purposes. Nothing is imported for that."""

from collections.abc import Iterator
from typing import Final

from dapkit.agent.command_words import OF_JOB, OPTION_OF_RUN
from dapkit.agent.table import ACTIONS

OTHERS: Final[dict[str, tuple[str, str]]] = {
    "run": ("run", ACTIONS["run"]["summary"]),
    "stacks": (
        "stacks",
        "Show the stacks of all threads and tasks of a process, even if it is stuck, or of the session.",
    ),
    "job": ("job", "Show where all processes of a job are, such as of MPI or torchrun, and which are late."),
    "record": ("record", "Record a run of a Python program, to debug it afterwards."),
    "adapters": ("catalog", "List the debug adapters, or explain which one a program gets."),
    "doctor": ("catalog", "Start every installed adapter, and report which work and which to install."),
    "config": ("config", "Show all settings, their values and where these are from."),
    "hub": ("hub", "Show or end the hub, which keeps the sessions."),
    "mcp": ("mcp", "Serve the debug tool to an agent over MCP."),
    "proxy": ("proxy", "Record the messages between an editor and an adapter."),
    "help": ("help", "Show the commands of a topic, or a command with all its options."),
    "skill": ("skill", "Print the page that teaches an agent when and how to use dapkit."),
    "completion": ("completion", "Print the script that completes commands in a shell."),
}
"""Commands that are not actions: their modules and their help."""

DIAGNOSTICS: Final[dict[str, tuple[str, str]]] = {
    "diagnose": ("diagnostics.diagnose", "Show a menu of all that follows here."),
    "logs": ("diagnostics.logs", "Show the log of the hub, today's or an older one."),
    "wire": ("diagnostics.wire", "Show the messages of the session, or of the MCP server, as they pass."),
    "performance": ("diagnostics.performance", "Profile the processor until a key is pressed, then the work of 30 s."),
    "work": ("diagnostics.work", "Profile the work of 30 s, and show it as a flame graph."),
    "memory": ("diagnostics.memory", "Show which objects hold a Python program's memory, and its growth."),
    "dump": ("diagnostics.dump", "Write a report of the session, to look into a fault."),
    "system": ("diagnostics.system", "Show this machine, the versions of all that takes part, and the environment."),
    "open-artifacts": ("diagnostics.artifacts", "Open the folder with the files about the session."),
    "transcript": ("diagnostics.transcript", "Write the session as Markdown and as a page, to read and to show."),
    "clear-cache": ("diagnostics.artifacts", "Remove files about sessions that are older than 30 days."),
}
"""The entries of the menu of diagnostics, as commands."""

TOPICS: Final = {
    "run": "Whole runs",
    "launch": "Start",
    "breakpoints": "Breakpoints",
    "execution": "Run",
    "history": "Time travel",
    "inspection": "Inspect",
    "watchpoints": "Data and instruction breakpoints",
    "memory": "Memory",
    "sources": "Modules and sources",
    "sessions": "Sessions",
    "jobs": "Jobs of many processes",
}


WORDS_OF_OTHERS: Final = {
    "clear": "remove-breakpoint",
    "call": "evaluate",
    "info": "variables",
    "args": "variables",
    "set": "set-variable",
    "x": "read-memory",
    "r": "launch",
    "start": "launch",
    "raw-sse": "wire",
}
"""Words of pdb and gdb, and a name of the menu of diagnostics, with the command that does nearly the same."""


_NOT_OF_ACTIONS: Final = {*OTHERS, *OF_JOB, OPTION_OF_RUN}
"""Names of actions for which no command is made of the table."""


def names() -> list[str]:
    """Return the names of all commands."""
    return [*OTHERS, *DIAGNOSTICS, *(name.replace("_", "-") for name in ACTIONS if name not in _NOT_OF_ACTIONS)]


def by_topic() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield each topic with its title and its commands, each with its purpose."""
    yield "general", "General", [(name, text) for name, (_, text) in OTHERS.items()]
    yield "diagnostics", "Diagnostics", [(name, text) for name, (_, text) in DIAGNOSTICS.items()]
    for topic, title in TOPICS.items():
        rows = [
            (name.replace("_", "-"), row["summary"])
            for name, row in ACTIONS.items()
            if row["topic"] == topic and name not in _NOT_OF_ACTIONS
        ]
        if topic == "jobs":
            rows = [(name.replace("_", " "), ACTIONS[name]["summary"]) for name in OF_JOB]
        yield title.lower().partition(" and ")[0].replace(" ", "-"), title, rows
