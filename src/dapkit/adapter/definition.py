"""The declarations of an adapter class, read once when the class is created.

The names of its coroutines say which requests it answers, its type parameters
how launch and attach arguments are read. An impossible declaration (a misspelled handler, a handler that is not a
coroutine, a flag written by hand) raises an error at that moment, and the error says what to do. Two decorators mark
public coroutines that are not requests of the protocol.
"""

import inspect
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType, get_original_bases
from typing import Any, Never, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import msgspec

from dapkit.adapter.capabilities import OWN_COMMANDS, derived_capabilities
from dapkit.adapter.errors import DefinitionError
from dapkit.adapter.requests import HANDLERS, Requests
from dapkit.adapter.signatures import check_handler, custom_parameter
from dapkit.protocol import COMMANDS, Capabilities

type _Function = Callable[..., Any]

_custom: WeakKeyDictionary[_Function, str] = WeakKeyDictionary()
_others: WeakSet[_Function] = WeakSet()


def custom_request[F: _Function](command: str) -> Callable[[F], F]:
    """Mark a coroutine as the handler of a command that is not in the protocol.

    Its parameter, if it has one, is annotated with the Struct that the arguments
    are read into; it returns a Struct, a dict, `RawJson` or None.

    Example:
        >>> class Shelf(Adapter[NoLaunch, NoAttach]):
        ...     @custom_request("shelf/sort")
        ...     async def sort(self, args: SortArguments) -> SortBody: ...

    """

    def mark(function: F) -> F:
        _custom[function] = command
        return function

    return mark


def not_a_request[F: _Function](function: F) -> F:
    """Mark a public coroutine that others of the author's classes call.

    Example:
        >>> class Shelf(Adapter[NoLaunch, NoAttach]):
        ...     @not_a_request
        ...     async def program_stopped(self, line: int) -> None: ...

    """
    _others.add(function)
    return function


def custom_command(function: _Function) -> str | None:
    """Command that a function was marked to answer, if it was."""
    return _custom.get(function)


def is_not_a_request(function: _Function) -> bool:
    """Whether a function was marked as no handler."""
    return function in _others


_COMMANDS_BY_METHOD = {method: command for command, method in HANDLERS.items()}
_STARTS = ("launch", "attach")
_FORWARD = "forward"
"""The coroutine of an adapter that answers forwarded commands."""


class RequestHandler(msgspec.Struct, frozen=True):
    """How one command is answered.

    Attributes:
        command: name on the wire.
        method: name of the coroutine; `forward` for a forwarded command.
        arguments: the type of the coroutine's argument; None if it takes none.
        is_custom: whether the command is the author's own: its arguments are still to be read.
        is_serial: whether it waits for the serial handlers before it.

    """

    command: str
    method: str
    arguments: type | None
    is_custom: bool
    is_serial: bool


class Definition(msgspec.Struct, frozen=True):
    """The part of an adapter that is the same for all its sessions.

    Attributes:
        handlers: by command.
        capabilities: the body of the answer to `initialize`.
        starts: the type of the arguments of `launch` and of `attach`; None where that is refused.

    """

    handlers: Mapping[str, RequestHandler]
    capabilities: Capabilities
    starts: Mapping[str, type[msgspec.Struct] | None]


def read_definition(
    cls: type, *, base: type, announces: Capabilities, serial: Collection[str] | bool, forwards: Collection[str]
) -> Definition:
    """Read a class that derives from `base`, the class `Adapter`.

    Raises:
        DefinitionError: the class cannot be right.

    """
    coroutines = dict(_coroutines(cls, base))
    answered = {command: method for command, method in HANDLERS.items() if _is_defined(cls, method)}
    forwarded = _forwarded(cls, base, forwards) - answered.keys()
    serial_names = _serial_names(cls, serial, {*answered.values(), *coroutines, *map(HANDLERS.__getitem__, forwarded)})
    handlers = {
        command: RequestHandler(command, method, _parameter(command), is_custom=False, is_serial=method in serial_names)
        for command, method in answered.items()
    }
    for command in forwarded:
        is_serial = HANDLERS[command] in serial_names
        handlers[command] = RequestHandler(
            command, _FORWARD, COMMANDS[command].arguments, is_custom=False, is_serial=is_serial
        )
    for command, method in answered.items():
        check_handler(cls, method, command)
    for method, command in coroutines.items():
        arguments = custom_parameter(cls, method)
        handlers[command] = RequestHandler(command, method, arguments, is_custom=True, is_serial=method in serial_names)
    capabilities = derived_capabilities({*answered, *forwarded, *OWN_COMMANDS}, announces, cls.__qualname__)
    return Definition(MappingProxyType(handlers), capabilities, _starts(cls, base, answered))


# Handlers


def _coroutines(cls: type, base: type) -> Iterator[tuple[str, str]]:
    """Check the declarations of the author; return the handlers of custom commands."""
    for owner in cls.__mro__:
        if owner in base.__mro__:
            continue
        for name, value in vars(owner).items():
            if name in _COMMANDS_BY_METHOD:
                if not inspect.iscoroutinefunction(value):
                    raise DefinitionError(
                        f"{owner.__qualname__}.{name} has the name of the handler of {_COMMANDS_BY_METHOD[name]} "
                        "but is not a coroutine: write `async def`, or give it another name"
                    )
            elif inspect.iscoroutinefunction(value) and not name.startswith("_") and not hasattr(base, name):
                command = custom_command(value)
                if command is not None:
                    _check_custom(command, owner, name)
                    yield name, command
                elif not is_not_a_request(value):
                    raise DefinitionError(_misspelled(owner, name))


def _misspelled(owner: type, name: str) -> str:
    if name in OWN_COMMANDS:
        return f"{owner.__qualname__}.{name} is never called: {name} is answered by dapkit; give it another name"
    by_spelling = {method.replace("_", ""): method for method in HANDLERS.values()}
    import difflib

    similar = difflib.get_close_matches(name.replace("_", "").lower(), by_spelling, n=1, cutoff=0.75)
    hint = f"; did you mean {by_spelling[similar[0]]}?" if similar else "."
    return (
        f"{owner.__qualname__}.{name} is named after no request of the protocol{hint} "
        "A coroutine of your own takes a leading underscore, or the mark @not_a_request or @custom_request."
    )


def _check_custom(command: str, owner: type, name: str) -> None:
    if command in COMMANDS:
        raise DefinitionError(
            f"{owner.__qualname__}.{name} is marked as handler of {command}, which is a command of the protocol: "
            f"name the coroutine {HANDLERS.get(command, command)} and take the mark away"
        )


def _forwarded(cls: type, base: type, forwards: Collection[str]) -> set[str]:
    """Check the commands that are forwarded."""
    for command in forwards:
        if command not in HANDLERS or command in (*_STARTS, "disconnect"):
            raise DefinitionError(
                f"{cls.__qualname__}.forwards names {command}, which is not a request that can be forwarded"
            )
    has_coroutine = getattr(cls, _FORWARD) is not getattr(base, _FORWARD)
    if forwards and not has_coroutine:
        raise DefinitionError(f"{cls.__qualname__} has commands in forwards: define the coroutine {_FORWARD}")
    if has_coroutine and not forwards:
        raise DefinitionError(f"{cls.__qualname__}.{_FORWARD} is never called: name its commands in forwards")
    return set(forwards)


def _is_defined(cls: type, method: str) -> bool:
    return getattr(cls, method) is not getattr(Requests, method)


def _parameter(command: str) -> type | None:
    arguments = COMMANDS[command].arguments
    return arguments if arguments.__struct_fields__ else None


def _serial_names(cls: type, serial: Collection[str] | bool, methods: Collection[str]) -> Collection[str]:
    # Configuration happens while launch or attach is waiting for it.
    if serial is True:
        return set(methods) - {*_STARTS, "disconnect"}
    if serial is False:
        return ()
    for name in serial:
        if name not in methods or name in (*_STARTS, "disconnect"):
            raise DefinitionError(f"{cls.__qualname__}.serial names {name}, which is not a handler that can be serial")
    return set(serial)


# Launch and attach


def _starts(cls: type, base: type, answered: Collection[str]) -> Mapping[str, type[msgspec.Struct] | None]:
    starts: dict[str, type[msgspec.Struct] | None] = {}
    for command, kind in zip(_STARTS, _type_arguments(cls, base), strict=True):
        nothing = f"No{command.capitalize()}"
        if kind is Never:
            if command in answered:
                raise DefinitionError(
                    f"{cls.__qualname__} defines {command}: give Adapter[...] its type, not {nothing}"
                )
            starts[command] = None
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if command not in answered:
                raise DefinitionError(
                    f"{cls.__qualname__} does not define {command}: do, or give Adapter[...] {nothing}"
                )
            starts[command] = kind
        else:
            raise DefinitionError(
                f"{cls.__qualname__}: the arguments of {command} cannot be read into {kind!r}: "
                f"give Adapter[...] a subclass of {command.capitalize()}RequestArguments, or {nothing}"
            )
    return MappingProxyType(starts)


def _type_arguments(cls: type, base: type) -> tuple[Any, ...]:
    """Return the type arguments of `Adapter[Launch, Attach]`, from whichever base class names them."""
    for original in get_original_bases(cls):
        origin = typing.get_origin(original) or original
        if origin is base:
            return typing.get_args(original) or (None, None)
        if isinstance(origin, type) and issubclass(origin, base):
            inherited = _type_arguments(origin, base)
            arguments: dict[Any, Any] = dict(zip(origin.__type_params__, typing.get_args(original), strict=False))
            return tuple(arguments.get(kind, kind) if isinstance(kind, TypeVar) else kind for kind in inherited)
    raise DefinitionError(f"{cls.__qualname__} does not derive from Adapter[Launch, Attach]")
