"""Which module each definition goes to.

Every command and every named data type stands here once; a definition that
does not is an error, so that a new one gets its place by decision.
Events have a module of their own. A topic may use those before it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """One generated module: its name, what it is about, what it holds."""

    module: str
    about: str
    commands: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


TOPICS = (
    Topic(
        "sources",
        "Source files and modules: where code comes from",
        commands=("source", "loadedSources", "modules", "locations"),
        types=("ChecksumAlgorithm", "Checksum", "Source", "Module"),
    ),
    Topic(
        "breakpoints",
        "Breakpoints of all kinds but exceptions",
        commands=(
            "breakpointLocations",
            "setBreakpoints",
            "setFunctionBreakpoints",
            "dataBreakpointInfo",
            "setDataBreakpoints",
            "setInstructionBreakpoints",
        ),
        types=(
            "BreakpointLocation",
            "SourceBreakpoint",
            "FunctionBreakpoint",
            "DataBreakpointAccessType",
            "DataBreakpoint",
            "InstructionBreakpoint",
            "Breakpoint",
        ),
    ),
    Topic(
        "exceptions",
        "Exceptions: which ones stop the program, and what one was about",
        commands=("setExceptionBreakpoints", "exceptionInfo"),
        types=(
            "ExceptionBreakMode",
            "ExceptionBreakpointsFilter",
            "ExceptionFilterOptions",
            "ExceptionPathSegment",
            "ExceptionOptions",
            "ExceptionDetails",
        ),
    ),
    Topic(
        "capabilities",
        "Capabilities: what an adapter can do",
        types=("BreakpointModeApplicability", "BreakpointMode", "ColumnDescriptor", "Capabilities"),
    ),
    Topic(
        "lifecycle",
        "The life of a session, from initialize to disconnect",
        commands=(
            "initialize",
            "configurationDone",
            "launch",
            "attach",
            "restart",
            "disconnect",
            "terminate",
            "cancel",
        ),
        types=("Message",),
    ),
    Topic(
        "execution",
        "Running, stepping and stopping threads",
        commands=(
            "continue",
            "next",
            "stepIn",
            "stepOut",
            "stepBack",
            "reverseContinue",
            "restartFrame",
            "goto",
            "pause",
            "terminateThreads",
            "stepInTargets",
            "gotoTargets",
        ),
        types=("SteppingGranularity", "StepInTarget", "GotoTarget"),
    ),
    Topic(
        "inspection",
        "The state of a stopped program: threads, frames, scopes, variables",
        commands=("threads", "stackTrace", "scopes", "variables", "setVariable"),
        types=(
            "ValueFormat",
            "StackFrameFormat",
            "Thread",
            "StackFrame",
            "Scope",
            "VariablePresentationHint",
            "Variable",
        ),
    ),
    Topic(
        "evaluation",
        "Expressions: evaluating, assigning, completing",
        commands=("evaluate", "setExpression", "completions"),
        types=("CompletionItemType", "CompletionItem"),
    ),
    Topic(
        "memory",
        "Memory and machine code",
        commands=("readMemory", "writeMemory", "disassemble"),
        types=("DisassembledInstruction",),
    ),
    Topic(
        "reverse",
        "Requests of the adapter to the client",
        commands=("runInTerminal", "startDebugging"),
    ),
)

# Enumerations that only events use.
EVENT_TYPES = ("InvalidatedAreas",)
