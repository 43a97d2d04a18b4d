"""Showing an answer: plain text for pipes, colours and pages in a terminal, one object with `--json`."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dapkit.cli.asking import Answer


def show(answer: "Answer", *, as_json: bool) -> None:
    """Print an answer: what was found to stdout, an error to stderr."""
    if as_json:
        click.echo(json.dumps(answer, indent=2 if sys.stdout.isatty() else None, ensure_ascii=False))
    elif answer["success"]:
        page(str(answer["text"]))
    else:
        complain(answer)


def complain(answer: "Answer") -> None:
    """Print an error, and what to do about it, to stderr."""
    error = answer.get("error")
    details = error if isinstance(error, dict) else {"message": answer.get("text")}
    click.echo(f"{click.style('Error:', fg='red', bold=True)} {details.get('message')}", err=True)
    if details.get("hint"):
        click.echo(details["hint"], err=True)


def page(text: str) -> None:
    """Print a text; one that is longer than the terminal goes through the pager."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    coloured = colour(text) if "NO_COLOR" not in os.environ else text
    if text.count("\n") + 1 < shutil.get_terminal_size().lines:
        click.echo(coloured)
    else:
        os.environ.setdefault("LESS", "-FRX")
        click.echo_via_pager(coloured + "\n")


def colour(text: str) -> str:
    """Make labels, the current line and states stand out."""
    for pattern, style in _STYLES:
        text = re.sub(pattern, style, text, flags=re.MULTILINE)
    return text


def _styled(**style: Any) -> Callable[[re.Match[str]], str]:  # noqa: ANN401 - as click.style has them
    return lambda found: click.style(found[0], **style)


_STYLES = (
    (
        r"^(?:Session|Adapter|Status|CWD|Program|Frame|Location|Stop reason|Instruction pointer|Exit code):",
        _styled(dim=True),
    ),
    (r"^[A-Z][A-Za-z ]+:$", _styled(bold=True)),
    (r"^[>=-]+>.*$", _styled(fg="yellow", bold=True)),
    (r"\bverified\b", _styled(fg="green")),
    (r"\b(?:pending|unverified|moved)\b", _styled(fg="yellow")),
)
"""What stands out in the texts of answers."""
