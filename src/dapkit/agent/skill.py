"""The page that teaches an agent when and how to use the tool; the instructions of the MCP server are its beginning."""

from importlib import resources

_OPENING_LINES = 10


def text() -> str:
    """Return the whole page, in Markdown."""
    return resources.files("dapkit.agent").joinpath("skill.md").read_text(encoding="utf-8")


def opening() -> str:
    """Return its first ten lines, which stand for themselves."""
    return "".join(text().splitlines(keepends=True)[:_OPENING_LINES])
