"""Parameters of actions as words of a command line: which options they are, and how their text is read."""

import json
import os
from typing import Any

import click

from dapkit.agent.command_words import flags, is_list
from dapkit.cli.own_input import STANDS_FOR_IT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from dapkit.agent.table import ParameterRow


class LocationParameter(click.ParamType[str]):
    """FILE:LINE, FILE:LINE:COLUMN or a function's name; the shell completes names of files."""

    name = "place"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - as click has it
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> "list[CompletionItem]":
        """Let the shell complete file names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class PathParameter(LocationParameter):
    """A path, made absolute from the folder of the command."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401, ARG002 - as click has it
        """Make the path absolute."""
        path: str = os.path.abspath(os.path.expanduser(value))
        return path


class InputParameter(PathParameter):
    """A path, or - for the standard input of the command."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401 - as click has it
        """Make a path absolute."""
        return value if value in STANDS_FOR_IT else super().convert(value, param, ctx)


class JsonParameter(click.ParamType[dict[str, object]]):
    """A JSON object, or `@FILE` that holds one."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, object]:  # noqa: ANN401 - as click has it
        """Read the object."""
        text = _file(value[1:], self, param, ctx) if value.startswith("@") else value
        try:
            parsed = json.loads(text)
        except ValueError as error:
            self.fail(f"expected a JSON object, such as '{{\"key\": 1}}', found {value!r}: {error}", param, ctx)
        if not isinstance(parsed, dict):
            self.fail(f"expected a JSON object, found {type(parsed).__name__}", param, ctx)
        return parsed


class BreakpointParameter(click.ParamType[str | dict[str, object]]):
    """FILE:LINE, perhaps with a condition, a function's name, or a JSON object."""

    name = "breakpoint"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | dict[str, object]:  # noqa: ANN401 - as click has it
        """Keep the text, or read the object."""
        text: str = value
        return JsonParameter().convert(text, param, ctx) if text.startswith("{") else text


class AssignmentParameter(click.ParamType[tuple[str, str | None]]):
    """NAME=VALUE; NAME alone unsets."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str | None]:  # noqa: ANN401 - as click has it
        """Take it apart."""
        name, equals, text = value.partition("=")
        if not name:
            self.fail(f"expected NAME=VALUE, found {value!r}", param, ctx)
        return name, text if equals else None


class PlaceParameter(click.ParamType[int | str]):
    """A place in a list, or a text that names one of its members: `1`, `#21` or `main`."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:  # noqa: ANN401, ARG002 - as click has it
        """Return a number for digits."""
        return int(value) if str(value).isdecimal() else str(value)


_TYPES: dict[str, click.ParamType[Any]] = {
    "string": click.STRING,
    "strings": click.STRING,
    "integer": click.INT,
    "integers": click.INT,
    "integer_or_string": PlaceParameter(),
    "number": click.FLOAT,
    "path": PathParameter(),
    "object": JsonParameter(),
    "breakpoints": BreakpointParameter(),
    "variables": AssignmentParameter(),
}


def type_of(row: "ParameterRow") -> click.ParamType[Any]:
    """Return how one word of the parameter is read."""
    return click.Choice(row["choices"]) if row["choices"] else _TYPES[row["type"]]


def option(name: str, row: "ParameterRow") -> click.Option:
    """Make the option of a parameter: `--hit-condition`, and `--breakpoint` for one of `breakpoints`."""
    if row["type"] == "boolean":
        dashed = name.replace("_", "-")
        return click.Option([f"--{dashed}/--no-{dashed}", name], default=None, help=row["meaning"])
    if name == "stdin_file":
        text = f"{row['meaning'].removesuffix('.')}; - is this command's own."
        return click.Option([*flags(name), name], type=InputParameter(), help=text)
    complete = _adapter_names if name == "adapter" else None
    return click.Option(
        [*flags(name), name], type=type_of(row), multiple=is_list(row), help=row["meaning"], shell_complete=complete
    )


def _adapter_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as click has it
    """Complete the names of adapters, including the user's own definitions."""
    from pathlib import Path

    from dapkit.catalog import load

    return [name for name in sorted(load(Path.cwd()).adapters) if name.startswith(incomplete)]


def filter_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as click has it
    """Complete the exception filters that the adapter of the session offers, if a hub runs."""
    from dapkit import hub
    from dapkit.cli.action_call import ask

    try:
        if hub.status() is None:
            return []
    except hub.HubError:
        return []
    answer = ask("set_exception_breakpoints", {}, session=ctx.params.get("session"), read_only=True)
    details = answer.get("details")
    offered = details.get("exceptionFilters", []) if isinstance(details, dict) else []
    return [each["filter"] for each in offered if each["filter"].startswith(incomplete)]


def _file(name: str, kind: click.ParamType[Any], param: click.Parameter | None, ctx: click.Context | None) -> str:
    try:
        with open(name, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeError) as error:
        kind.fail(f"cannot read {name}: {error}", param, ctx)
