"""A debug adapter for Markdown. `machine` is the program that it debugs, `breakpoints` is what stops it."""

import base64
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
from breakpoints import Breakpoints, Mark
from machine import Effect, Frame, Instruction, Machine, MachineError, Value

from dapkit import protocol as dap
from dapkit.adapter import Adapter, NoAttach, References, RequestFailed

MAIN = 1  # the one thread


class MockLaunch(dap.LaunchRequestArguments, frozen=True, kw_only=True):
    """What a launch configuration may say."""

    program: str
    stop_on_entry: bool = False


class MockAdapter(Adapter[MockLaunch, NoAttach]):
    """Debugs a Markdown file."""

    announces = dap.Capabilities(
        supports_conditional_breakpoints=True,
        supports_hit_conditional_breakpoints=True,
        supports_log_points=True,
        supports_evaluate_for_hovers=True,
        supports_stepping_granularity=True,
        supports_exception_filter_options=True,
        exception_breakpoint_filters=[
            dap.ExceptionBreakpointsFilter(filter="raised", label="Raised", supports_condition=True)
        ],
    )

    def __init__(self) -> None:
        self._loaded: Machine | None = None
        self._stop_on_entry = False
        self._breakpoints = Breakpoints()
        self._watched: list[str] = []
        self._caught: list[str] = []
        self._pause = anyio.Event()
        self._running = anyio.CancelScope()
        self._frames = References[Frame]("frame")
        self._containers = References[list[Value] | None]("variables reference")  # None: all variables

    @property
    def _machine(self) -> Machine:
        if self._loaded is None:
            raise RequestFailed("nothing was launched yet")
        return self._loaded

    # The life of the program

    async def launch(self, args: MockLaunch) -> None:
        try:
            self._loaded = Machine(Path(args.program))
        except MachineError as error:
            raise RequestFailed(str(error)) from None
        self._stop_on_entry = args.stop_on_entry
        await self._file_loaded(Path(args.program))

    async def configuration_done(self) -> None:
        if self._stop_on_entry:
            await self.stopped("entry", thread_id=MAIN)
        else:
            self._resume(lambda: False, is_at_stop=False)

    async def terminate(self, args: dap.TerminateArguments) -> None:
        self._running.cancel()
        await self.terminated()

    # Breakpoints

    async def set_breakpoints(self, args: dap.SetBreakpointsArguments) -> dap.SetBreakpointsBody:
        path = Path(args.source.path or "")
        marks = [
            Mark(wanted, partial(Machine.find, path=path, line=wanted.line, column=wanted.column or 0))
            for wanted in args.breakpoints or []
        ]
        return dap.SetBreakpointsBody(breakpoints=self._breakpoints.replace(path, marks, self._loaded))

    async def set_instruction_breakpoints(
        self, args: dap.SetInstructionBreakpointsArguments
    ) -> dap.SetInstructionBreakpointsBody:
        marks = [
            Mark(wanted, partial(Machine.at, address=int(wanted.instruction_reference, 16) + (wanted.offset or 0)))
            for wanted in args.breakpoints
        ]
        placed = self._breakpoints.replace("addresses", marks, self._loaded)
        return dap.SetInstructionBreakpointsBody(breakpoints=placed)

    async def data_breakpoint_info(self, args: dap.DataBreakpointInfoArguments) -> dap.DataBreakpointInfoBody:
        known = args.name in self._machine.variables
        return dap.DataBreakpointInfoBody(
            data_id=args.name if known else None,
            description=args.name if known else f"{args.name} is no variable",
            access_types=["write"],
        )

    async def set_data_breakpoints(self, args: dap.SetDataBreakpointsArguments) -> dap.SetDataBreakpointsBody:
        self._watched = [wanted.data_id for wanted in args.breakpoints]
        return dap.SetDataBreakpointsBody(breakpoints=[dap.Breakpoint(verified=True) for _ in args.breakpoints])

    async def set_exception_breakpoints(
        self, args: dap.SetExceptionBreakpointsArguments
    ) -> dap.SetExceptionBreakpointsBody:
        self._caught = ["" for _ in args.filters] + [option.condition or "" for option in args.filter_options or []]
        return dap.SetExceptionBreakpointsBody()

    async def exception_info(self, args: dap.ExceptionInfoArguments) -> dap.ExceptionInfoBody:
        here = self._machine.here
        if here is None or here.op != "raise":
            raise RequestFailed("the program did not stop on an exception")
        return dap.ExceptionInfoBody(exception_id=here.operand, break_mode="always")

    # Running

    async def continue_(self, args: dap.ContinueArguments) -> dap.ContinueBody:
        self._resume(lambda: False)
        return dap.ContinueBody(all_threads_continued=True)

    async def next(self, args: dap.NextArguments) -> None:
        self._resume(self._step_over(args.granularity))

    async def step_in(self, args: dap.StepInArguments) -> None:
        self._resume(self._step_over(args.granularity, into=True, target=args.target_id))

    async def step_in_targets(self, args: dap.StepInTargetsArguments) -> dap.StepInTargetsBody:
        here = self._machine.code[self._frames.get(args.frame_id).at]
        rest = [it for it in self._machine.code[here.address :] if (it.path, it.line) == (here.path, here.line)]
        targets = [dap.StepInTarget(id=it.address, label=it.operand) for it in rest if it.op == "call"]
        return dap.StepInTargetsBody(targets=targets)

    async def step_out(self, args: dap.StepOutArguments) -> None:
        depth = len(self._machine.frames)
        self._resume(lambda: len(self._machine.frames) < depth)

    async def step_back(self, args: dap.StepBackArguments) -> None:
        is_over = self._step_over(args.granularity)
        self._forget_references()
        while self._machine.step_back() and not is_over():
            pass
        await self.stopped("step", thread_id=MAIN)

    async def reverse_continue(self, args: dap.ReverseContinueArguments) -> None:
        self._forget_references()
        while self._machine.step_back():
            if self._machine.here is not None and await self._stops_at(self._machine.here):
                return
        await self.stopped("entry", thread_id=MAIN)

    async def pause(self, args: dap.PauseArguments) -> None:
        self._pause.set()

    def _step_over(
        self, granularity: str | None, *, into: bool = False, target: int | None = None
    ) -> Callable[[], bool]:
        """Make the condition under which a step is over."""
        machine, start, depth = self._machine, self._machine.here, len(self._machine.frames)

        def is_over() -> bool:
            frames, here = machine.frames, machine.here
            if here is None or start is None or granularity == "instruction" or len(frames) < depth:
                return True
            if len(frames) > depth:
                return into and target in (None, frames[depth - 1].at - 1)
            return (here.path, here.line) != (start.path, start.line)

        return is_over

    def _resume(self, is_over: Callable[[], bool], *, is_at_stop: bool = True) -> None:
        self._forget_references()
        self._pause, self._running = anyio.Event(), anyio.CancelScope()
        self.start_soon(self._run, is_over, is_at_stop)

    def _forget_references(self) -> None:
        self._frames.clear()
        self._containers.clear()

    async def _run(self, is_over: Callable[[], bool], is_at_stop: bool) -> None:
        """Run until a stop is due; the breakpoint that it stands on is behind it."""
        with self._running:
            while (here := self._machine.here) is not None:
                if not is_at_stop and await self._stops_at(here):
                    return
                is_at_stop = False
                effect = self._machine.step()
                await self._tell(effect, here)
                if (reason := self._reason_to_stop(effect, is_over)) is not None:
                    await self.stopped(reason, thread_id=MAIN)
                    return
            await self.exited(self._machine.exit_code)
            await self.terminated()

    async def _stops_at(self, here: Instruction) -> bool:
        """Stop if something before this instruction says so."""
        if here.op == "raise" and ("" in self._caught or here.operand in self._caught):
            await self.stopped("exception", thread_id=MAIN, text=here.operand)
            return True
        due = self._breakpoints.due(here, self._machine)
        for text in filter(None, (mark.log_message for mark in due)):
            filled_in = re.sub(r"\{(.+?)\}", lambda found: str(self._machine.evaluate(found[1])), text)
            await self.output(f"{filled_in}\n", category="console")
        if hit := [mark.id for mark in due if not mark.log_message]:
            await self.stopped("breakpoint", thread_id=MAIN, hit_breakpoint_ids=hit)
        return bool(hit)

    async def _tell(self, effect: Effect, here: Instruction) -> None:
        if effect.output:
            await self.output(effect.output, category=effect.category, source=_source(here.path), line=here.line)
        if effect.loaded is not None:
            await self._file_loaded(effect.loaded)
        with anyio.move_on_after(effect.seconds):
            await self._pause.wait()

    def _reason_to_stop(self, effect: Effect, is_over: Callable[[], bool]) -> str | None:
        if self._machine.here is None:
            return None
        if effect.written in self._watched:
            return "data breakpoint"
        return "pause" if self._pause.is_set() else "step" if is_over() else None

    async def _file_loaded(self, path: Path) -> None:
        await self.loaded_source("new", _source(path))
        for placed in self._breakpoints.place(self._machine):
            await self.breakpoint("changed", placed)

    # Looking

    async def threads(self) -> dap.ThreadsBody:
        return dap.ThreadsBody(threads=[dap.Thread(id=MAIN, name="main")])

    async def stack_trace(self, args: dap.StackTraceArguments) -> dap.StackTraceBody:
        frames = [self._stack_frame(frame) for frame in reversed(self._machine.frames)]
        page = _page(frames, args.start_frame, args.levels)
        return dap.StackTraceBody(stack_frames=page, total_frames=len(frames))

    def _stack_frame(self, frame: Frame) -> dap.StackFrame:
        at = self._machine.code[frame.at]
        return dap.StackFrame(
            id=self._frames.add(frame),
            name=frame.section,
            source=_source(at.path),
            line=at.line,
            column=at.column,
            instruction_pointer_reference=hex(at.address),
        )

    async def scopes(self, args: dap.ScopesArguments) -> dap.ScopesBody:
        self._frames.get(args.frame_id)
        reference = self._containers.add(None)
        return dap.ScopesBody(scopes=[dap.Scope(name="Variables", variables_reference=reference, expensive=False)])

    async def variables(self, args: dap.VariablesArguments) -> dap.VariablesBody:
        items = self._containers.get(args.variables_reference)
        named = self._machine.variables.items() if items is None else enumerate(items)
        page = _page(list(named), args.start, args.count)
        return dap.VariablesBody(variables=[self._variable(str(name), value) for name, value in page])

    def _variable(self, name: str, value: Value) -> dap.Variable:
        return dap.Variable(
            name=name,
            value=repr(value),
            type=type(value).__name__,
            variables_reference=self._containers.add(value) if isinstance(value, list) else 0,
            indexed_variables=len(value) if isinstance(value, list) else None,
            memory_reference=name if name and isinstance(value, str) else None,
        )

    async def set_variable(self, args: dap.SetVariableArguments) -> dap.SetVariableBody:
        if self._containers.get(args.variables_reference) is not None:
            raise RequestFailed("an item of a list cannot be changed: set the whole list")
        self._machine.assign(args.name, self._evaluated(args.value))
        return dap.SetVariableBody(value=repr(self._machine.variables[args.name]))

    async def evaluate(self, args: dap.EvaluateArguments) -> dap.EvaluateBody:
        if counting := re.fullmatch(r"count (\d+)", args.expression):
            return await self._count(int(counting[1]))
        shown = self._variable("", self._evaluated(args.expression))
        return dap.EvaluateBody(result=shown.value, type=shown.type, variables_reference=shown.variables_reference)

    async def _count(self, end: int) -> dap.EvaluateBody:
        """Take long, show it, and let it be cancelled."""
        done = 0
        async with self.progress("Counting", cancellable=True) as progress:
            for done in range(1, end + 1):
                await progress.update(f"at {done}", percentage=100 * done / end)
                await anyio.sleep(0.01)
        return dap.EvaluateBody(result=f"counted to {done}", variables_reference=0)

    def _evaluated(self, expression: str) -> Value:
        try:
            return self._machine.evaluate(expression)
        except MachineError as error:
            raise RequestFailed(str(error)) from None

    async def completions(self, args: dap.CompletionsArguments) -> dap.CompletionsBody:
        begun = re.findall(r"\w*$", args.text[: args.column - 1])[0]
        names = [name for name in self._machine.variables if name.startswith(begun)]
        return dap.CompletionsBody(targets=[dap.CompletionItem(label=name, type="variable") for name in names])

    async def loaded_sources(self) -> dap.LoadedSourcesBody:
        return dap.LoadedSourcesBody(sources=[_source(path) for path in self._machine.files])

    # Memory is the bytes of texts, under the names of their variables; code is addressed by numbers.

    async def read_memory(self, args: dap.ReadMemoryArguments) -> dap.ReadMemoryBody:
        start = args.offset or 0
        data = base64.b64encode(self._bytes_of(args.memory_reference)[start : start + args.count])
        return dap.ReadMemoryBody(address=hex(start), data=data.decode())

    async def write_memory(self, args: dap.WriteMemoryArguments) -> dap.WriteMemoryBody:
        memory, start, data = self._bytes_of(args.memory_reference), args.offset or 0, base64.b64decode(args.data)
        memory[start : start + len(data)] = data
        self._machine.assign(args.memory_reference, memory.decode(errors="replace"))
        await self.memory(args.memory_reference, start, count=len(data))
        return dap.WriteMemoryBody(bytes_written=len(data))

    def _bytes_of(self, name: str) -> bytearray:
        value = self._machine.variables.get(name)
        if not isinstance(value, str):
            raise RequestFailed(f"{name} is no text, and only texts have memory")
        return bytearray(value.encode())

    async def disassemble(self, args: dap.DisassembleArguments) -> dap.DisassembleBody:
        first = int(args.memory_reference, 16) + (args.offset or 0) + (args.instruction_offset or 0)
        wanted = range(first, first + args.instruction_count)
        return dap.DisassembleBody(instructions=[self._disassembled(address) for address in wanted])

    def _disassembled(self, address: int) -> dap.DisassembledInstruction:
        if (it := self._machine.at(address)) is None:
            return dap.DisassembledInstruction(address=hex(address), instruction="", presentation_hint="invalid")
        text = " ".join(filter(None, (it.op, it.name, it.operand)))
        return dap.DisassembledInstruction(
            address=hex(address), instruction=text, location=_source(it.path), line=it.line
        )


def _page[T](items: list[T], start: int | None, count: int | None) -> list[T]:
    return items[start or 0 :][: count or None]


def _source(path: Path) -> dap.Source:
    return dap.Source(name=path.name, path=str(path))
