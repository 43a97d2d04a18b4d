"""The registry of actions: each is a typed coroutine, and everything else is read off its signature.

The name on the wire is the coroutine's name without a closing underscore, the summary
the first line of its docstring, a parameter's type and meaning its annotation (see
`parameters`). A parameter without a default is required. An action with `**target: Unpack[...]`
has the parameters of that `TypedDict` as well, as its first ones. Every action has `timeout`
too, which `handler` takes care of.

Command line, MCP, Python functions, JSON schemas and the reference are made from
this; how an action is carried out is in `handler`.
"""

import enum
import inspect
import types
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from dapkit.agent.calls.parameters import Timeout
from dapkit.protocol import ProtocolObject

type Coroutine = Callable[..., Awaitable[ProtocolObject]]


type Reads = Callable[[Mapping[str, object]], bool]


def never(_arguments: Mapping[str, object]) -> bool:
    """Report that an action does more than read, whatever its arguments are."""
    return False


class Approval(enum.Enum):
    """The effect of an action; a read-only caller is refused every action that changes something."""

    READ = "read"
    EXECUTE = "execute"


class ParameterKind(enum.Enum):
    """The type of a parameter, as faces know it."""

    STRING = "string"
    PATH = "path"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRINGS = "strings"
    INTEGERS = "integers"
    VARIABLES = "variables"
    """An object whose values are strings, or null to unset."""
    OBJECT = "object"
    PLACE = "integer_or_string"
    """A place in a list, or a text that names one of its members."""
    BREAKPOINTS = "breakpoints"
    """A list of strings and objects."""


_KINDS: Mapping[object, ParameterKind] = {
    str: ParameterKind.STRING,
    Path: ParameterKind.PATH,
    int: ParameterKind.INTEGER,
    int | str: ParameterKind.PLACE,
    float: ParameterKind.NUMBER,
    bool: ParameterKind.BOOLEAN,
    list[str]: ParameterKind.STRINGS,
    list[int]: ParameterKind.INTEGERS,
    dict[str, str | None]: ParameterKind.VARIABLES,
    dict[str, str]: ParameterKind.VARIABLES,
    dict[str, object]: ParameterKind.OBJECT,
    list[str | dict[str, object]]: ParameterKind.BREAKPOINTS,
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an action.

    Attributes:
        choices: all values that a string may have; empty if there is no such list.

    """

    name: str
    kind: ParameterKind
    meaning: str
    required: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """One action.

    Attributes:
        coroutine: takes a `Call` and the parameters by keyword, and returns the result.
        topic: the noun that it is listed under.
        example: arguments that make sense together.
        reads_if: whether it only reads, although it may do more, with these arguments.
        any_timeout: whether its timeout has no limits.
        without_secrets: whether it takes the secrets out of its result itself.

    """

    name: str
    topic: str
    approval: Approval
    coroutine: Coroutine
    example: Mapping[str, object]
    reads_if: Reads = never
    any_timeout: bool = False
    without_secrets: bool = False

    @property
    def details(self) -> str:
        """The paragraphs of its docstring after the first line."""
        return inspect.cleandoc(self.coroutine.__doc__ or "").partition("\n")[2].strip()

    @property
    def summary(self) -> str:
        """The purpose of the action, in one line."""
        return (self.coroutine.__doc__ or "").partition("\n")[0]

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters by name, in the order in which they are shown."""
        hints = get_type_hints(self.coroutine, include_extras=True)
        _call, *rest = inspect.signature(self.coroutine).parameters.values()
        parameters: list[Parameter] = []
        for parameter in rest:
            hint = hints[parameter.name]
            if parameter.kind is parameter.VAR_KEYWORD:
                (fields,) = get_args(hint)
                of_fields = get_type_hints(fields, include_extras=True)
                parameters[:0] = [_parameter(name, each, required=False) for name, each in of_fields.items()]
            else:
                parameters.append(_parameter(parameter.name, hint, required=parameter.default is parameter.empty))
        parameters.append(_parameter("timeout", Timeout, required=False))
        return {parameter.name: parameter for parameter in parameters}

    @cached_property
    def results(self) -> tuple[type[ProtocolObject], ...]:
        """The types that its result may have."""
        kind = get_type_hints(self.coroutine)["return"]
        return get_args(kind) or (kind,)


ACTIONS: dict[str, Action] = {}
"""All actions by name; importing `dapkit.agent.actions` fills it."""

QUERIES: dict[str, Action] = {}
"""Queries that `dapkit.diagnostics` sends to the hub, by name; importing `dapkit.agent.queries` fills it.

They are carried out as actions are, but no command, function or tool is made of them.
"""


def action[C: Coroutine](
    approval: Approval,
    *,
    example: Mapping[str, object] | None = None,
    reads_if: Reads = never,
    any_timeout: bool = False,
    topic: str | None = None,
) -> Callable[[C], C]:
    """Register a coroutine as an action; its topic is the name of its module unless another is given.

    Example:
        @action(Approval.READ)
        async def threads(call: Call) -> Threads:
            "Show the threads."

    """

    def register(coroutine: C) -> C:
        _register(ACTIONS, coroutine, approval, example or {}, reads_if)
        name = coroutine.__name__.removesuffix("_")
        ACTIONS[name] = replace(ACTIONS[name], any_timeout=any_timeout, topic=topic or ACTIONS[name].topic)
        return coroutine

    return register


def query[C: Coroutine](approval: Approval, *, without_secrets: bool = False) -> Callable[[C], C]:
    """Register a coroutine as a query of diagnostics; otherwise as `action`."""

    def register(coroutine: C) -> C:
        _register(QUERIES, coroutine, approval, {}, never)
        name = coroutine.__name__
        QUERIES[name] = replace(QUERIES[name], without_secrets=without_secrets)
        return coroutine

    return register


def _register(
    registry: dict[str, Action],
    coroutine: Coroutine,
    approval: Approval,
    example: Mapping[str, object],
    reads_if: Reads,
) -> None:
    name = coroutine.__name__.removesuffix("_")
    topic = coroutine.__module__.rpartition(".")[2]
    if name in ACTIONS or name in QUERIES:
        raise ValueError(f"there are two actions {name}, the second in {coroutine.__module__}")
    registry[name] = Action(name, topic, approval, coroutine, example, reads_if)


def vocabulary(actions: Iterable[Action]) -> Mapping[str, Parameter]:
    """Collect the parameters of all actions by name; whether one is required is up to each action.

    Raises:
        TypeError: a name means two things.

    """
    words: dict[str, Parameter] = {}
    for action in actions:
        for parameter in action.parameters.values():
            word = replace(parameter, required=False)
            if words.setdefault(word.name, word) != word:
                raise TypeError(f"{action.name} has a parameter {word}, which elsewhere is {words[word.name]}")
    return words


def _parameter(name: str, hint: Any, *, required: bool) -> Parameter:  # noqa: ANN401 - any annotation
    """Read an annotation: `Annotated[type, meaning]`, perhaps `| None`."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (member for member in get_args(hint) if member is not type(None))
    if get_origin(hint) is not Annotated:
        raise TypeError(f"parameter {name} is annotated with {hint}, expected Annotated[type, meaning]")
    kind, meaning = get_args(hint)
    if get_origin(kind) is Literal:
        return Parameter(name, ParameterKind.STRING, meaning, required, choices=get_args(kind))
    return Parameter(name, _KINDS[kind], meaning, required)
