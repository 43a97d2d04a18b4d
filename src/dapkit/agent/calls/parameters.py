"""The vocabulary of parameters: a name means the same, and has the same type, in every action.

The annotation of a parameter states both: its Python type is the accepted type, and the text beside it is its
description. Faces show these texts, so they are short. A `Path` is taken relative to the folder of the caller.
"""

from pathlib import Path
from typing import Annotated, Literal, TypedDict

# The program to debug

Program = Annotated[str, "Path of the program to launch, relative to cwd."]
Module = Annotated[str, "Python module to launch instead of a program, as python -m does."]
Test = Annotated[str, "Node id of a pytest test to launch, such as tests/test_a.py::test_b."]
Configuration = Annotated[str, "Name of a configuration in .vscode/launch.json to start."]
Inputs = Annotated[dict[str, str], "Answers for ${input:NAME} of the configuration."]
Args = Annotated[list[str], "Arguments of the program."]
Environment = Annotated[dict[str, str | None], "Environment variables to set; null unsets one."]
Folder = Annotated[Path, "Working folder of the program."]
StdinFile = Annotated[Path, "File for the program's standard input."]
AdapterName = Annotated[str, "Debug adapter, instead of the one that fits."]
InTerminal = Annotated[bool, "Run in a terminal, so that stdin can type into it."]
TimeTravel = Annotated[bool, "Record the history, for step_back and why (Python)."]
SourceMap = Annotated[
    dict[str, str],
    "FROM=TO: a folder of sources as the debug information names it, and where it is here.",
]
StopOnEntry = Annotated[bool, "Stop at the start; by default only without breakpoints."]
Options = Annotated[dict[str, object], "Further keys for the adapter's launch or attach request."]
CoreFile = Annotated[Path, "Core file that the program has left."]
Pid = Annotated[int, "Process to attach to."]
Port = Annotated[int, "TCP port to attach to."]
Host = Annotated[str, "Host of the port, by default 127.0.0.1."]
Breakpoints = Annotated[
    list[str | dict[str, object]],
    "Breakpoints: FILE:LINE, FILE:LINE if CONDITION, a function's name, or objects as of set_breakpoint.",
]
Exceptions = Annotated[list[str], "Exception filters of the adapter to stop on, such as uncaught."]

# Where

File = Annotated[Path, "Source file."]
Line = Annotated[int, "Line in the file, from 1."]
Column = Annotated[int, "Column, from 1."]
LineText = Annotated[str, "Text of the line, in place of its number; with line, the nearest one."]
Function = Annotated[str, "Name of a function, instead of file and line."]
ThreadId = Annotated[int, "Id of a thread, as threads shows it; by default the one that stopped."]
ThreadIndex = Annotated[int, "The thread at this place in threads, from 0."]
FrameId = Annotated[int, "Id of a frame, as stack_trace shows it; by default the current one."]
FrameIndex = Annotated[int | str, "Place in the stack (0 is the innermost), number as shown (#21), or function."]

# Breakpoints

Condition = Annotated[str, "Stop only if this expression is true."]
HitCondition = Annotated[str, "Stop only at these hits, such as 5 or >= 5."]
LogMessage = Annotated[str, "Print this instead of stopping, with {expressions} filled in."]
Numbers = Annotated[list[int], "Numbers, as breakpoints shows them."]
Number = Annotated[int, "Number of a breakpoint, as breakpoints shows it."]
BreakpointsTo = Annotated[
    Literal["list", "clear", "enable", "disable"], "The operation on the breakpoints; by default on all of them."
]
Filters = Annotated[
    list[str], "Exception filters to stop on, instead of those before; none given shows the offered ones."
]
Conditions = Annotated[dict[str, str], "Conditions, by filter."]
InstructionReference = Annotated[str, "Address of an instruction, as disassemble shows it."]
DataId = Annotated[str, "Id of data, as data_breakpoint_info shows it."]
AccessType = Annotated[Literal["read", "write", "readWrite"], "Which access stops."]

# Running

Granularity = Annotated[Literal["statement", "line", "instruction"], "How far one step goes."]
Into = Annotated[bool, "Step back into the call that the previous line made."]
Follow = Annotated[bool, "Also where the value came from."]
Clock = Annotated[int, "Moment of the history, as why shows it."]
StepTarget = Annotated[str, "Name of the call to step into, where a line has several."]
Input = Annotated[str, "The text to type; a line needs its line end."]
EndOfInput = Annotated[bool, "End the program's input after that."]

# Values

Expression = Annotated[str, "Expression; a command of the debugger begins with a backtick."]
Expressions = Annotated[list[str], "Expressions to evaluate in the program, which they can change."]
OtherRun = Annotated[dict[str, object], "Parameters of the second run that differ."]
Stops = Annotated[int, "Stops to show, by default 20; then it runs to its end."]
OutputLines = Annotated[int, "Last lines of output to show, by default 10; 0 for all."]
Python = Annotated[str, "The interpreter of a Python program."]
Nth = Annotated[int, "Which call, by default the first."]
Depth = Annotated[int, "How many levels of calls below to follow, by default 0."]
Steps = Annotated[int, "Lines to follow, by default 500."]
FirstStop = Annotated[int, "Number of a stop; by default the one before the second."]
SecondStop = Annotated[int, "Number of a later stop; by default the last one."]
Location = Annotated[str, "FILE:LINE or the name of a function, perhaps with `if CONDITION` after it."]
Hits = Annotated[int, "How many hits to show, by default 20."]
Every = Annotated[int, "Show only each hit of so many, by default every one."]
Tag = Annotated[str, "A name for these hits, such as H1; without a location, show the hits that have it."]
Width = Annotated[int, "Characters of a value to show, by default 1000."]
Clear = Annotated[bool, "Forget the ones before."]
Context = Annotated[str, "The purpose of the expression: repl, watch, hover, variables or clipboard."]
Value = Annotated[str, "New value, as an expression."]
VariableName = Annotated[str, "Name of a variable or an expression."]
VariableRef = Annotated[int, "Variables reference, as scopes, variables or evaluate show it."]
ScopeId = Annotated[int, "Variables reference of a scope."]
VariableFilter = Annotated[Literal["indexed", "named"], "Only items, or only named members."]
Match = Annotated[str, "Only names that contain this."]
Start = Annotated[int, "Skip this many, to continue a cut answer."]
Count = Annotated[int, "How many bytes, variables, lines or steps."]
Levels = Annotated[int, "How many frames."]
OwnCode = Annotated[bool, "Only frames of the user's own code."]

# Memory and code

MemoryReference = Annotated[str, "Address or memory reference, or an expression for one, such as &total in C."]
Offset = Annotated[int, "Offset in bytes."]
Data = Annotated[str, "Bytes in base64."]
AllowPartial = Annotated[bool, "Write as many bytes as can be written if not all can."]
InstructionCount = Annotated[int, "How many instructions."]
InstructionOffset = Annotated[int, "Offset in instructions, may be negative."]
ResolveSymbols = Annotated[bool, "Show symbols."]
StartModule = Annotated[int, "Skip so many modules."]
ModuleCount = Annotated[int, "How many modules."]
SourceReference = Annotated[int, "Reference of a source without a file, as stack_trace shows it."]

# Jobs of many processes

Job = Annotated[
    str,
    "Process id of the launcher or of members (4711,4712), the job's folder, or ray://, dask:// or k8s:// and a place.",
]
Members = Annotated[str, "Only these, such as 0-31,40 or rank % 8 == 0 or host == 'n3'."]
Rounds = Annotated[int, "How often to look, which tells a straggler from a slow step; by default once."]
Interval = Annotated[float, "Seconds from one round to the next, by default 10."]
Member = Annotated[str, "The member to debug by a session of its own, such as 5."]
WaitFor = Annotated[str, "How many members to wait for: any, all, none, a number, or a part such as 90%."]
AllThreads = Annotated[bool, "Stop all threads of a member, not one; timeouts of the engine are lifted if they can be."]
JobStep = Annotated[Literal["over", "into", "out"], "Make one step, instead of continuing."]
Via = Annotated[str, "Command that reaches another machine of the job, such as 'ssh {host}'."]

# Everything else

Command = Annotated[str, "Name of any request of the adapter."]
RequestArguments = Annotated[dict[str, object], "Arguments of the request."]
Category = Annotated[str, "Only stdout, stderr, console, terminal ..., or program: all that the program wrote."]
Since = Annotated[int, "Only output after this position, which an earlier answer gave."]
Timeout = Annotated[float, "Seconds to wait, by default 30; 5 to 300, except where a whole program is run."]


class ProgramToRun(TypedDict, total=False):
    """The parameters of an action that starts a program and sees to its end; exactly one of the first three is set."""

    program: Program | None
    module: Module | None
    test: Test | None
    args: Args | None
    adapter: AdapterName | None
    cwd: Folder | None
    env: Environment | None
    stdin_file: StdinFile | None
    python: Python | None
    source_map: SourceMap | None
    options: Options | None
