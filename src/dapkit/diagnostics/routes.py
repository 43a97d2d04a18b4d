"""The routes of diagnostics: their names, and one line about each, in the order in which a menu shows them."""

from typing import Final

ROUTES: Final[dict[str, str]] = {
    "open-artifacts": "Open the folder with what was written about the session.",
    "performance": "Profile the processor until a key is pressed, and the work of 30 s; both in one file.",
    "work": "Profile the work of 30 s, and show it as a flame graph.",
    "dump": "Write a report of the session, for those who look into a fault.",
    "memory": "Show what holds the memory of a Python program, by type and by line.",
    "logs": "Show the log of the hub, today's and of older days.",
    "system": "Show this machine, the versions of all that takes part, and the environment.",
    "raw-sse": "Watch the messages of the session, and the events of the MCP server, as they pass.",
    "transcript": "Write the session as a page to read: actions, stops, values, output.",
    "clear-cache": "Remove what was written about sessions more than 30 days ago.",
}
