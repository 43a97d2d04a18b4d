"""Ask the user at the terminal the questions of a launch.json configuration, as an editor does."""

import sys
from pathlib import Path

import click

from dapkit.catalog import CatalogError, launch_json


def with_answers(arguments: dict[str, object]) -> dict[str, object]:
    """Return the parameters of an action with answers to all that its configuration asks.

    A question with a default or with a given answer is not asked, and without a terminal no question is: the action
    then reports the missing answers along with other errors.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return arguments
    try:
        folder = launch_json.find(Path(str(arguments["cwd"])))
        if folder is None:
            return arguments
        questions = launch_json.read(folder).asked(str(arguments["configuration"]))
    except CatalogError:
        return arguments
    earlier_answers = arguments.get("inputs")
    answers: dict[str, object] = dict(earlier_answers) if isinstance(earlier_answers, dict) else {}
    for question in questions:
        if question.name not in answers and question.default is None:
            answers[question.name] = _ask(question)
    return {**arguments, "inputs": answers} if answers else arguments


def _ask(question: launch_json.Input) -> str:
    kind = click.Choice(question.choices) if question.choices else click.STRING
    answer: str = click.prompt(question.description or question.name, type=kind, hide_input=question.secret, err=True)
    return answer
