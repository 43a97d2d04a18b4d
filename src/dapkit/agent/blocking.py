"""The actions as blocking functions for Python: what the generated `api` is made of.

The hub does the work, and is started if none runs. Only the standard library is
loaded until the typed form of an answer is asked for.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dapkit import hub
from dapkit.hub.project import project_of

if TYPE_CHECKING:
    from collections.abc import Callable

type StrPath = str | os.PathLike[str]


class ActionError(Exception):
    """An action that was not done.

    Attributes:
        code: a stable word, such as `no_session`; see `dapkit.agent.failures`.
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
    """What came of an action.

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


def perform[R](
    action: str,
    arguments: Mapping[str, object],
    *kinds: str,
    session: str | None,
    project: StrPath | None,
) -> Answer[R]:
    """Have an action done; `kinds` name the types that its result may have, as MODULE.CLASS.

    Raises:
        ActionError: it was not done.
        dapkit.hub.HubError: no hub could be reached.

    """
    given = {name: value for name, value in arguments.items() if value is not None}
    folder = project_of(path(".")) if project is None else path(project)
    answer: dict[str, Any] = hub.call(action, given, project=folder, session=session)
    if not answer["success"]:
        error = answer["error"]
        raise ActionError(error["code"], error["message"], error.get("hint", ""))
    return Answer(answer["action"], answer["session"], answer["text"], answer["details"], _reader(kinds))


def path(given: StrPath) -> str:
    """Make a path absolute, from the current folder of this process."""
    return os.path.abspath(given)  # noqa: PTH100 - links stay as they are


def path_if_given(given: StrPath | None) -> str | None:
    """Do the same, if there is one."""
    return None if given is None else path(given)


def _reader(kinds: tuple[str, ...]) -> "Callable[[Mapping[str, Any]], Any]":
    def read(details: Mapping[str, Any]) -> object:
        from importlib import import_module

        from dapkit.protocol import InvalidValue, decode_as, encode_value

        content = encode_value(details)
        for kind in kinds:
            module, _, name = kind.rpartition(".")
            try:
                value: object = decode_as(getattr(import_module(f"dapkit.agent.results.{module}"), name), content)
            except InvalidValue:
                if kind == kinds[-1]:
                    raise
            else:
                return value
        raise TypeError("the action has no result")

    return read
