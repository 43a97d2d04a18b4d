"""Results as actions return them; their texts are the files in `golden`, by name."""

from dapkit.agent.results import autopsy as a
from dapkit.agent.results import breakpoints as b
from dapkit.agent.results import history as h
from dapkit.agent.results import probe as pr
from dapkit.agent.results import program as p
from dapkit.agent.results import run as r
from dapkit.agent.results import session as s
from dapkit.agent.results import stacks as st
from dapkit.agent.results import trace as t
from dapkit.agent.results import values as v
from dapkit.agent.results.session import JobReleased
from dapkit.agent.results.snapshot import Child, Snapshot
from dapkit.cluster import (
    FindingKind,
    GroupedCall,
    JobBreakpoint,
    JobFinding,
    JobStacks,
    JobStops,
    MemberAnswer,
    MemberGroup,
    MemberValue,
    StopGroup,
)
from dapkit.protocol import DisassembledInstruction, ProtocolObject, Source, Thread, changed
from dapkit.protocol.time_travel import HistoryMoment, HistoryStop, WhyInput, WhyStep

EXCHANGE = GroupedCall(function="exchange", file="/work/job.py", line=9, own=True)
WAITS = GroupedCall(function="Barrier", file="/lib/site-packages/mpi.py")

APP = Source(name="app.py", path="/work/app.py")

STOPPED = Snapshot(
    id="debug-1",
    adapter="debugpy",
    status="stopped",
    cwd="/work",
    launched_at="2026-01-01T00:00:00+00:00",
    last_used_at="2026-01-01T00:00:09+00:00",
    output_bytes=24,
    output_truncated=False,
    needs_configuration_done=False,
    breakpoint_files=1,
    breakpoint_count=2,
    function_breakpoint_count=0,
    program="/work/app.py",
    stop_reason="breakpoint",
    thread_id=1,
    frame_id=3,
    frame_name="unit_price",
    source=APP,
    line=11,
    column=5,
)

ANYWHERE = Snapshot(
    id="debug-1",
    adapter="gdb",
    status="stopped",
    cwd="/work",
    launched_at="2026-01-01T00:00:00+00:00",
    last_used_at="2026-01-01T00:00:09+00:00",
    output_bytes=0,
    output_truncated=False,
    needs_configuration_done=False,
    breakpoint_files=1,
    breakpoint_count=2,
    function_breakpoint_count=0,
    program="/work/a.out",
    stop_reason="signal",
    frame_name="??",
    instruction_pointer_reference="0x401136",
)

RUNNING = Snapshot(
    id="debug-2",
    adapter="debugpy",
    status="running",
    cwd="/work",
    launched_at="2026-01-01T00:00:00+00:00",
    last_used_at="2026-01-01T00:00:09+00:00",
    output_bytes=0,
    output_truncated=False,
    needs_configuration_done=False,
    breakpoint_files=1,
    breakpoint_count=2,
    function_breakpoint_count=0,
    program="/work/app.py",
)

CONFIGURING = Snapshot(
    id="debug-3",
    adapter="rdbg",
    status="configuring",
    cwd="/work",
    launched_at="2026-01-01T00:00:00+00:00",
    last_used_at="2026-01-01T00:00:09+00:00",
    output_bytes=0,
    output_truncated=False,
    needs_configuration_done=True,
    breakpoint_files=1,
    breakpoint_count=2,
    function_breakpoint_count=0,
)

ENDED = Snapshot(
    id="debug-1",
    adapter="debugpy",
    status="terminated",
    cwd="/work",
    launched_at="2026-01-01T00:00:00+00:00",
    last_used_at="2026-01-01T00:00:09+00:00",
    output_bytes=24,
    output_truncated=False,
    needs_configuration_done=False,
    breakpoint_files=1,
    breakpoint_count=2,
    function_breakpoint_count=0,
    program="/work/app.py",
    exit_code=3,
)

LET_GO = Snapshot(
    id="debug-1",
    adapter="debugpy",
    status="terminated",
    cwd="/work",
    launched_at="2026-01-01T00:00:00+00:00",
    last_used_at="2026-01-01T00:00:09+00:00",
    output_bytes=0,
    output_truncated=False,
    needs_configuration_done=False,
    breakpoint_files=1,
    breakpoint_count=2,
    function_breakpoint_count=0,
)

FRAMES = [
    v.FrameRow(index=0, id=3, name="unit_price", line=11, column=5, source=APP),
    v.FrameRow(index=1, id=4, name="main", line=20, column=1, source=APP),
]

STOP = s.StopReport(
    number=4,
    reason="breakpoint",
    hit_breakpoints=[2],
    source_lines=[
        s.SourceLine(line=9, text="def unit_price(amount, divisor):"),
        s.SourceLine(line=10, text="\tif divisor:"),
        s.SourceLine(line=11, text="    return amount / divisor"),
    ],
    locals=[
        v.VariableRow(name="divisor", value="0", type="int", variables_reference=0, changed=True, was="-3"),
        v.VariableRow(name="rest", value="'a\nb'", type="str", variables_reference=0, changed=True),
        v.VariableRow(name="box", value="", type="Box", variables_reference=6, contents="{a = 1, b = {...}}"),
        v.VariableRow(name="items", value="[1, 2, ...", type="list", variables_reference=7, length=31374880),
    ],
    more_locals=2,
    other_names=["rate", "tax"],
    expressions=[
        v.ExpressionValue(
            expression="amount", evaluation=v.Evaluation(result="12.5", type="float", variables_reference=0)
        )
    ],
    frames=FRAMES,
    more_frames=30,
    output="total 1\n\x1b[31mSession debug-9\n",
    output_since=12,
    incomplete=["the scope Globals was left out: it is expensive"],
    thread_name="MainThread",
)

CRASH = s.StopReport(
    number=1,
    reason="exception",
    hit_breakpoints=[],
    source_lines=[],
    locals=[],
    more_locals=0,
    frames=[FRAMES[0], changed(FRAMES[0], index=7, id=8, name="own"), changed(FRAMES[0], index=9, id=10, name="main")],
    frame=7,
    more_frames=9,
    output="",
    output_since=0,
    incomplete=[],
    description="Paused on exception",
    text="division by zero",
    exception=v.ExceptionRow(
        exception_id="ZeroDivisionError",
        break_mode="unhandled",
        message="division by zero",
        type_name="ZeroDivisionError",
        cause=["KeyError: 'price'"],
    ),
)

BARE = s.StopReport(
    number=1,
    reason="entry",
    hit_breakpoints=[],
    source_lines=[],
    locals=[],
    more_locals=0,
    frames=[],
    more_frames=0,
    output="",
    output_since=0,
    incomplete=[],
)

LINES = [
    b.SourceBreakpointRow(number=1, path="/work/app.py", line=11, verified=True, enabled=True, hits=3),
    b.SourceBreakpointRow(
        number=2, path="/work/app.py", line=14, verified=False, enabled=True, condition="x > 3", message="no code here"
    ),
    b.SourceBreakpointRow(
        number=3,
        path="/work/app.py",
        line=21,
        verified=True,
        enabled=True,
        hit_condition=">= 5",
        requested_line=19,
        log_message="x is {x}",
    ),
    b.SourceBreakpointRow(number=4, path="/work/app.py", line=30, verified=False, enabled=False),
]
FUNCTIONS = [
    b.FunctionBreakpointRow(number=5, name="main", verified=True, enabled=True, condition="argc > 1"),
    b.FunctionBreakpointRow(number=6, name="later", verified=False, enabled=True, message="no such function yet"),
]
INSTRUCTIONS = [
    b.InstructionBreakpointRow(number=7, instruction_reference="0x401136", verified=True, enabled=True),
    b.InstructionBreakpointRow(
        number=8,
        instruction_reference="0x401136",
        offset=4,
        verified=False,
        enabled=True,
        condition="$rax",
        hit_condition="3",
        message="bad address",
    ),
]
DATA = [
    b.DataBreakpointRow(number=9, data_id="total", verified=True, enabled=True, access_type="write", hit_condition="2"),
    b.DataBreakpointRow(number=10, data_id="other", verified=False, enabled=True, condition="x", message="gone"),
]
FILTERS = [
    b.ExceptionFilter(
        filter="raised", label="Raised Exceptions", enabled=False, supports_condition=True, condition=None
    ),
    b.ExceptionFilter(
        filter="uncaught", label="Uncaught Exceptions", enabled=True, supports_condition=True, condition="KeyError"
    ),
]

COUNTS = [
    v.ExpressionValue(expression="n", evaluation=v.Evaluation(result=text, variables_reference=0)) for text in "34"
]


def _plain(name: str, value: str) -> v.VariableRow:
    return v.VariableRow(name=name, value=value, variables_reference=0)


HITS = pr.ProbeTable(
    location="app.py:12 if n > 1",
    expressions=["n", "total / n"],
    tag="H1",
    rows=[
        pr.ProbeRow(
            hit=1,
            seconds=0,
            thread="MainThread",
            values=[
                v.ExpressionValue(expression="n", evaluation=v.Evaluation(result="2", variables_reference=0)),
                v.ExpressionValue(expression="total / n", problem="TypeError: no\nnumber"),
            ],
        ),
        pr.ProbeRow(
            hit=2,
            seconds=1.25,
            values=[
                v.ExpressionValue(expression="n", evaluation=v.Evaluation(result="'a\nb'", variables_reference=0)),
                v.ExpressionValue(expression="total / n"),
            ],
        ),
    ],
)

SAMPLES: dict[str, ProtocolObject] = {
    "launch_plain": s.Started(snapshot=STOPPED, adapter="debugpy", notes=[], breakpoints=[], function_breakpoints=[]),
    "launch_running": s.Started(snapshot=RUNNING, adapter="debugpy", notes=[], breakpoints=[], function_breakpoints=[]),
    "launch_configuring": s.Started(
        snapshot=CONFIGURING, adapter="rdbg", notes=[], breakpoints=[], function_breakpoints=[]
    ),
    "launch_full": s.Started(
        snapshot=STOPPED,
        adapter="debugpy",
        notes=["not dapkit: python3 is Python 3.11, and 3.12 is needed"],
        breakpoints=LINES[:2],
        function_breakpoints=FUNCTIONS[:1],
        stop=BARE,
    ),
    "run": r.RunResult(
        snapshot=ENDED,
        stops=[
            r.RunStop(
                stop=STOP,
                hit=1,
                values=[
                    v.ExpressionValue(expression="n", evaluation=v.Evaluation(result="3", variables_reference=0)),
                    v.ExpressionValue(expression="q", problem="no symbol q"),
                ],
            ),
            r.RunStop(
                stop=changed(STOP, incomplete=[]),
                hit=2,
                again=True,
                values=[v.ExpressionValue(expression="n", evaluation=v.Evaluation(result="4", variables_reference=0))],
            ),
            r.RunStop(stop=CRASH, hit=1, interpreter="/usr/bin/python3"),
        ],
        breakpoints=[
            r.RunBreakpoint(breakpoint="/work/app.py:11", verified=True, hits=2),
            r.RunBreakpoint(breakpoint="main", verified=False, hits=0, problem="main was not set"),
        ],
        output="".join(f"line {n}\n" for n in range(5)) + "Traceback (most recent call last):\nKeyError: 1\n",
        omitted=0,
        traceback_is_known=True,
        output_lines=3,
        console="a word of the debugger\n",
        exit_code=139,
        signal="SIGSEGV",
        limited=3,
    ),
    "compare_runs": r.ComparedRuns(
        snapshot=ENDED,
        stops=(3, 4),
        alike=2,
        differences=[
            r.StopDifference(
                before=0,
                first=[r.RunStop(stop=changed(STOP, incomplete=[]), hit=1, values=COUNTS[:1])],
                second=[r.RunStop(stop=changed(STOP, incomplete=[]), hit=1, values=COUNTS[1:])],
            ),
            r.StopDifference(before=3, first=[], second=[r.RunStop(stop=CRASH, hit=1)]),
        ],
        more=2,
        exit_codes=(0, None),
        problems=["second run: main was not set"],
        output_lines=("total 1", "\x1b[31mtotal 2"),
    ),
    "compare_runs_alike": r.ComparedRuns(
        snapshot=ENDED, stops=(3, 3), alike=3, differences=[], more=0, exit_codes=(0, 0), problems=[]
    ),
    "run_late": r.RunResult(
        snapshot=RUNNING,
        stops=[],
        breakpoints=[],
        output="x\n",
        omitted=100,
        output_lines=10,
        console="",
        seconds=5.0,
        threads=[
            r.RunThread(name="MainThread", frames=FRAMES),
            r.RunThread(name="w-1", frames=FRAMES[:1]),
            r.RunThread(name="w-2", frames=FRAMES[:1]),
            r.RunThread(name="new", frames=[]),
        ],
    ),
    "run_broken_off": r.RunResult(
        snapshot=ENDED,
        stops=[],
        breakpoints=[],
        output="",
        omitted=0,
        output_lines=10,
        console="",
        failure="the adapter has ended",
    ),
    "run_without_exit_code": r.RunResult(
        snapshot=LET_GO, stops=[], breakpoints=[], output="", omitted=0, output_lines=0, console=""
    ),
    "set_breakpoint": b.SourceBreakpoints(snapshot=STOPPED, path="/work/app.py", breakpoints=LINES),
    "set_breakpoint_none": b.SourceBreakpoints(snapshot=STOPPED, path="/work/app.py", breakpoints=[]),
    "set_breakpoint_function": b.FunctionBreakpoints(snapshot=STOPPED, function_breakpoints=FUNCTIONS),
    "set_breakpoint_function_none": b.FunctionBreakpoints(snapshot=STOPPED, function_breakpoints=[]),
    "set_instruction_breakpoint": b.InstructionBreakpoints(snapshot=STOPPED, instruction_breakpoints=INSTRUCTIONS),
    "set_instruction_breakpoint_none": b.InstructionBreakpoints(snapshot=STOPPED, instruction_breakpoints=[]),
    "set_data_breakpoint": b.DataBreakpoints(snapshot=STOPPED, data_breakpoints=DATA),
    "set_data_breakpoint_none": b.DataBreakpoints(snapshot=STOPPED, data_breakpoints=[]),
    "set_exception_breakpoints": b.ExceptionBreakpoints(snapshot=STOPPED, exception_filters=FILTERS),
    "breakpoints": b.AllBreakpoints(
        snapshot=STOPPED,
        breakpoints=LINES,
        function_breakpoints=FUNCTIONS,
        instruction_breakpoints=INSTRUCTIONS,
        data_breakpoints=DATA,
        exception_filters=FILTERS,
        foreign_breakpoints=[b.ForeignBreakpoint(id=3, verified=True, path="/work/lib.c", line=8)],
    ),
    "breakpoints_none": b.AllBreakpoints(
        snapshot=STOPPED,
        breakpoints=[],
        function_breakpoints=[],
        instruction_breakpoints=[],
        data_breakpoints=[],
        exception_filters=[],
        foreign_breakpoints=[],
    ),
    "data_breakpoint_info": b.DataBreakpointInfo(
        snapshot=STOPPED,
        data_breakpoint_info=b.DataId(
            data_id="0x7ffe/4", description="4 bytes at 0x7ffe", access_types=["write", "readWrite"], can_persist=False
        ),
    ),
    "data_breakpoint_info_none": b.DataBreakpointInfo(
        snapshot=STOPPED, data_breakpoint_info=b.DataId(data_id=None, description="x is in a register")
    ),
    "continue_stopped": s.Resumed(
        snapshot=STOPPED, verb="Continue", state="stopped", timed_out=False, waited=0.1, stop=STOP
    ),
    "continue_crashed": s.Resumed(
        snapshot=STOPPED, verb="Continue", state="stopped", timed_out=False, waited=0.1, stop=CRASH
    ),
    "step_over_plain": s.Resumed(snapshot=STOPPED, verb="Step over", state="stopped", timed_out=False, waited=0.1),
    "step_over_several": s.Resumed(
        snapshot=STOPPED,
        verb="Step over",
        state="stopped",
        timed_out=False,
        waited=0.1,
        stop=STOP,
        steps=[
            s.PassedStep(path="/work/app.py", function="main", line=20, text="    unit_price(1, 2)", changes=[]),
            s.PassedStep(
                path="/work/app.py", function="unit_price", line=10, text="\tif divisor:\x1b", changes=STOP.locals[:2]
            ),
        ],
    ),
    "step_in_anywhere": s.Resumed(snapshot=ANYWHERE, verb="Step in", state="stopped", timed_out=False, waited=0.1),
    "continue_terminated": s.Resumed(
        snapshot=ENDED,
        verb="Continue",
        state="terminated",
        timed_out=False,
        waited=1.0,
        output="bye\n",
        output_since=20,
    ),
    "step_out_terminated": s.Resumed(snapshot=LET_GO, verb="Step out", state="terminated", timed_out=False, waited=1.0),
    "continue_timed_out": s.Resumed(snapshot=RUNNING, verb="Continue", state="running", timed_out=True, waited=30.0),
    "continue_running": s.Resumed(snapshot=RUNNING, verb="Continue", state="running", timed_out=False, waited=0.0),
    "pause": s.Paused(snapshot=STOPPED, stop=BARE),
    "evaluate": v.Evaluated(
        snapshot=STOPPED, evaluation=v.Evaluation(result="[1, 2]", type="list", variables_reference=9)
    ),
    "evaluate_several": v.Evaluated(
        snapshot=STOPPED,
        values=[
            v.ExpressionValue(expression="n", evaluation=v.Evaluation(result="3", type="int", variables_reference=0)),
            v.ExpressionValue(expression="q", problem="NameError: name 'q' is not defined"),
            v.ExpressionValue(expression="text", evaluation=v.Evaluation(result="a\nb", variables_reference=0)),
        ],
    ),
    "watch": v.KeptExpressions(
        snapshot=STOPPED,
        expressions=[
            v.ExpressionValue(
                expression="box",
                evaluation=v.Evaluation(
                    result="<app.Box object at 0x7f00>", type="app.Box", variables_reference=6, contents="{a = 1}"
                ),
            )
        ],
    ),
    "watch_running": v.KeptExpressions(snapshot=RUNNING, expressions=[v.ExpressionValue(expression="n")]),
    "watch_none": v.KeptExpressions(snapshot=STOPPED, expressions=[]),
    "evaluate_pointer": v.Evaluated(
        snapshot=STOPPED,
        evaluation=v.Evaluation(result="(node *) 0x5555", type="t", variables_reference=9),
    ),
    "evaluate_plain": v.Evaluated(snapshot=STOPPED, evaluation=v.Evaluation(result="3", variables_reference=0)),
    "evaluate_lines": v.Evaluated(
        snapshot=STOPPED, evaluation=v.Evaluation(result="a\nType: b\n", variables_reference=0, length=12000)
    ),
    "evaluate_printing": v.Evaluated(
        snapshot=STOPPED, evaluation=v.Evaluation(result="None", variables_reference=0), output="a\nb\n", output_since=7
    ),
    "set_variable": v.Assigned(
        snapshot=STOPPED, name="total", evaluation=v.Evaluation(result="0", type="int", variables_reference=0)
    ),
    "stack_trace": v.StackTraceResult(
        snapshot=STOPPED,
        thread_id=1,
        stack_frames=[*FRAMES, v.FrameRow(index=2, id=5, name="_start", line=0, column=0)],
        more=False,
        next_start=3,
    ),
    "stack_trace_paged": v.StackTraceResult(
        snapshot=STOPPED, thread_id=1, stack_frames=FRAMES, more=True, total_frames=100000, next_start=2
    ),
    "stack_trace_empty": v.StackTraceResult(snapshot=STOPPED, thread_id=1, stack_frames=[], more=False, next_start=0),
    "threads": v.ThreadsResult(
        snapshot=STOPPED, threads=[Thread(id=1, name="MainThread"), Thread(id=2, name="w\n2")], more=0
    ),
    "threads_with_stacks": v.ThreadsResult(
        snapshot=RUNNING,
        threads=[Thread(id=1, name="MainThread"), Thread(id=2, name="worker")],
        more=5,
        stacks=[
            v.ThreadStack(thread_id=1, frames=FRAMES, more=True),
            v.ThreadStack(thread_id=2, frames=[], problem="it has ended"),
        ],
    ),
    "scopes": v.ScopesResult(
        snapshot=STOPPED,
        scopes=[
            v.ScopeRow(name="Locals", variables_reference=5, expensive=False, presentation_hint="locals"),
            v.ScopeRow(name="Globals", variables_reference=6, expensive=True),
        ],
    ),
    "variables": v.VariablesResult(snapshot=STOPPED, variables=STOP.locals[1:], start=0, more=0),
    "variables_plain": v.VariablesResult(
        snapshot=STOPPED, variables=[v.VariableRow(name="x", value="3", variables_reference=0)], start=100, more=899
    ),
    "variables_searched": v.VariablesResult(
        snapshot=STOPPED,
        variables=[v.VariableRow(name="[77]", value="3", variables_reference=0)],
        start=0,
        more=180,
        searched=10_000,
    ),
    "variables_none": v.VariablesResult(snapshot=STOPPED, variables=[], start=0, more=0),
    "exception_info": v.ExceptionInfo(
        snapshot=STOPPED,
        thread_id=1,
        exception=v.ExceptionRow(
            exception_id="ZeroDivisionError",
            break_mode="unhandled",
            description="division by zero",
            stack_trace='  File "app.py", line 11\n    return amount / divisor\n',
        ),
    ),
    "completions": v.CompletionsResult(
        snapshot=STOPPED,
        completions=[
            v.Completion(label="price", text="price", type="field"),
            v.Completion(label="print", text="print("),
        ],
        more=3,
    ),
    "why": h.WhyResult(
        snapshot=STOPPED,
        expression="prices['tea']",
        clock=1203,
        path="/work/app.py",
        function="unit_price",
        line=11,
        old="4",
        new="5",
    ),
    "why_made": h.WhyResult(
        snapshot=STOPPED, expression="total", clock=7, path="/work/app.py", function="main", line=3, new="'a\nb'\n'c'"
    ),
    "why_inside": h.WhyResult(
        snapshot=STOPPED,
        expression="shop",
        clock=8,
        path="/work/app.py",
        function="main",
        line=4,
        old="<Shop object>",
        new="<Shop object>",
    ),
    "why_always": h.WhyResult(snapshot=STOPPED, expression="name"),
    "why_followed": h.WhyResult(
        snapshot=STOPPED,
        expression="price",
        clock=25,
        path="/work/app.py",
        function="main",
        line=8,
        new="-4",
        chain=[
            WhyStep(
                expression="price",
                clock=25,
                path="/work/app.py",
                function="main",
                line=8,
                text="price = parsed(row)",
                new="-4",
            ),
            WhyStep(clock=28, path="/work/parse.py", function="parsed", line=3, text="return row.price * 2\n| x"),
            WhyStep(path="/work/parse.py", function="outer", line=9, text="return parsed(row)"),
        ],
        ends="it was computed",
        inputs=[WhyInput(expression="row.price", value="-2")],
    ),
    "why_by_another_run": h.WhyResult(
        snapshot=STOPPED,
        expression="order->limit",
        path="/w/stages.c",
        function="route",
        line=241,
        old="1000",
        new="768",
        writes=3,
        doubt="it left 768 there, and the value is 5 now",
    ),
    "why_never_written": h.WhyResult(snapshot=STOPPED, expression="order->limit", writes=0),
    "why_unfinished": h.WhyResult(snapshot=STOPPED, expression="name", unchanged_since=812),
    "timeline": h.TimelineResult(
        snapshot=STOPPED,
        beginning=1,
        now=600,
        live=1001,
        checkpoints=[
            HistoryMoment(clock=1, time=1000.0, output=0),
            HistoryMoment(clock=251, time=1000.05, output=10),
            HistoryMoment(clock=900, time=1000.1, output=24),
        ],
        stops=[
            HistoryStop(clock=501, time=1000.07, output=18, reason="step", thread_id=1),
            HistoryStop(clock=1001, time=1000.125, output=24, reason="breakpoint"),
        ],
        earlier_stops=3,
    ),
    "timeline_of_nothing": h.TimelineResult(
        snapshot=STOPPED, beginning=0, now=0, live=0, checkpoints=[], stops=[], earlier_stops=0
    ),
    "disassemble": p.Disassembly(
        snapshot=STOPPED,
        disassembly=[
            DisassembledInstruction(
                address="0x401136",
                instruction_bytes="55",
                instruction="push rbp",
                symbol="main",
                location=Source(name="a.c", path="/work/a.c"),
                line=3,
                column=1,
            ),
            DisassembledInstruction(address="0x401137", instruction_bytes="48 89 e5", instruction="mov rbp, rsp"),
            DisassembledInstruction(address="0x9", instruction="ret"),
        ],
    ),
    "disassemble_empty": p.Disassembly(snapshot=STOPPED, disassembly=[]),
    "read_memory": p.MemoryResult(
        snapshot=STOPPED, memory_address="0x7ffe3c", memory_data="SGVsbG8sIHdvcmxkIQoAAQL/AQ==", unreadable_bytes=4
    ),
    "read_memory_none": p.MemoryResult(snapshot=STOPPED, memory_address="0x0", memory_data=""),
    "write_memory": p.MemoryWritten(snapshot=STOPPED, bytes_written=4, offset=8),
    "write_memory_plain": p.MemoryWritten(snapshot=STOPPED),
    "modules": p.ModulesResult(
        snapshot=STOPPED,
        modules=[
            p.ModuleRow(
                id=1, name="a.out", path="/work/a.out", symbol_status="Symbols loaded.", address_range="0x4000"
            ),
            p.ModuleRow(id="libc", name="libc.so.6"),
        ],
        more=0,
    ),
    "modules_none": p.ModulesResult(snapshot=STOPPED, modules=[], more=0),
    "loaded_sources": p.LoadedSourcesResult(
        snapshot=STOPPED, sources=[APP, Source(name="<string>", source_reference=4), Source()], more=0
    ),
    "loaded_sources_none": p.LoadedSourcesResult(snapshot=STOPPED, sources=[], more=0),
    "source": p.SourceText(
        snapshot=STOPPED,
        name="/work/app.py",
        content="def f():\n\n    return 1\n",
        first_line=8,
        total_lines=120,
        current_line=10,
    ),
    "custom_request": s.CustomBody(snapshot=STOPPED, command="pydevdInfo", custom_body={"a": [1, "é"]}),
    "custom_request_cut": s.CustomBody(snapshot=STOPPED, command="variables", custom_body='{"variab', length=900000),
    "custom_request_empty": s.CustomBody(snapshot=STOPPED, command="poke", custom_body=None),
    "output": s.OutputResult(snapshot=STOPPED, output="one\ntwo \x1b[1mthree\n", next=24, lost=0, omitted=0),
    "output_cut": s.OutputResult(snapshot=STOPPED, output="the end\n", next=900000, lost=700000, omitted=5000),
    "output_none": s.OutputResult(snapshot=STOPPED, output="", next=0, lost=0, omitted=0),
    "stdin": s.Typed(snapshot=RUNNING, characters=4, ended=True),
    "terminate": s.Terminated(snapshot=ENDED, ending="terminated", released=False),
    "terminate_again": s.Terminated(snapshot=ENDED, ending="terminated", released=False, already=True),
    "terminate_none": s.Terminated(ending="terminated", released=False),
    "detach": s.Terminated(snapshot=LET_GO, ending="detached", released=True, output="last words\n", output_since=3),
    "sessions_with_children": s.SessionsResult(
        sessions=[
            changed(
                STOPPED,
                child=2,
                children=[
                    Child(number=1, status="running", name="work\ner.py", pid=4711),
                    Child(number=2, status="stopped", pid=4712, source=Source(path="/work/app.py"), line=11),
                    Child(number=3, status="terminated"),
                ],
            )
        ]
    ),
    "sessions": s.SessionsResult(sessions=[STOPPED, RUNNING]),
    "sessions_none": s.SessionsResult(sessions=[]),
    "probe": pr.ProbeResult(snapshot=ENDED, table=HITS, limited=False, state="terminated", stop=CRASH, exit_code=1),
    "probe_of_a_session": pr.ProbeResult(
        snapshot=STOPPED, table=changed(HITS, rows=HITS.rows[:1]), limited=True, state="stopped"
    ),
    "probe_too_long": pr.ProbeResult(
        snapshot=RUNNING,
        table=changed(HITS, rows=[], problem="app.py:12 was never hit", tag=None),
        limited=False,
        state="running",
        seconds=30,
    ),
    "probes_of_a_tag": pr.ProbesOfTag(tag="H1", tables=[HITS, HITS]),
    "probes_of_a_tag_none": pr.ProbesOfTag(tag="H2", tables=[]),
    "diff": s.StopDiff(
        snapshot=STOPPED,
        first="Stop 1 (/work/app.py:9 in unit_price)",
        second="Stop 3 (/work/app.py:11 in own)",
        changes=[
            s.ChangedVariable(name="total", before=_plain("total", "3"), after=_plain("total", "6")),
            s.ChangedVariable(name="text", after=_plain("text", "'a\nb'")),
            s.ChangedVariable(name="old", before=_plain("old", "[1, 2]")),
        ],
        same=4,
        other_function=True,
        output="one\n",
        output_since=8,
    ),
    "diff_none": s.StopDiff(
        snapshot=STOPPED,
        first="Stop 1 (/a:1 in f)",
        second="Stop 2 (/a:2 in f)",
        changes=[],
        same=2,
        other_function=False,
    ),
    "trace": t.TraceResult(
        snapshot=STOPPED,
        ending="it returned",
        function="cost",
        path="/work/app.py",
        line=9,
        caller="/work/app.py:20 in main",
        arguments=[_plain("items", "[1, 2]"), _plain("limit", "10")],
        steps=9,
        rows=[
            t.TraceRow(level=0, line=9, text="    total = 0", changes=[_plain("total", "0")]),
            t.TraceRow(level=0, line=10, text="    for item in items:", changes=[_plain("item", "1")]),
            t.TraceRow(level=0, line=11, text="        if item > limit:", branch=False),
            t.TraceRow(level=0, line=12, text="        total += tax(item)"),
            t.TraceRow(level=1, line=3, function="tax", path="/work/app.py", changes=[_plain("n", "1")]),
            t.TraceRow(level=1, line=3, text="    return n * 2", returned=[_plain("tax", "2")]),
            t.TraceRow(level=0, line=0, changes=[_plain("total", "2")]),
            t.TraceRow(level=0, line=13, text="    if total:", branch=True),
            t.TraceRow(level=0, line=14, text="        return total"),
        ],
        returned=_plain("cost", "2"),
        problem="Only its first 9 lines were followed; --steps follows more.",
    ),
    "trace_of_a_long_loop": t.TraceResult(
        snapshot=STOPPED,
        ending="it was left, by a return or an exception",
        function="main",
        path="/work/a.c",
        line=3,
        arguments=[],
        steps=2000,
        rows=[
            t.TraceRow(level=0, line=3 + at % 2, text=f"  step{at % 2}(n);", changes=[_plain("n", str(at))])
            for at in range(2000)
        ],
    ),
    "trace_of_many_lines": t.TraceResult(
        snapshot=STOPPED,
        ending="it was left, by a return or an exception",
        function="main",
        path="/work/a.c",
        line=1,
        arguments=[],
        steps=400,
        rows=[t.TraceRow(level=0, line=at, text=f"  step{at}(n);") for at in range(1, 401)],
    ),
    "trace_nowhere": t.TraceResult(
        snapshot=ENDED,
        ending="it was not called",
        arguments=[],
        rows=[],
        steps=0,
        problem="cost was never hit: the program did not come there",
        exception=CRASH.exception,
        stop=CRASH,
    ),
    "autopsy": a.AutopsyResult(
        snapshot=STOPPED,
        stop=CRASH,
        frames=[
            a.AutopsyFrame(
                index=0,
                function="unit_price",
                path="/work/app.py",
                line=11,
                text="    return amount / divisor",
                variables=[_plain("divisor", "0"), _plain("amount", "3")],
                suspicious=["divisor"],
                more=2,
            ),
            a.AutopsyFrame(
                index=2,
                function="main\n",
                path="/work/app.py",
                line=20,
                text="unit_price(3, 0)",
                variables=[],
                suspicious=[],
                more=0,
                problem="timeout",
            ),
        ],
        more_frames=1,
        last_lines=[s.PassedStep(function="unit_price", line=10, text="    pass", changes=[])],
        origins=[h.WhyResult(snapshot=STOPPED, expression="divisor", clock=3, path="/a.py", function="f", line=2)],
        output="".join(f"line {at}\n" for at in range(9)),
    ),
    "autopsy_of_a_program_that_ends": a.AutopsyResult(snapshot=ENDED, frames=[], more_frames=0, exit_code=0),
    "autopsy_too_long": a.AutopsyResult(
        snapshot=RUNNING,
        frames=[],
        more_frames=0,
        seconds=30,
        threads=[r.RunThread(name="MainThread", frames=[])],
    ),
    "stacks": st.StacksResult(
        snapshot=RUNNING,
        groups=[
            st.StackGroup(
                threads=["worker-0", "worker-1"],
                count=12,
                frames=[
                    v.FrameRow(index=0, id=7, name="acquire", line=3, column=1, source=Source(path="/usr/lib/lock.py")),
                    v.FrameRow(index=1, id=8, name="work", line=11, column=5, source=APP),
                ],
                own=[1],
                more=True,
            ),
            st.StackGroup(threads=["idle\n"], count=1, frames=[], own=[], problem="it runs"),
        ],
        more=3,
        paused=False,
        locks=[
            st.LockWait(lock="self.a", kind="Lock", waiting=["one at /app.py:3"], holder="two"),
            st.LockWait(lock="self.b", kind="RLock", waiting=[], ended_owner=1403),
            st.LockWait(lock="self.c", kind="RLock", waiting=[], holder="two", is_strange=True),
            st.LockWait(lock="self.d", kind="Lock", waiting=["two at /app.py:9"]),
        ],
        deadlock=["one", "two"],
    ),
    "stacks_of_a_paused_program": st.StacksResult(
        snapshot=STOPPED,
        groups=[
            st.StackGroup(
                threads=["main"],
                count=1,
                frames=[v.FrameRow(index=0, id=7, name="poll", line=3, column=1, source=Source(path="/usr/poll.c"))],
                own=[],
            )
        ],
        more=0,
        paused=True,
    ),
    "job_stacks": JobStacks(
        target="4711",
        members=64,
        sampled=61,
        hosts=["n1", "n2"],
        ranked=True,
        seconds=0.36,
        rounds=5,
        groups=[
            MemberGroup(calls=[WAITS, EXCHANGE], members=[str(rank) for rank in range(60) if rank != 5], running=3),
            MemberGroup(calls=[EXCHANGE], members=["5"], running=1),
            MemberGroup(calls=[GroupedCall(function="select", file="/usr/lib/select.py")], members=["7"], thread="io"),
        ],
        most=0,
        findings=[
            JobFinding(kind=FindingKind.STRAGGLER, members=["5"], calls=[EXCHANGE], rounds=4),
            JobFinding(kind=FindingKind.GONE, members=["60"], calls=[], note="its process does not exist"),
            JobFinding(kind=FindingKind.ENDED, members=["61", "62"], calls=[], note="exit code 1: ValueError: x\ny"),
            JobFinding(kind=FindingKind.ABSENT, members=["63"], calls=[], note="the launcher counts 64 ranks"),
            JobFinding(kind=FindingKind.LATE, members=["8", "9"], calls=[EXCHANGE], note="run"),
            JobFinding(kind=FindingKind.TEARDOWN, members=["10"], calls=[], note="exit code 1"),
            JobFinding(kind=FindingKind.KERNEL, members=["11"], calls=[EXCHANGE]),
            JobFinding(kind=FindingKind.INTERPRETER, members=["12"], calls=[EXCHANGE], note="loader"),
            JobFinding(kind=FindingKind.SUSPENDED, members=["13"], calls=[]),
            JobFinding(
                kind=FindingKind.UNREADABLE, members=["14", "15"], calls=[], note="n2 did not answer within 30 s"
            ),
        ],
        moving=["1", "2", "3"],
        failures={"n2": "n2 did not answer within 30 s"},
    ),
    "job_stacks_without_majority": JobStacks(
        target="4711",
        members=2,
        sampled=2,
        hosts=["n1"],
        ranked=False,
        seconds=0.02,
        rounds=1,
        groups=[
            MemberGroup(calls=[EXCHANGE], members=["0"]),
            MemberGroup(calls=[EXCHANGE, WAITS], members=["1"], running=1),
        ],
        most=-1,
        findings=[],
        moving=[],
        failures={},
    ),
    "job_stops": JobStops(
        target="4711",
        ranked=True,
        breakpoints=[
            JobBreakpoint(path="/work/job.py", line=9, condition="n > 3", members="0-7", verified=7, problem="no code"),
            JobBreakpoint(path="/work/job.py", line=12, verified=1),
        ],
        groups=[
            StopGroup(
                reason="breakpoint",
                calls=[EXCHANGE],
                members=["0", "1", "2", "7"],
                representative="0",
                values=[MemberValue(name="n", value="4"), MemberValue(name="token", value="'a\n'")],
                answers=[
                    MemberAnswer(evaluate_name="loss", value="nan", members=["7"]),
                    MemberAnswer(evaluate_name="loss", value="0.5", members=["0", "1", "2"]),
                    MemberAnswer(evaluate_name="n", value="4", members=["0", "1", "2", "7"]),
                ],
            ),
            StopGroup(reason="step", calls=[WAITS, EXCHANGE], members=["3"], representative="3", values=[], answers=[]),
        ],
        running=["4", "5"],
        ended={"6": "its program has ended"},
        problems={"8": "a session of its own debugs it"},
        notes=["Pod train-0 is restarted by its liveness probe if it does not answer for 30 s"],
    ),
    "job_released": JobReleased(target="4711", members=8),
}
