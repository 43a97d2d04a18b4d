"""Check that the coroutines of an adapter take and return the types of their requests.

Read once, when the class is created. Annotations that cannot be resolved then, such as those under
`TYPE_CHECKING`, are left to the type checker; how many parameters there are is always known.
"""

import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from dapkit.adapter.errors import DefinitionError
from dapkit.adapter.requests import Requests
from dapkit.protocol import COMMANDS, RawJson

type _Function = Callable[..., Any]

_STARTS = ("launch", "attach", "restart")
"""Commands whose arguments are of types that the author chooses."""


def check_handler(cls: type, method: str, command: str) -> None:
    """Check the handler of a command of the protocol.

    Raises:
        DefinitionError: it takes too many or too few parameters, or says that it takes or returns something else.

    """
    function, name = getattr(cls, method), f"{cls.__qualname__}.{method}"
    spec = COMMANDS[command]
    expected_types = _parameters(getattr(Requests, method))
    if not _accepts(function, len(expected_types)):
        raise DefinitionError(
            f"{name} takes ({', '.join(_parameters(function))}), "
            f"which does not fit {command}: write `async def {method}({', '.join(expected_types)})`"
        )
    if len(expected_types) > 1 and command not in _STARTS:
        parameter_types = _classes(function, _parameters(function)[1:2])
        if parameter_types and not issubclass(spec.arguments, tuple(parameter_types)):
            raise DefinitionError(
                f"{name} takes {' | '.join(map(_shown, parameter_types))}, "
                f"but the arguments of {command} are {spec.arguments.__name__}"
            )
    body = spec.body or types.NoneType
    for returned in _classes(function, ["return"]):
        if not issubclass(returned, (body, RawJson)):
            raise DefinitionError(
                f"{name} returns {_shown(returned)}, but the body of {command} is {_shown(body)}, or RawJson"
            )


def custom_parameter(cls: type, method: str) -> type | None:
    """Return the type of the one parameter of a custom handler, or None if it has no parameter.

    Raises:
        DefinitionError: it has other parameters, or its annotated result is not a JSON object.

    """
    # A decorator's own function takes any arguments: the function that it wraps declares their types.
    function, name = inspect.unwrap(getattr(cls, method)), f"{cls.__qualname__}.{method}"
    for returned in _classes(function, ["return"]):
        if not issubclass(returned, (msgspec.Struct, RawJson, Mapping, types.NoneType)):
            raise DefinitionError(
                f"{name} returns {_shown(returned)}: the body of a custom command is a Struct, a dict, RawJson or None"
            )
    names = _parameters(function)[1:]
    if not names and not _accepts(function, 2):
        return None
    match _classes(function, names):
        case [taken] if len(names) == 1 and issubclass(taken, msgspec.Struct):
            return taken
    raise DefinitionError(f"{name} handles a custom command: it takes one parameter, annotated with a Struct, or none")


def _parameters(function: _Function) -> list[str]:
    """Names of the parameters that can be given by position; quicker than a signature, at each start of an adapter."""
    if not isinstance(function, types.FunctionType):  # a `partial`, or another object that can be called
        parameters = inspect.signature(function).parameters.values()
        return [
            parameter.name
            for parameter in parameters
            if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
        ]
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount])


def _accepts(function: _Function, count: int) -> bool:
    if not isinstance(function, types.FunctionType):
        try:
            inspect.signature(function).bind(*range(count))
        except TypeError:
            return False
        return True
    code = function.__code__
    most = math.inf if code.co_flags & inspect.CO_VARARGS else code.co_argcount
    least = code.co_argcount - len(function.__defaults__ or ())
    optional = function.__kwdefaults__ or {}
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return least <= count <= most and all(name in optional for name in keywords)


def _classes(function: _Function, names: Sequence[str]) -> list[type]:
    """Return the classes that the annotation of one of these names allows; none where it does not name classes."""
    hint = next((hint for name, hint in _hints(function).items() if name in names), object)
    is_union = typing.get_origin(hint) in {types.UnionType, typing.Union}
    parts = typing.get_args(hint) if is_union else (types.NoneType if hint is None else hint,)
    classes = [typing.get_origin(part) or part for part in parts]
    candidates = [part for part in classes if isinstance(part, type) and part not in (Any, object)]
    return candidates if len(candidates) == len(parts) else []


def _hints(function: _Function) -> Mapping[str, Any]:
    """Return the annotations, resolved if they are texts."""
    try:
        hints: Mapping[str, Any] = function.__annotations__
        return typing.get_type_hints(function) if any(isinstance(hint, str) for hint in hints.values()) else hints
    except (NameError, TypeError, AttributeError):
        return {}


def _shown(kind: type) -> str:
    return "None" if kind is types.NoneType else kind.__name__
