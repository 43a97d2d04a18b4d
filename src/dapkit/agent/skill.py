"""The page that teaches an agent when and how to use the tool; the instructions of the MCP server are its beginning."""

import os

_OPENING_LINES = 10


def text() -> str:
    """Return the whole page, in Markdown."""
    page = os.path.join(os.path.dirname(__file__), "skill.md")
    with open(page, encoding="utf-8") as file:
        return file.read()


def opening() -> str:
    """Return its first ten lines, which stand for themselves."""
    return "".join(text().splitlines(keepends=True)[:_OPENING_LINES])
