"""The tables of commands, events and gates, and names on the wire."""

import pytest

from dapkit.protocol import (
    COMMANDS,
    EVENT_GATES,
    EVENTS,
    Capabilities,
    Direction,
    InitializeRequestArguments,
    LaunchRequestArguments,
    wire_name,
)

GATES = {
    "breakpointLocations": "supports_breakpoint_locations_request",
    "cancel": "supports_cancel_request",
    "completions": "supports_completions_request",
    "configurationDone": "supports_configuration_done_request",
    "dataBreakpointInfo": "supports_data_breakpoints",
    "disassemble": "supports_disassemble_request",
    "exceptionInfo": "supports_exception_info_request",
    "goto": "supports_goto_targets_request",
    "gotoTargets": "supports_goto_targets_request",
    "loadedSources": "supports_loaded_sources_request",
    "modules": "supports_modules_request",
    "readMemory": "supports_read_memory_request",
    "restart": "supports_restart_request",
    "restartFrame": "supports_restart_frame",
    "reverseContinue": "supports_step_back",
    "runInTerminal": "supports_run_in_terminal_request",
    "setDataBreakpoints": "supports_data_breakpoints",
    "setExceptionBreakpoints": "exception_breakpoint_filters",
    "setExpression": "supports_set_expression",
    "setFunctionBreakpoints": "supports_function_breakpoints",
    "setInstructionBreakpoints": "supports_instruction_breakpoints",
    "setVariable": "supports_set_variable",
    "startDebugging": "supports_start_debugging_request",
    "stepBack": "supports_step_back",
    "stepInTargets": "supports_step_in_targets_request",
    "terminate": "supports_terminate_request",
    "terminateThreads": "supports_terminate_threads_request",
    "writeMemory": "supports_write_memory_request",
}


def test_each_gated_command_has_its_capability() -> None:
    assert {command: spec.capability for command, spec in COMMANDS.items() if spec.capability} == GATES


def test_every_gate_is_a_field_of_whoever_announces_it() -> None:
    for spec in COMMANDS.values():
        if spec.capability is not None:
            holder = Capabilities if spec.direction is Direction.CLIENT_TO_ADAPTER else InitializeRequestArguments
            assert spec.capability in holder.__struct_fields__, spec.command
    assert set(EVENT_GATES.values()) <= set(InitializeRequestArguments.__struct_fields__)


def test_each_gated_event_has_its_flag() -> None:
    assert EVENT_GATES == {
        "progressStart": "supports_progress_reporting",
        "progressUpdate": "supports_progress_reporting",
        "progressEnd": "supports_progress_reporting",
        "invalidated": "supports_invalidated_event",
        "memory": "supports_memory_event",
    }


def test_the_reverse_requests_go_to_the_client() -> None:
    reverse = [command for command, spec in COMMANDS.items() if spec.direction is Direction.ADAPTER_TO_CLIENT]
    assert reverse == ["runInTerminal", "startDebugging"]


def test_eight_commands_may_come_without_arguments() -> None:
    assert {command for command, spec in COMMANDS.items() if spec.arguments_optional} == {
        "cancel",
        "configurationDone",
        "restart",
        "disconnect",
        "terminate",
        "breakpointLocations",
        "threads",
        "loadedSources",
    }


def test_classes_know_their_command_and_event() -> None:
    assert {command: spec.arguments.command for command, spec in COMMANDS.items()} == {name: name for name in COMMANDS}
    assert {event: body.event for event, body in EVENTS.items()} == {name: name for name in EVENTS}


@pytest.mark.parametrize(
    ("kind", "field", "wire"),
    [
        (Capabilities, "supports_step_back", "supportsStepBack"),
        (Capabilities, "supports_ansi_styling", "supportsANSIStyling"),
        (InitializeRequestArguments, "adapter_id", "adapterID"),
        (LaunchRequestArguments, "restart_data", "__restart"),
    ],
)
def test_a_field_is_found_under_its_wire_name(kind: type[Capabilities], field: str, wire: str) -> None:
    assert wire_name(kind, field) == wire
