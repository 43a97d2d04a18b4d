"""Capabilities of an adapter: derived from its handlers, completed by what it announces.

A flag that gates commands is true when their handlers are defined, and nobody
writes it. What no handler can tell (conditions on breakpoints, exception
filters, ...) the class announces; what it announces needs the handler that
makes it true. A condition of an exception filter comes as an option of it, so one
implies the other. Everything that does not fit is a `DefinitionError`.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType

import msgspec

from dapkit.adapter.errors import DefinitionError
from dapkit.adapter.requests import HANDLERS
from dapkit.protocol import COMMANDS, Capabilities, Direction

OWN_COMMANDS = frozenset({"initialize", "cancel"})
"""Commands that the SDK answers by itself."""

NEEDED: Mapping[str, str] = MappingProxyType(
    {
        "supports_conditional_breakpoints": "setBreakpoints",
        "supports_hit_conditional_breakpoints": "setBreakpoints",
        "supports_log_points": "setBreakpoints",
        "exception_breakpoint_filters": "setExceptionBreakpoints",
        "supports_exception_filter_options": "setExceptionBreakpoints",
        "supports_exception_options": "setExceptionBreakpoints",
        "supports_data_breakpoint_bytes": "dataBreakpointInfo",
        "supports_evaluate_for_hovers": "evaluate",
        "supports_clipboard_context": "evaluate",
        "supports_delayed_stack_trace_loading": "stackTrace",
        "completion_trigger_characters": "completions",
        "additional_module_columns": "modules",
    }
)
"""Announced capabilities, and the command without which they mean nothing."""


def derived_capabilities(commands: Collection[str], announced: Capabilities, owner: str) -> Capabilities:
    """Combine what the handled commands imply with what the class announces.

    Raises:
        DefinitionError: they contradict each other.

    """
    gated = _gated_commands()
    flags: dict[str, object] = {}
    for flag, promised in gated.items():
        if getattr(announced, flag) is not None:
            raise DefinitionError(
                f"{owner}.announces sets {flag}, which follows from the handlers of {' and '.join(promised)}: "
                "define or remove those, and leave the flag out"
            )
        if missing := [command for command in promised if command not in commands]:
            if len(missing) < len(promised):
                raise DefinitionError(
                    f"{owner} handles {_others(promised, missing)} but not {' and '.join(missing)}, "
                    f"and clients that see {flag} will ask for both: "
                    f"define {' and '.join(HANDLERS[command] for command in missing)} too"
                )
        else:
            flags[flag] = True
    _check_announced(commands, announced, owner)
    if any(exception_filter.supports_condition for exception_filter in announced.exception_breakpoint_filters or ()):
        flags["supports_exception_filter_options"] = True  # conditions come as options of filters
    return msgspec.structs.replace(announced, **flags)


def _gated_commands() -> Mapping[str, list[str]]:
    """Find the flags that follow from handlers, with the commands that each promises."""
    gated: dict[str, list[str]] = {}
    for spec in COMMANDS.values():
        if spec.direction is Direction.CLIENT_TO_ADAPTER and spec.capability not in (None, *NEEDED):
            gated.setdefault(str(spec.capability), []).append(spec.command)
    return gated


def _check_announced(commands: Collection[str], announced: Capabilities, owner: str) -> None:
    for flag, command in NEEDED.items():
        if getattr(announced, flag) and command not in commands:
            raise DefinitionError(
                f"{owner}.announces has {flag}, which needs a handler of {command}: define {HANDLERS[command]}"
            )
    if "setExceptionBreakpoints" in commands and not announced.exception_breakpoint_filters:
        raise DefinitionError(
            f"{owner} defines set_exception_breakpoints, but clients ask for it only if there are filters: "
            "set exception_breakpoint_filters in announces"
        )


def _others(promised: list[str], missing: list[str]) -> str:
    return " and ".join(command for command in promised if command not in missing)
