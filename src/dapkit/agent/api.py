"""The actions as blocking functions for Python, which `dapkit.agent` offers; its stub has their signatures.

The hub does the work; the first call starts it. Only the standard library is
loaded until the typed form of an answer is asked for.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from dapkit import hub
from dapkit.agent.table import ACTIONS, PARAMETERS
from dapkit.hub.folder import project_of
from dapkit.system.coded_error import CodedError

if TYPE_CHECKING:
    from collections.abc import Callable

type StrPath = str | os.PathLike[str]


class ActionError(CodedError):
    """An action that was not done; its code is such as `no_session`, see `dapkit.agent.calls.failures`."""


@dataclass(frozen=True, slots=True)
class Answer[R]:
    """The outcome of an action.

    Attributes:
        session: name of the session that it was about.
        text: for people and agents.
        details: the same as JSON.

    """

    action: str
    session: str | None
    text: str
    details: Mapping[str, Any]
    _read: "Callable[[Mapping[str, Any]], R]" = field(repr=False, compare=False)

    @property
    def result(self) -> R:
        """The details as a typed value."""
        return self._read(self.details)

    def __str__(self) -> str:
        """Its text."""
        return self.text


TYPES = {
    "string": "str",
    "path": "StrPath",
    "integer": "int",
    "integer_or_string": "int | str",
    "number": "float",
    "boolean": "bool",
    "strings": "Sequence[str]",
    "integers": "Sequence[int]",
    "variables": "Mapping[str, str | None]",
    "object": "Mapping[str, object]",
    "breakpoints": "Sequence[str | Mapping[str, object]]",
}
"""Annotations of parameters, by the `type` in their row of `PARAMETERS`."""

_OF_ALL = {
    "session": ("str", "Name of the session; by default the only one."),
    "project": ("StrPath", "Folder that the session belongs to."),
}
"""Parameters of every function, with their annotation and meaning: they choose the session."""


@cache
def action_function(name: str) -> "Callable[..., Answer[Any]]":
    """Return the function that carries out an action: `continue_` is for the action `continue`.

    It takes the required parameters of the action by position or by name, all others by name. None leaves
    one out.
    """
    action = name.rstrip("_")
    parameters = Signature([*_parameters(action)])
    results = ACTIONS[action]["results"]

    def call(*args: object, **kwargs: object) -> Answer[Any]:
        bound = parameters.bind(*args, **kwargs)
        bound.apply_defaults()
        return _perform(action, bound.arguments, results)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "dapkit.agent"
    call.__doc__ = "\n".join(_documentation(action))
    answers = " | ".join(result.rpartition(".")[2] for result in results)
    call.__signature__ = parameters.replace(return_annotation=f"Answer[{answers}]")  # type: ignore[attr-defined]
    return call


def _parameters(action: str) -> "Iterator[Parameter]":
    row = ACTIONS[action]
    for name in row["required"]:
        yield Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=TYPES[PARAMETERS[name]["type"]])
    for name in row["parameters"]:
        if name not in row["required"]:
            annotation = f"{TYPES[PARAMETERS[name]['type']]} | None"
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
    for name, (annotation, _) in _OF_ALL.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=f"{annotation} | None")


def _documentation(action: str) -> "Iterator[str]":
    row = ACTIONS[action]
    meanings = {name: PARAMETERS[name]["meaning"] for name in row["parameters"]}
    yield from (row["summary"], "", "Args:")
    for name, meaning in (meanings | {name: meaning for name, (_, meaning) in _OF_ALL.items()}).items():
        yield f"    {name}: {meaning}"
    yield from ("", "Raises:", "    ActionError: It was not done.")


def _perform[R](action: str, arguments: "Mapping[str, Any]", kinds: tuple[str, ...]) -> Answer[R]:
    """Carry out an action.

    Raises:
        ActionError: it was not done.
        dapkit.hub.HubError: no hub could be reached.

    """
    values = {name: _sent(name, value) for name, value in arguments.items() if name not in {"session", "project"}}
    project = arguments["project"]
    answer: dict[str, Any] = hub.call(
        action,
        {name: value for name, value in values.items() if value is not None},
        project=project_of(os.getcwd()) if project is None else _absolute(project),  # noqa: PTH109 - a text
        session=arguments["session"],
    )
    if not answer["success"]:
        error = answer["error"]
        raise ActionError(error["code"], error["message"], error.get("hint", ""))
    return Answer(answer["action"], answer["session"], answer["text"], answer["details"], _reader(kinds))


def _sent(name: str, value: Any) -> object:  # noqa: ANN401 - whatever the parameter takes
    """Return the value to send for a parameter; a program starts in the current folder by default."""
    if name == "cwd":
        return _absolute(value or ".")
    return _absolute(value) if value is not None and PARAMETERS[name]["type"] == "path" else value


def _absolute(path: StrPath) -> str:
    """Make a path absolute, from the current folder of this process."""
    return os.path.abspath(path)  # noqa: PTH100 - links stay as they are


def _reader(kinds: tuple[str, ...]) -> "Callable[[Mapping[str, Any]], Any]":
    def read(details: Mapping[str, Any]) -> object:
        from importlib import import_module

        from dapkit.protocol import InvalidValue, from_json_value

        for kind in kinds:
            module, _, name = kind.rpartition(".")
            try:
                value: object = from_json_value(getattr(import_module(f"dapkit.agent.results.{module}"), name), details)
            except InvalidValue:
                if kind == kinds[-1]:
                    raise
            else:
                return value
        raise TypeError("the action returns nothing")

    return read
