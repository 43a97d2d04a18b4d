"""A debug adapter for text files: a line is a step, and running it prints it."""

import sys
from pathlib import Path

import anyio

from dapkit import protocol as dap
from dapkit.adapter import Adapter, NoAttach, References, RequestFailed, run

MAIN = 1  # the one thread


class LineLaunch(dap.LaunchRequestArguments, frozen=True, kw_only=True):
    """What a launch configuration may say."""

    program: str
    """Path of the text file."""
    stop_on_entry: bool = False
    """Stop before the first line."""


class LineAdapter(Adapter[LineLaunch, NoAttach]):
    """Debugs a text file."""

    def __init__(self) -> None:
        self.path = Path()
        self.lines: list[str] = []
        self.line = 1  # the next one to run
        self.breakpoints: set[int] = set()
        self.stop_on_entry = False
        self.pausing = False
        self.frames = References[int]("frame")

    async def launch(self, args: LineLaunch) -> None:
        self.path, self.stop_on_entry = Path(args.program), args.stop_on_entry
        try:
            self.lines = (await anyio.Path(self.path).read_text(encoding="utf-8")).splitlines()
        except OSError as error:
            raise RequestFailed(f"cannot read {self.path}: {error.strerror}") from None

    async def set_breakpoints(self, args: dap.SetBreakpointsArguments) -> dap.SetBreakpointsBody:
        lines = [wanted.line for wanted in args.breakpoints or []]
        in_program = args.source.path == str(self.path)
        if in_program:
            self.breakpoints = set(lines)
        return dap.SetBreakpointsBody(
            breakpoints=[dap.Breakpoint(verified=in_program and line <= len(self.lines), line=line) for line in lines]
        )

    async def configuration_done(self) -> None:
        if self.stop_on_entry:
            await self.stopped("entry", thread_id=MAIN)
        else:
            self.start_soon(self._run)

    async def _run(self, first: int = 0, last: int = sys.maxsize) -> None:
        """Run lines up to the last one, or to a breakpoint that is not on the first one."""
        self.frames.clear()
        self.pausing, reason = False, None
        while reason is None and self.line <= len(self.lines):
            if self.line in self.breakpoints and self.line != first:
                reason = "breakpoint"
            elif self.pausing:
                reason = "pause"
            elif self.line > last:
                reason = "step"
            else:
                await self.output(self.lines[self.line - 1] + "\n", category="stdout")
                self.line += 1
                await anyio.sleep(0.001)
        if reason is not None:
            await self.stopped(reason, thread_id=MAIN)
            return
        await self.exited(0)
        await self.terminated()

    async def continue_(self, args: dap.ContinueArguments) -> dap.ContinueBody:
        self.start_soon(self._run, self.line)
        return dap.ContinueBody()

    async def next(self, args: dap.NextArguments) -> None:
        self.start_soon(self._run, self.line, self.line)

    async def step_in(self, args: dap.StepInArguments) -> None:
        self.start_soon(self._run, self.line, self.line)

    async def step_out(self, args: dap.StepOutArguments) -> None:
        self.start_soon(self._run, self.line)

    async def pause(self, args: dap.PauseArguments) -> None:
        self.pausing = True

    async def threads(self) -> dap.ThreadsBody:
        return dap.ThreadsBody(threads=[dap.Thread(id=MAIN, name="main")])

    async def stack_trace(self, args: dap.StackTraceArguments) -> dap.StackTraceBody:
        source = dap.Source(name=self.path.name, path=str(self.path))
        frame = dap.StackFrame(id=self.frames.add(self.line), name="text", source=source, line=self.line, column=1)
        return dap.StackTraceBody(stack_frames=[frame], total_frames=1)

    async def scopes(self, args: dap.ScopesArguments) -> dap.ScopesBody:
        self.frames.get(args.frame_id)
        scope = dap.Scope(name="Locals", variables_reference=args.frame_id, expensive=False)
        return dap.ScopesBody(scopes=[scope])

    async def variables(self, args: dap.VariablesArguments) -> dap.VariablesBody:
        values = self._values(args.variables_reference).items()
        return dap.VariablesBody(
            variables=[dap.Variable(name=name, value=value, variables_reference=0) for name, value in values]
        )

    async def evaluate(self, args: dap.EvaluateArguments) -> dap.EvaluateBody:
        values = self._values(args.frame_id or 0)
        if args.expression not in values:
            raise RequestFailed(f"only {' and '.join(values)} can be evaluated, not {args.expression}")
        return dap.EvaluateBody(result=values[args.expression], variables_reference=0)

    def _values(self, frame: int) -> dict[str, str]:
        line = self.frames.get(frame)
        return {"line": str(line), "text": repr(self.lines[line - 1])}


if __name__ == "__main__":
    run(LineAdapter)
