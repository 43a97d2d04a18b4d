"""Fields that an adapter would ignore are refused with the name of what it lacks."""

import pytest

from dapkit.client.field_capabilities import check_fields
from dapkit.endpoint import CapabilityMissing
from dapkit.protocol import (
    Arguments,
    BreakpointMode,
    Capabilities,
    ContinueArguments,
    DataBreakpointInfoArguments,
    DisconnectArguments,
    EvaluateArguments,
    NextArguments,
    SetBreakpointsArguments,
    Source,
    SourceBreakpoint,
    StackFrameFormat,
    StackTraceArguments,
    StepInArguments,
)


@pytest.mark.parametrize(
    ("arguments", "what", "capability"),
    [
        (NextArguments(thread_id=1, granularity="line"), "next with granularity", "supportsSteppingGranularity"),
        (
            ContinueArguments(thread_id=1, single_thread=True),
            "continue with singleThread",
            "supportsSingleThreadExecutionRequests",
        ),
        (StepInArguments(thread_id=1, target_id=2), "stepIn with targetId", "supportsStepInTargetsRequest"),
        (
            StackTraceArguments(thread_id=1, format=StackFrameFormat(line=True)),
            "stackTrace with format",
            "supportsValueFormattingOptions",
        ),
        (
            EvaluateArguments(expression="x", context="hover"),
            "evaluate with context hover",
            "supportsEvaluateForHovers",
        ),
        (EvaluateArguments(expression="x", context="clipboard"), "evaluate with", "supportsClipboardContext"),
        (
            DisconnectArguments(terminate_debuggee=False),
            "disconnect with terminateDebuggee",
            "supportTerminateDebuggee",
        ),
        (
            DataBreakpointInfoArguments(name="x", bytes=4),
            "dataBreakpointInfo with bytes",
            "supportsDataBreakpointBytes",
        ),
        (
            SetBreakpointsArguments(source=Source(path="/p"), breakpoints=[SourceBreakpoint(line=1, log_message="x")]),
            "setBreakpoints with logMessage",
            "supportsLogPoints",
        ),
    ],
)
def test_field_needs_its_capability(arguments: Arguments[object], what: str, capability: str) -> None:
    with pytest.raises(CapabilityMissing, match=what) as caught:
        check_fields(arguments, Capabilities())
    assert caught.value.capability == capability


@pytest.mark.parametrize(
    "arguments",
    [
        NextArguments(thread_id=1),
        ContinueArguments(thread_id=1, single_thread=False),
        EvaluateArguments(expression="x", context="watch"),
        DisconnectArguments(),
    ],
)
def test_field_without_effect_needs_nothing(arguments: Arguments[object]) -> None:
    check_fields(arguments, Capabilities())


def test_announced_capability_lets_the_field_pass() -> None:
    modes = [BreakpointMode(mode="hardware", label="Hardware", applies_to=["source"])]
    wanted = SourceBreakpoint(line=1, condition="x", mode="hardware")
    check_fields(wanted, Capabilities(supports_conditional_breakpoints=True, breakpoint_modes=modes))
