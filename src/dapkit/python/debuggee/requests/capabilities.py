"""The capabilities of the request handlers for a client, by command.

Data only, and cheap to import: the engine announces it to the adapter, and the adapter, which has to answer its client
before there is a program, announces it from here as well. Nothing of it is written anywhere else.
"""

from typing import Final

from ..connection.framing import Json
from ..exceptions.filters import FILTERS
from ..sources.source_contents import ALGORITHMS

FLAGS: Final[dict[str, str]] = {
    "breakpointLocations": "supportsBreakpointLocationsRequest",
    "cancel": "supportsCancelRequest",
    "completions": "supportsCompletionsRequest",
    "configurationDone": "supportsConfigurationDoneRequest",
    "disassemble": "supportsDisassembleRequest",
    "exceptionInfo": "supportsExceptionInfoRequest",
    "gotoTargets": "supportsGotoTargetsRequest",
    "loadedSources": "supportsLoadedSourcesRequest",
    "modules": "supportsModulesRequest",
    "readMemory": "supportsReadMemoryRequest",
    "restartFrame": "supportsRestartFrame",
    "setDataBreakpoints": "supportsDataBreakpoints",
    "setExpression": "supportsSetExpression",
    "setFunctionBreakpoints": "supportsFunctionBreakpoints",
    "setInstructionBreakpoints": "supportsInstructionBreakpoints",
    "setVariable": "supportsSetVariable",
    "stepInTargets": "supportsStepInTargetsRequest",
    "terminate": "supportsTerminateRequest",
    "terminateThreads": "supportsTerminateThreadsRequest",
    "writeMemory": "supportsWriteMemoryRequest",
}
"""The flag that says that there is a handler; an adapter derives these from its own handlers."""

DETAILS: Final[dict[str, Json]] = {
    "completions": {"completionTriggerCharacters": [".", "[", "'", '"']},
    "continue": {"supportsSingleThreadExecutionRequests": True},
    "dataBreakpointInfo": {"supportsDataBreakpointBytes": True},
    "disconnect": {"supportTerminateDebuggee": True, "supportSuspendDebuggee": True},
    "evaluate": {"supportsEvaluateForHovers": True, "supportsClipboardContext": True},
    "modules": {
        "additionalModuleColumns": [
            {"attributeName": "package", "label": "Package", "type": "string"},
            {"attributeName": "loader", "label": "Loader", "type": "string"},
        ]
    },
    "next": {"supportsSteppingGranularity": True},
    "setBreakpoints": {
        "supportsConditionalBreakpoints": True,
        "supportsHitConditionalBreakpoints": True,
        "supportsLogPoints": True,
    },
    "setExceptionBreakpoints": {
        "exceptionBreakpointFilters": FILTERS,
        "supportsExceptionFilterOptions": True,
        "supportsExceptionOptions": True,
    },
    "source": {"supportedChecksumAlgorithms": ALGORITHMS},
    "stackTrace": {"supportsDelayedStackTraceLoading": True},
    "variables": {"supportsValueFormattingOptions": True},
}
"""Further capabilities of a handler."""

ONLY_WHEN_DEBUGGING: Final = (
    "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints",
    "supportsLogPoints",
    "supportsEvaluateForHovers",
    "supportsExceptionInfoRequest",
    "supportsGotoTargetsRequest",
    "supportsRestartFrame",
    "supportsSetVariable",
    "supportsSingleThreadExecutionRequests",
    "supportsStepInTargetsRequest",
    "supportsSteppingGranularity",
)
"""Capabilities that need a stop, and are therefore withdrawn if the program runs without debugging."""


def details() -> Json:
    """Return the capabilities of handlers beyond their existence."""
    return {name: value for capabilities in DETAILS.values() for name, value in capabilities.items()}


def capabilities() -> Json:
    """Return all of it, as the body of `initialize`."""
    return dict.fromkeys(FLAGS.values(), True) | details()
