"""A debug adapter for Markdown; `machine` is the program that it debugs."""

import base64
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anyio
from machine import Effect, Instruction, Machine, Value

from dapkit import protocol as dap
from dapkit.adapter import Adapter, NoAttach, References, RequestFailed, run

type Wanted = dap.SourceBreakpoint | dap.InstructionBreakpoint
MAIN = 1  # the one thread
RAISED = dap.ExceptionBreakpointsFilter(filter="raised", label="Raised", supports_condition=True)


@dataclass
class Mark:
    """A breakpoint: what the client wants, in a file or on an address, and where it landed, once that is known."""

    id: int
    path: Path | None
    wanted: Wanted
    at: Instruction | None = None
    hits: int = 0

    def place(self, code: Iterable[Instruction]) -> dap.Breakpoint:
        """Look for the first instruction at the place or behind it; tell the client what became of it."""
        match self.wanted:
            case dap.SourceBreakpoint(line=line, column=column):
                found = (it for it in code if it.path == self.path and (it.line, it.column) >= (line, column or 0))
            case dap.InstructionBreakpoint(instruction_reference=reference, offset=offset):
                found = (it for it in code if it.address == int(reference, 16) + (offset or 0))
        self.at = at = next(found, None)
        if at is None:
            return dap.Breakpoint(id=self.id, verified=False, reason="pending")
        return dap.Breakpoint(id=self.id, verified=True, source=_source(at.path), line=at.line, column=at.column)

    def is_due(self, machine: Machine) -> bool:
        """Whether its condition holds and it was met often enough; what cannot be judged is due."""
        with suppress(ValueError):
            if self.wanted.condition and not machine.evaluate(self.wanted.condition):
                return False
            self.hits += 1
            return self.hits >= int(self.wanted.hit_condition or 0)
        return True


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
        exception_breakpoint_filters=[RAISED],
    )

    def __init__(self) -> None:
        self._machine = Machine()
        self._stop_on_entry = False
        self._marks: list[Mark] = []
        self._ids = count(1)
        self._watched: set[str] = set()
        self._caught: set[str] = set()
        self._pause = anyio.Event()
        self._running = anyio.CancelScope()
        self._frames = References[Instruction]("frame")
        self._containers = References[list[Value] | None]("variables reference")  # None: all variables

    # The life of the program

    async def launch(self, args: MockLaunch) -> None:
        try:
            self._machine.load(Path(args.program))
        except ValueError as error:
            raise RequestFailed(str(error)) from None
        self._stop_on_entry = args.stop_on_entry
        await self._file_loaded(Path(args.program))

    async def configuration_done(self) -> None:
        if not await self._stops(Effect(), lambda: self._stop_on_entry):
            self._resume(lambda: False)

    async def terminate(self, args: dap.TerminateArguments) -> None:
        self._running.cancel()
        await self.terminated()

    # Breakpoints

    async def set_breakpoints(self, args: dap.SetBreakpointsArguments) -> dap.SetBreakpointsBody:
        return dap.SetBreakpointsBody(breakpoints=self._replace(Path(args.source.path or ""), args.breakpoints or []))

    async def set_instruction_breakpoints(
        self, args: dap.SetInstructionBreakpointsArguments
    ) -> dap.SetInstructionBreakpointsBody:
        return dap.SetInstructionBreakpointsBody(breakpoints=self._replace(None, args.breakpoints))

    def _replace(self, path: Path | None, wanted: Iterable[Wanted]) -> list[dap.Breakpoint]:
        """Take the breakpoints of a file, or those on addresses, and say where they landed."""
        marks = [Mark(next(self._ids), path, asked) for asked in wanted]
        self._marks = [mark for mark in self._marks if mark.path != path] + marks
        return [mark.place(self._machine.code) for mark in marks]

    async def data_breakpoint_info(self, args: dap.DataBreakpointInfoArguments) -> dap.DataBreakpointInfoBody:
        if args.name not in self._machine.variables:
            return dap.DataBreakpointInfoBody(data_id=None, description=f"{args.name} is no variable")
        return dap.DataBreakpointInfoBody(data_id=args.name, description=args.name, access_types=["write"])

    async def set_data_breakpoints(self, args: dap.SetDataBreakpointsArguments) -> dap.SetDataBreakpointsBody:
        self._watched = {wanted.data_id for wanted in args.breakpoints}
        return dap.SetDataBreakpointsBody(breakpoints=[dap.Breakpoint(verified=True) for _ in args.breakpoints])

    async def set_exception_breakpoints(
        self, args: dap.SetExceptionBreakpointsArguments
    ) -> dap.SetExceptionBreakpointsBody:
        self._caught = {"" for _ in args.filters} | {option.condition or "" for option in args.filter_options or []}
        return dap.SetExceptionBreakpointsBody()

    async def exception_info(self, args: dap.ExceptionInfoArguments) -> dap.ExceptionInfoBody:
        if (here := self._machine.here) is None or here.op != "raise":
            raise RequestFailed("the program did not stop on an exception")
        return dap.ExceptionInfoBody(exception_id=here.operand, break_mode="always")

    # Running

    async def continue_(self, args: dap.ContinueArguments) -> dap.ContinueBody:
        self._resume(lambda: False)
        return dap.ContinueBody(all_threads_continued=True)

    async def next(self, args: dap.NextArguments) -> None:
        self._resume(self._step_over(args))

    async def step_in(self, args: dap.StepInArguments) -> None:
        self._resume(self._step_over(args))

    async def step_in_targets(self, args: dap.StepInTargetsArguments) -> dap.StepInTargetsBody:
        here = self._frames.get(args.frame_id)
        rest = [it for it in self._machine.code[here.address :] if (it.path, it.line) == (here.path, here.line)]
        targets = [dap.StepInTarget(id=it.address, label=it.operand) for it in rest if it.op == "call"]
        return dap.StepInTargetsBody(targets=targets)

    async def step_out(self, args: dap.StepOutArguments) -> None:
        depth = len(self._machine.frames)
        self._resume(lambda: len(self._machine.frames) < depth)

    async def step_back(self, args: dap.StepBackArguments) -> None:
        self._resume(self._step_over(args), self._machine.step_back)

    async def reverse_continue(self, args: dap.ReverseContinueArguments) -> None:
        self._resume(lambda: not self._machine.past, self._machine.step_back)

    async def pause(self, args: dap.PauseArguments) -> None:
        self._pause.set()

    def _step_over(self, args: dap.NextArguments | dap.StepInArguments | dap.StepBackArguments) -> Callable[[], bool]:
        """Make the condition under which a step is over."""
        machine, start, depth = self._machine, self._machine.here, len(self._machine.frames)

        def is_over() -> bool:
            frames, here = machine.frames, machine.here
            if len(frames) < depth or args.granularity == "instruction" or not machine.past:
                return True
            if len(frames) > depth:
                return isinstance(args, dap.StepInArguments) and args.target_id in (None, frames[depth - 1] - 1)
            return here is None or start is None or (here.path, here.line) != (start.path, start.line)

        return is_over

    def _resume(self, is_over: Callable[[], bool], move: Callable[[], Effect] | None = None) -> None:
        if self._machine.here is None:
            raise RequestFailed("nothing was launched yet")
        self._frames.clear()
        self._containers.clear()
        self._pause = anyio.Event()
        self._running = self.start_soon(self._run, is_over, move or self._machine.step)

    async def _run(self, is_over: Callable[[], bool], move: Callable[[], Effect]) -> None:
        """Run to the end, or until there is a reason to stop; the breakpoint that it stands on is behind it."""
        while (here := self._machine.here) is not None:
            effect = move()
            if effect.output:
                await self.output(effect.output, category=effect.category, source=_source(here.path), line=here.line)
            if effect.loaded is not None:
                await self._file_loaded(effect.loaded)
            with anyio.move_on_after(effect.seconds):
                await self._pause.wait()
            if await self._stops(effect, is_over):
                return
        await self.exited(self._machine.exit_code)
        await self.terminated()

    async def _stops(self, effect: Effect, is_over: Callable[[], bool]) -> bool:
        """Stop before the next instruction if there is a reason to."""
        if (here := self._machine.here) is None:
            return False
        if effect.written in self._watched:
            await self.stopped("data breakpoint", thread_id=MAIN)
        elif self._pause.is_set():
            await self.stopped("pause", thread_id=MAIN)
        elif is_over():  # without a past this is the beginning
            await self.stopped("step" if self._machine.past else "entry", thread_id=MAIN)
        elif here.op == "raise" and self._caught & {"", here.operand}:
            await self.stopped("exception", thread_id=MAIN, text=here.operand)
        elif hit := [mark.id for mark in self._marks if mark.at == here and await self._is_hit(mark)]:
            await self.stopped("breakpoint", thread_id=MAIN, hit_breakpoint_ids=hit)
        else:
            return False
        return True

    async def _is_hit(self, mark: Mark) -> bool:
        """Whether a breakpoint stops the program; one with a message prints that instead."""
        is_due = mark.is_due(self._machine)
        message = mark.wanted.log_message if isinstance(mark.wanted, dap.SourceBreakpoint) else None
        if is_due and message:
            with suppress(ValueError):  # what cannot be worked out is printed as it is
                message = re.sub(r"\{(.+?)\}", lambda found: str(self._machine.evaluate(found[1])), message)
            await self.output(f"{message}\n", category="console")
        return is_due and not message

    async def _file_loaded(self, path: Path) -> None:
        await self.loaded_source("new", _source(path))
        for mark in self._marks:
            if mark.at is None and (placed := mark.place(self._machine.code)).verified:
                await self.breakpoint("changed", placed)

    # Looking

    async def threads(self) -> dap.ThreadsBody:
        return dap.ThreadsBody(threads=[dap.Thread(id=MAIN, name="main")])

    async def stack_trace(self, args: dap.StackTraceArguments) -> dap.StackTraceBody:
        frames = list(enumerate(self._machine.frames))[::-1]
        page = frames[args.start_frame or 0 :][: args.levels or None]
        shown = [self._stack_frame(depth, self._machine.code[address]) for depth, address in page]
        return dap.StackTraceBody(stack_frames=shown, total_frames=len(frames))

    def _stack_frame(self, depth: int, at: Instruction) -> dap.StackFrame:
        return dap.StackFrame(
            id=self._frames.add(at),
            name=at.section if depth else "main",
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
        page = list(named)[args.start or 0 :][: args.count or None]
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
        except ValueError as error:
            raise RequestFailed(str(error)) from None

    async def completions(self, args: dap.CompletionsArguments) -> dap.CompletionsBody:
        begun = re.findall(r"\w*$", args.text[: dap.index_of(args.text, args.column)])[0]
        names = [name for name in self._machine.variables if name.startswith(begun)]
        return dap.CompletionsBody(targets=[dap.CompletionItem(label=name, type="variable") for name in names])

    async def loaded_sources(self) -> dap.LoadedSourcesBody:
        files = dict.fromkeys(it.path for it in self._machine.code)
        return dap.LoadedSourcesBody(sources=[_source(path) for path in files])

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
        if not isinstance(value := self._machine.variables.get(name), str):
            raise RequestFailed(f"{name} is no text, and only texts have memory")
        return bytearray(value.encode())

    async def disassemble(self, args: dap.DisassembleArguments) -> dap.DisassembleBody:
        first = int(args.memory_reference, 16) + (args.offset or 0) + (args.instruction_offset or 0)
        wanted = range(first, first + args.instruction_count)
        return dap.DisassembleBody(instructions=[self._disassembled(address) for address in wanted])

    def _disassembled(self, at: int) -> dap.DisassembledInstruction:
        if at not in range(len(self._machine.code)):
            return dap.DisassembledInstruction(address=hex(at), instruction="", presentation_hint="invalid")
        it = self._machine.code[at]
        text = " ".join(filter(None, (it.op, it.name, it.operand)))
        return dap.DisassembledInstruction(address=hex(at), instruction=text, location=_source(it.path), line=it.line)


def _source(path: Path) -> dap.Source:
    return dap.Source(name=path.name, path=str(path))


if __name__ == "__main__":
    run(MockAdapter)
