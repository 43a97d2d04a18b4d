"""Ask the user at the terminal the questions of a launch.json configuration, as an editor does."""

import sys
from pathlib import Path

import click

from dapkit.catalog import CatalogError, launch_json


def with_answers(wanted: dict[str, object]) -> dict[str, object]:
    """Return the parameters of an action with answers to all that its configuration asks.

    A question with a default or with a given answer is not asked, and without a terminal no question is: the action
    then reports the missing answers along with other errors.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return wanted
    try:
        folder = launch_json.find(Path(str(wanted["cwd"])))
        if folder is None:
            return wanted
        asked = launch_json.read(folder).asked(str(wanted["configuration"]))
    except CatalogError:
        return wanted
    given = wanted.get("inputs")
    answers: dict[str, object] = dict(given) if isinstance(given, dict) else {}
    for question in asked:
        if question.name not in answers and question.default is None:
            answers[question.name] = _ask(question)
    return {**wanted, "inputs": answers} if answers else wanted


def _ask(question: launch_json.Input) -> str:
    kind = click.Choice(question.choices) if question.choices else click.STRING
    answer: str = click.prompt(question.description or question.name, type=kind, hide_input=question.secret, err=True)
    return answer
