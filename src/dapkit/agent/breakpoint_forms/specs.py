"""Breakpoints as callers write them."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dapkit.agent.breakpoint_forms.short_form import UnreadableBreakpoint, breakpoint_of
from dapkit.agent.calls.arguments import read
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.agent.calls.registry import ACTIONS
from dapkit.catalog import Traits
from dapkit.client import BreakpointSpec, FunctionLocation, SourceLocation


def location_of(
    action: str,
    *,
    file: Path | None = None,
    line: int | None = None,
    column: int | None = None,
    text: str | None = None,
    function: str | None = None,
) -> SourceLocation | FunctionLocation:
    """Return where a breakpoint is to be.

    Raises:
        InvalidArguments: it is not said, or said twice.

    """
    if function is not None:
        if file is not None or line is not None or text is not None:
            raise InvalidArguments(f"{action}: function excludes file, line and text")
        return FunctionLocation(function)
    if file is None or (line is None and text is None):
        raise InvalidArguments(
            f"{action} requires file+line or function", hint="Instead of line there may be text, a part of the line."
        )
    return source_location(file, line, text, action=action, column=column)


def source_location(
    file: Path, line: int | None, text: str | None, *, action: str, column: int | None = None
) -> SourceLocation:
    """Return which line of a file is meant. Raises: InvalidArguments."""
    if line is not None and line < 1:
        raise InvalidArguments(f"line must be 1 or more, not {line}")
    if text is not None:
        return SourceLocation(file, line, text=text)
    if line is None:
        raise InvalidArguments(f"{action} requires line or text")
    return SourceLocation(file, line, column)


def specs_of(items: Iterable[object], *, folders: Sequence[Path]) -> list[BreakpointSpec]:
    """Read the breakpoints that come with a launch; files are looked for in the folders, and else in the first.

    Raises:
        InvalidArguments: one of them cannot be read.

    """
    specs = []
    for item in items:
        given_item = _from_text(item, folders) if isinstance(item, str) else item
        new_specs = [_spec_of(given_item, folder) for folder in folders]
        specs.append(next((spec for spec in new_specs if _file_exists(spec)), new_specs[0]))
    return specs


def _file_exists(spec: BreakpointSpec) -> bool:
    return not isinstance(spec.location, SourceLocation) or spec.location.file.exists()


def _spec_of(item: object, folder: Path) -> BreakpointSpec:
    if not isinstance(item, Mapping):
        raise InvalidArguments(f"breakpoints: expected a string or an object, not {item!r}")
    try:
        arguments = read(ACTIONS["set_breakpoint"], item, folder=folder)
    except InvalidArguments as wrong:
        raise InvalidArguments(f"breakpoints: {wrong.message}", hint=wrong.hint) from None
    where = {name: arguments.get(name) for name in ("file", "line", "column", "text", "function")}
    return BreakpointSpec(
        location_of("a breakpoint", **where),  # type: ignore[arg-type]  # `read` has checked them
        condition=_text(arguments.get("condition")),
        hit_condition=_text(arguments.get("hit_condition")),
        log_message=_text(arguments.get("log_message")),
    )


def item_at(
    location: str, folders: Sequence[Path], *, condition: str | None = None, hit_condition: str | None = None
) -> dict[str, object]:
    """Read a breakpoint in its short form, as an object, with a condition that stands by itself.

    Raises: InvalidArguments.
    """
    item = {**_from_text(location, folders, name="location"), "hit_condition": hit_condition}
    if condition is None:
        return item
    if "condition" in item:
        raise InvalidArguments("condition was given twice: after `if` in location, and by itself")
    return {**item, "condition": condition}


def _from_text(text: str, folders: Sequence[Path], *, name: str = "breakpoints") -> Mapping[str, object]:
    """Read the short form. Raises: InvalidArguments."""
    try:
        return breakpoint_of(text, folders)
    except UnreadableBreakpoint as wrong:
        raise InvalidArguments(f"{name}: {wrong}", hint=wrong.hint) from None


def check_condition(condition: str | None, traits: Traits) -> None:
    """Refuse a condition that cannot be read in the program's language: adapters would not stop, and not say so.

    Raises:
        InvalidArguments: Python cannot read it as an expression, where the adapter takes those.

    """
    if condition is None or not traits.python_expressions:
        return
    try:
        ast.parse(condition.strip(), "<condition>", "eval")
    except (SyntaxError, ValueError) as wrong:
        why = wrong.msg if isinstance(wrong, SyntaxError) else str(wrong)
        hint = "Values are compared with ==, and = assigns." if _assigns(condition) else "It has to be an expression."
        raise InvalidArguments(f"condition {condition!r} cannot be read: {why}", hint=hint) from None


def _assigns(condition: str) -> bool:
    try:
        return isinstance(ast.parse(condition.strip()).body[0], ast.Assign)
    except (SyntaxError, ValueError, IndexError):
        return False


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
