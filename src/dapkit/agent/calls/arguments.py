"""Conversion of a caller's arguments into the parameters of an action.

This module decides which JSON value fits which kind of parameter, and the error for a value that does not fit. A number
may be written as a string. A null is an absent parameter. Conditions between parameters are left to the actions.
"""

import difflib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.registry import Action, Parameter, ParameterKind

type ActionArguments = dict[str, object]


def read(action: Action, arguments: Mapping[str, object], *, folder: Path) -> ActionArguments:
    """Check the arguments of an action and convert them; paths are taken relative to `folder`.

    Raises:
        InvalidArguments: with the name of the parameter, the value found and the kind expected.

    """
    present = {name: value for name, value in arguments.items() if value is not None}
    for name in present:
        if name not in action.parameters:
            raise _unknown(action, name)
    for name, parameter in action.parameters.items():
        if parameter.required and name not in present:
            raise InvalidArguments(f"{name} is required for {action.name}")
    return {name: _converted(action.parameters[name], value, folder) for name, value in present.items()}


def _unknown(action: Action, name: str) -> InvalidArguments:
    near = difflib.get_close_matches(name, action.parameters, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(action.parameters)}."
    return InvalidArguments(f"{action.name} has no parameter {name!r}", hint=hint)


def _converted(parameter: Parameter, value: object, folder: Path) -> object:
    fits, expected = _KINDS[parameter.kind]
    value = _meant(parameter.kind, value)
    if not fits(value):
        raise InvalidArguments(f"{parameter.name} must be {expected}, not {_shown(value)}")
    if not _is_unicode(value):
        raise InvalidArguments(
            f"{parameter.name} has bytes that are not UTF-8, which the protocol cannot carry: {_shown(value)}",
            hint="Rename the file, or give a link to it that has another name.",
        )
    if parameter.choices and value not in parameter.choices:
        raise InvalidArguments(f"{parameter.name} must be one of {', '.join(parameter.choices)}, not {_shown(value)}")
    if parameter.kind is ParameterKind.PATH:
        return Path(os.path.normpath(folder / str(value)))
    return value


def _meant(kind: ParameterKind, value: object) -> object:
    """Return the value that a caller means who writes it in another type, if there is no doubt about it."""
    if isinstance(value, float) and value.is_integer() and kind in (ParameterKind.INTEGER, ParameterKind.PLACE):
        return int(value)  # JavaScript knows no other numbers
    if kind is ParameterKind.INTEGERS and _is_whole(value):
        return [value]
    if not isinstance(value, str) or kind not in _FROM_TEXT:
        return value
    pattern, convert = _FROM_TEXT[kind]
    return convert(value) if pattern.fullmatch(value) else value


_FROM_TEXT: Mapping[ParameterKind, tuple[re.Pattern[str], Callable[[str], object]]] = {
    ParameterKind.INTEGER: (re.compile(r"-?[0-9]{1,18}"), int),
    ParameterKind.NUMBER: (re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?"), float),
    ParameterKind.BOOLEAN: (re.compile("true|false"), lambda text: text == "true"),
    ParameterKind.BREAKPOINTS: (re.compile(".*", re.DOTALL), lambda text: [text]),
}
"""How a value of another type may be written as a string."""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_unicode(value: object) -> bool:
    """Whether a text, or each text of a list, can be encoded: Python has lone surrogates for bytes of file names."""
    texts = value if isinstance(value, list | tuple) else [value]
    return not any(isinstance(text, str) and _SURROGATE.search(text) for text in texts)


_SURROGATE = re.compile("[\ud800-\udfff]")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list | tuple) and all(fits(member) for member in value)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_variables(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(text, str | None) for key, text in value.items()
    )


_KINDS: Mapping[ParameterKind, tuple[Callable[[object], bool], str]] = {
    ParameterKind.STRING: (_is_text, "a string"),
    ParameterKind.PATH: (lambda value: isinstance(value, str) and bool(value) and "\0" not in value, "a path"),
    ParameterKind.INTEGER: (_is_whole, "a whole number"),
    ParameterKind.PLACE: (lambda value: _is_whole(value) or _is_text(value), "a whole number or a string"),
    ParameterKind.NUMBER: (_is_number, "a number"),
    ParameterKind.BOOLEAN: (lambda value: isinstance(value, bool), "true or false"),
    ParameterKind.STRINGS: (_is_list_of(_is_text), "a list of strings"),
    ParameterKind.INTEGERS: (_is_list_of(_is_whole), "a list of whole numbers"),
    ParameterKind.VARIABLES: (_is_variables, "an object of strings"),
    ParameterKind.OBJECT: (_is_object, "an object"),
    ParameterKind.BREAKPOINTS: (
        _is_list_of(lambda value: isinstance(value, str) or _is_object(value)),
        "a list of strings and objects",
    ),
}
