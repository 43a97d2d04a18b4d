"""Which capability stands before a single field of a request.

The endpoint checks whole requests; here are the fields that an adapter without
the capability would silently ignore, so that a condition would never be tested
or a step would be of another size than was asked for.
"""

from collections.abc import Mapping

from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import (
    Capabilities,
    ContinueArguments,
    DataBreakpointInfoArguments,
    DisconnectArguments,
    EvaluateArguments,
    ExceptionFilterOptions,
    FunctionBreakpoint,
    InstructionBreakpoint,
    NextArguments,
    ProtocolObject,
    ReverseContinueArguments,
    SetExceptionBreakpointsArguments,
    SourceBreakpoint,
    StackTraceArguments,
    StepBackArguments,
    StepInArguments,
    StepOutArguments,
    VariablesArguments,
)

_CONDITIONS = {
    "condition": "supports_conditional_breakpoints",
    "hit_condition": "supports_hit_conditional_breakpoints",
}
_MODE = {"mode": "breakpoint_modes"}
_FORMAT = {"format": "supports_value_formatting_options"}
_SINGLE = {"single_thread": "supports_single_thread_execution_requests"}
_STEP = {**_SINGLE, "granularity": "supports_stepping_granularity"}

FIELD_GATES: Mapping[type[ProtocolObject], Mapping[str, str]] = {
    SourceBreakpoint: {**_CONDITIONS, **_MODE, "log_message": "supports_log_points"},
    FunctionBreakpoint: _CONDITIONS,
    InstructionBreakpoint: {**_CONDITIONS, **_MODE},
    ExceptionFilterOptions: _MODE,
    SetExceptionBreakpointsArguments: {
        "filter_options": "supports_exception_filter_options",
        "exception_options": "supports_exception_options",
    },
    DataBreakpointInfoArguments: {
        "bytes": "supports_data_breakpoint_bytes",
        "as_address": "supports_data_breakpoint_bytes",
    },
    StackTraceArguments: _FORMAT,
    VariablesArguments: _FORMAT,
    EvaluateArguments: _FORMAT,
    ContinueArguments: _SINGLE,
    ReverseContinueArguments: _SINGLE,
    NextArguments: _STEP,
    StepOutArguments: _STEP,
    StepBackArguments: _STEP,
    StepInArguments: {**_STEP, "target_id": "supports_step_in_targets_request"},
    DisconnectArguments: {
        "terminate_debuggee": "support_terminate_debuggee",
        "suspend_debuggee": "support_suspend_debuggee",
    },
}
"""Type -> field -> attribute of `Capabilities` without which the field has no effect."""

_CONTEXTS = {"hover": "supports_evaluate_for_hovers", "clipboard": "supports_clipboard_context"}


def check_fields(arguments: ProtocolObject, capabilities: Capabilities) -> None:
    """Refuse a request with a field that the adapter would ignore.

    Raises:
        CapabilityMissing: naming field and capability.

    """
    command = getattr(arguments, "command", type(arguments).__name__)
    _check(arguments, capabilities, command)
    if isinstance(arguments, EvaluateArguments) and arguments.context in _CONTEXTS:
        _require(capabilities, _CONTEXTS[arguments.context], f"evaluate with context {arguments.context}")


def _check(value: ProtocolObject, capabilities: Capabilities, where: str) -> None:
    gates = FIELD_GATES.get(type(value), {})
    for name in value.__struct_fields__:
        field_value: object = getattr(value, name)
        if name in gates and _has_effect(name, field_value):
            _require(capabilities, gates[name], f"{where} with {_wire(type(value), name)}")
        match field_value:
            case ProtocolObject():
                _check(field_value, capabilities, where)
            case list():
                for item in field_value:
                    if isinstance(item, ProtocolObject):
                        _check(item, capabilities, where)


def _has_effect(name: str, field_value: object) -> bool:
    if field_value is False:
        return name == "terminate_debuggee"  # without the capability the adapter may ignore the field
    return field_value is not None and field_value != []


def _require(capabilities: Capabilities, capability: str, what: str) -> None:
    if not getattr(capabilities, capability):
        raise CapabilityMissing(what, _wire(Capabilities, capability), "adapter")


def _wire(kind: type[ProtocolObject], name: str) -> str:
    return kind.__struct_encode_fields__[kind.__struct_fields__.index(name)]
