"""Capabilities of an adapter: derived from its handlers, completed by its announcements.

A flag that gates commands is true when their handlers are defined; it is never written by hand. Capabilities that no
handler implies (conditions on breakpoints, exception filters, ...) the class announces; an announced capability needs
the handler that implements it. A condition of an exception filter comes as an option of it, so one implies the other.
Everything that does not fit is a `DefinitionError`.
"""

from collections.abc import Collection, Mapping
from functools import cache
from types import MappingProxyType

import msgspec

from dapkit.adapter.errors import DefinitionError
from dapkit.adapter.requests import HANDLERS
from dapkit.protocol import COMMANDS, Capabilities, Direction

OWN_COMMANDS = frozenset({"initialize", "cancel"})
"""Commands that the SDK answers by itself."""

_BREAKPOINTS = ("setBreakpoints", "setDataBreakpoints", "setInstructionBreakpoints", "setExceptionBreakpoints")

NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "supports_conditional_breakpoints": ("setBreakpoints",),
        "supports_hit_conditional_breakpoints": ("setBreakpoints",),
        "supports_log_points": ("setBreakpoints",),
        "breakpoint_modes": _BREAKPOINTS,
        "exception_breakpoint_filters": ("setExceptionBreakpoints",),
        "supports_exception_filter_options": ("setExceptionBreakpoints",),
        "supports_exception_options": ("setExceptionBreakpoints",),
        "supports_data_breakpoint_bytes": ("dataBreakpointInfo",),
        "supports_evaluate_for_hovers": ("evaluate",),
        "supports_clipboard_context": ("evaluate",),
        "supports_delayed_stack_trace_loading": ("stackTrace",),
        "supports_stepping_granularity": ("next", "stepIn", "stepOut", "stepBack"),
        "supports_single_thread_execution_requests": ("continue", "next", "stepIn", "stepOut", "stepBack"),
        "support_terminate_debuggee": ("disconnect",),
        "support_suspend_debuggee": ("disconnect",),
        "completion_trigger_characters": ("completions",),
        "additional_module_columns": ("modules",),
    }
)
"""Announced capabilities, and the commands without any of which they mean nothing."""


def derived_capabilities(commands: Collection[str], announced: Capabilities, owner: str) -> Capabilities:
    """Combine the capabilities that the handled commands imply with the announced ones.

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


@cache
def _gated_commands() -> Mapping[str, list[str]]:
    """Find the flags that follow from handlers, with the commands that each promises."""
    gated: dict[str, list[str]] = {}
    for spec in COMMANDS.values():
        if spec.direction is Direction.CLIENT_TO_ADAPTER and spec.capability not in (None, *NEEDED):
            gated.setdefault(str(spec.capability), []).append(spec.command)
    return gated


def check_promised(commands: Collection[str], promised: Capabilities, owner: str) -> None:
    """Check that each promised capability has its handlers.

    Raises:
        DefinitionError: one is missing.

    """
    for flag, gated in _gated_commands().items():
        if getattr(promised, flag) and (missing := [command for command in gated if command not in commands]):
            raise DefinitionError(
                f"{owner} cannot promise {flag} without a handler of {' and '.join(missing)}: "
                f"define {' and '.join(HANDLERS[command] for command in missing)}"
            )
    _check_needed(commands, promised, f"{owner} cannot promise")


def _check_needed(commands: Collection[str], promised: Capabilities, sentence: str) -> None:
    for flag, needed_commands in NEEDED.items():
        if getattr(promised, flag) and not any(command in commands for command in needed_commands):
            raise DefinitionError(
                f"{sentence} {flag}, which needs a handler of {' or '.join(needed_commands)}: "
                f"define {' or '.join(HANDLERS[command] for command in needed_commands)}"
            )


def _check_announced(commands: Collection[str], announced: Capabilities, owner: str) -> None:
    _check_needed(commands, announced, f"{owner}.announces has")
    if "setExceptionBreakpoints" in commands and not announced.exception_breakpoint_filters:
        raise DefinitionError(
            f"{owner} defines set_exception_breakpoints, but clients ask for it only if there are filters: "
            "set exception_breakpoint_filters in announces"
        )


def _others(promised: list[str], missing: list[str]) -> str:
    return " and ".join(command for command in promised if command not in missing)
