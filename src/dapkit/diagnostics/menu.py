"""The entries of diagnostics: their names, and one line about each, in the order in which a menu shows them."""

from typing import Final

MENU: Final[dict[str, str]] = {
    "open-artifacts": "Open the folder with the files about the session.",
    "performance": "Profile the processor until a key is pressed, then the work.",
    "work": "Profile the work of 30 s, and show it as a flame graph.",
    "dump": "Write a report of the session, to look into a fault.",
    "memory": "Show what holds a Python program's memory.",
    "logs": "Show the log of the hub, today's and of older days.",
    "system": "Show this machine, all versions, and the environment.",
    "raw-sse": "Watch messages of the session, and of the MCP server.",
    "transcript": "Write the session as a page: actions, stops, values, output.",
    "clear-cache": "Remove old files about sessions.",
}
