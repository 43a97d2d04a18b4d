"""The actions as blocking functions for Python: the basis of the generated `api`.

The hub does the work, and is started if none runs. Only the standard library is
loaded until the typed form of an answer is asked for.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any

from dapkit import hub
from dapkit.agent.table import PARAMETERS
from dapkit.hub.project import project_of

if TYPE_CHECKING:
    from collections.abc import Callable

type StrPath = str | os.PathLike[str]


class ActionError(Exception):
    """An action that was not done.

    Attributes:
        code: a stable word, such as `no_session`; see `dapkit.agent.calls.failures`.
        hint: what to do next; may be empty.

    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        """Message and hint as one text."""
        return f"{self.args[0]}\n{self.hint}" if self.hint else str(self.args[0])


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


def performs[**P, R](*kinds: str) -> "Callable[[Callable[P, Answer[R]]], Callable[P, Answer[R]]]":
    """Give a declared function its body: the action of the function's name is carried out with its arguments.

    The declaration has the signature and the documentation, and nothing else. `session` and `project` choose the
    session; all others are parameters of the action, and those that are None are left out.

    Args:
        kinds: names of the types that the result may have, as MODULE.CLASS.

    Example:
        @performs("session.Started")
        def restart(*, session: str | None = None, project: StrPath | None = None) -> "Answer[Started]":
            "Start the program again."

    """

    def with_body(declared: "Callable[P, Answer[R]]") -> "Callable[P, Answer[R]]":
        action = declared.__name__.rstrip("_")  # `continue_` is the action `continue`
        parameters = signature(declared)

        @wraps(declared)
        def call(*args: P.args, **kwargs: P.kwargs) -> "Answer[R]":
            bound = parameters.bind(*args, **kwargs)
            bound.apply_defaults()
            return _perform(action, bound.arguments, kinds)

        return call

    return with_body


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
    """Return the value to send for a parameter; a program starts in the current folder if no other is given."""
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
        raise TypeError("the action has no result")

    return read
