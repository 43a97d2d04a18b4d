"""A tour through all actions with one adapter.

An action counts as a yes only if its effect was seen: a breakpoint has stopped the program, a value was read back, a
program that was released has run on. The tour takes four starts, or five: a program that is looked at and stepped
through to its end, one whose history is recorded, one that runs on and is typed to, one that runs already, and one of
which there is a core file.
"""

import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from subprocess import DEVNULL, PIPE

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from action_fixtures import Answer, Caller
from e2e.matrix.subjects import Subject
from e2e.matrix.trial import Trial, refusal, succeeded

_NOWHERE = "0x1000"
"""An address for what an adapter is going to refuse in any case."""

_TARGET_OF_PYTHON = """
import os, runpy, {adapter}
print({listens}, flush=True)
runpy.run_path(os.path.abspath("{source}"), run_name="__main__")
"""


class Tour:
    """One tour; the program is in the caller's project."""

    def __init__(self, caller: Caller, subject: Subject) -> None:
        self.subject = subject
        self.trial = Trial(caller)
        self._call = caller
        self._do, self._see, self._saw = self.trial.do, self.trial.see, self.trial.saw

    async def take(self) -> dict[str, str]:
        """Try every action and return the verdicts."""
        await self._step_through()
        if self.subject.recording:
            await self._record()
        await self._run_on()
        await self._attach()
        await self._open_core()
        await self._run_at_once()
        return self.trial.verdicts()

    # Where the program is

    def _is_at(self, role: str) -> Callable[[Answer], bool]:
        """Make the condition that the program stands on a line."""
        line = self.subject.place(role)[1]
        return lambda answer: succeeded(answer) and answer.details["snapshot"].get("line") == line

    async def _continues_to(self, role: str) -> bool:
        """Continue, and say whether a breakpoint ends that at a line."""
        answer = await self._do("continue")
        return self._is_at(role)(answer) and "breakpoint" in answer.details["snapshot"]["stopReason"]

    async def _depth(self) -> int:
        return len((await self._do("stack_trace", levels=100)).details["stackFrames"])

    async def _value(self, expression: str) -> str:
        answer = await self._do("evaluate", expression=expression, context="watch")
        return str(answer.details["evaluation"]["result"]) if succeeded(answer) else answer.text

    # A program that is stepped through

    async def _run_at_once(self) -> None:
        file, add = self.subject.place("add")
        await self._see(
            "run",
            lambda it: it.details["stops"][0]["values"][0]["evaluation"]["result"] == "1",
            program=self.subject.program,
            adapter=self.subject.adapter,
            breakpoints=[{"breakpoint": f"{file}:{add}", "expressions": ["number"]}],
        )
        await self._see(
            "probe",
            lambda it: [row["values"][0]["evaluation"]["result"] for row in it.details["table"]["rows"]][::2] == ["1"],
            program=self.subject.program,
            adapter=self.subject.adapter,
            location=f"{file}:{add}",
            expressions=["number"],
            hits=2,
            timeout=60,
        )
        await self._see(
            "trace",
            lambda it: it.details["line"] == add and len(it.details["rows"]) > 1,
            program=self.subject.program,
            adapter=self.subject.adapter,
            location=f"{file}:{add}",
            steps=5,
            timeout=60,
        )
        await self._see(
            "autopsy",
            lambda it: len(it.details["frames"]) > 0,
            program=self.subject.program,
            adapter=self.subject.adapter,
            exceptions=[self.subject.filter] if self.subject.filter else None,
            timeout=60,
        )
        await self._see(
            "compare_runs",
            lambda it: it.details["stops"][1] >= it.details["alike"] > 0,
            program=self.subject.program,
            adapter=self.subject.adapter,
            breakpoints=[{"breakpoint": f"{file}:{add}", "expressions": ["number"]}],
            other={},
            timeout=60,
        )

    async def _step_through(self) -> None:
        file, add = self.subject.place("add")
        launched = await self._see(
            "launch",
            self._is_at("add"),
            program=self.subject.program,
            adapter=self.subject.adapter,
            breakpoints=[f"{file}:{add}"],
            timeout=60,
        )
        assert succeeded(launched), launched.text
        await self._look()
        await self._assign()
        await self._step()
        await self._see("diff", lambda it: it.details["second"].startswith("Stop "))
        await self._break_on_lines()
        await self._break_on_instructions()
        await self._break_on_data()
        await self._reach_into_memory()
        await self._run_to_a_call()
        await self._break_off()
        await self._see("restart", self._is_at("add"), timeout=60)
        await self._see("terminate", lambda it: bool(it.details["snapshot"]["status"] == "terminated"))

    async def _look(self) -> None:
        file, add = self.subject.place("add")
        await self._see("sessions", lambda it: [one["status"] for one in it.details["sessions"]] == ["stopped"])
        await self._see("threads", lambda it: len(it.details["threads"]) > 0)
        await self._see("stacks", lambda it: any(group["own"] for group in it.details["groups"]))
        await self._see("custom_request", lambda it: len(it.details["customBody"]["threads"]) > 0, command="threads")
        await self._see(
            "stack_trace",
            lambda it: (
                it.details["stackFrames"][0]["line"] == add
                and any("add" in one["name"] for one in it.details["stackFrames"][:2])  # cmake: its command comes first
            ),
        )
        program = str(self._call.project / self.subject.program)
        await self._see("modules", lambda it: any(one.get("path") == program for one in it.details["modules"]))
        await self._see("loaded_sources", lambda it: any(one["name"].endswith(file) for one in it.details["sources"]))
        await self._see("source", lambda it: "(add)" in it.details["content"])
        scopes = await self._see("scopes", lambda it: len(it.details["scopes"]) > 0)
        references = [one["variablesReference"] for one in scopes.details["scopes"]]
        self._saw("variables", await self._is_number_in(references, depth=2))
        self._saw("evaluate", await self._value("number") == "1")
        await self._see(
            "watch", lambda it: it.details["expressions"][0]["evaluation"]["result"] == "1", expressions=["number"]
        )
        await self._see(
            "completions",
            lambda it: any("number" in one["label"] for one in it.details["completions"]),
            expression="numb",
        )

    async def _is_number_in(self, references: list[int], *, depth: int) -> bool:
        """Look for the variable in scopes, and in the groups that there may be in them."""
        for reference in filter(None, references if depth else ()):
            found = await self._do("variables", variable_ref=reference, match="number")
            if ("number", "1") in [(one["name"], one["value"]) for one in found.details["variables"]]:
                return True
            members = (await self._do("variables", variable_ref=reference)).details["variables"]
            if await self._is_number_in([one["variablesReference"] for one in members], depth=depth - 1):
                return True
        return False

    async def _assign(self) -> None:
        await self._do("set_variable", name="number", value="5")
        self._saw("set_variable", await self._value("number") == "5")
        await self._do("set_expression", expression="number", value="7")
        self._saw("set_expression", await self._value("number") == "7")

    async def _step(self) -> None:
        file, add = self.subject.place("add")
        await self._see("step_over", self._is_at("added"))
        await self._see("goto", self._is_at("add"), file=file, line=add)
        if not self.subject.recording:
            await self._go_back()
        depth = await self._depth()
        await self._do("step_out")
        self._saw("step_out", await self._depth() == depth - 1)

    async def _go_back(self) -> None:
        """Go back from the line `added`."""
        _, add = self.subject.place("add")
        if not self.subject.build:
            await self._see("why", lambda it: (it.details["line"], it.details["new"]) == (add, "1"), expression="total")
        await self._see(
            "timeline", lambda it: it.details["now"] == it.details["live"] == it.details["stops"][-1]["clock"]
        )
        await self._see("step_back", self._is_at("add"))
        await self._see("travel_to", self._is_at("add"), clock=await self._clock())
        went_back = await self._see("reverse_continue", lambda it: bool(it.details["stop"]["reason"] == "entry"))
        if succeeded(went_back):
            await self._continues_to("add")

    async def _clock(self) -> int:
        """Return which moment is shown, for adapters that tell."""
        told = await self._do("timeline")
        return int(told.details["now"]) if succeeded(told) else 0

    async def _record(self) -> None:
        """Go back in a program whose history is recorded."""
        file, added = self.subject.place("added")
        await self._do(
            "launch",
            program=self.subject.program,
            adapter=self.subject.adapter,
            breakpoints=[f"{file}:{added}"],
            options=dict(self.subject.recording),
            timeout=60,
        )
        await self._go_back()
        await self._do("terminate")

    async def _break_on_lines(self) -> None:
        file, added = self.subject.place("added")
        self._saw("continue", await self._continues_to("add"))
        await self._do("set_breakpoint", file=file, line=added)
        self._saw("set_breakpoint", await self._continues_to("added"))
        line = self.subject.place("add")[1]
        if self.subject.build:  # by another run
            await self._see("why", lambda it: it.details["line"] == line, expression=self.subject.total, timeout=120)
        await self._do("remove_breakpoint", file=file, line=added)
        self._saw("remove_breakpoint", await self._passes_on())

    async def _passes_on(self) -> bool:
        """Say whether nothing but the breakpoint on `add` stops the program from one call of it to the next."""
        await self._continues_to("add")
        return await self._continues_to("add")

    async def _break_on_instructions(self) -> None:
        shown = await self._see("disassemble", lambda it: len(it.details["disassembly"]) == 4, instruction_count=4)
        place = shown.details["disassembly"][1]["address"] if succeeded(shown) else _NOWHERE
        placed = await self._do("set_instruction_breakpoint", instruction_reference=place)
        if succeeded(placed):
            stopped = await self._do("continue")
            at = stopped.details["snapshot"].get("instructionPointerReference", _NOWHERE)
            self._saw("set_instruction_breakpoint", int(at, 16) == int(place, 16))
        await self._do("remove_instruction_breakpoint", instruction_reference=place)
        if succeeded(placed):
            self._saw("remove_instruction_breakpoint", await self._passes_on())

    async def _break_on_data(self) -> None:
        info = await self._do("data_breakpoint_info", name=self.subject.total)
        data = info.details["dataBreakpointInfo"]["dataId"] if succeeded(info) else "none"
        self._saw("data_breakpoint_info", data is not None)
        if data is None:
            self.trial.refused.update(
                dict.fromkeys(("set_data_breakpoint", "remove_data_breakpoint"), "needs a data id")
            )
            return
        total = await self._value(self.subject.total)
        placed = await self._do("set_data_breakpoint", data_id=data, access_type="write")
        if succeeded(placed):
            stopped = await self._do("continue")
            is_watched = "data" in stopped.details["snapshot"]["stopReason"]
            self._saw("set_data_breakpoint", is_watched and await self._value(self.subject.total) != total)
        await self._do("remove_data_breakpoint", data_id=data)
        if succeeded(placed):
            self._saw("remove_data_breakpoint", await self._passes_on())

    async def _reach_into_memory(self) -> None:
        place, wanted = await self._memory_reference(), "AQIDBA=="
        before = await self._see(
            "read_memory", lambda it: bool(it.details["memoryData"]), memory_reference=place, count=4
        )
        await self._do("write_memory", memory_reference=place, data=wanted)
        if succeeded(before):
            after = await self._do("read_memory", memory_reference=place, count=4)
            self._saw("write_memory", before.details["memoryData"] != wanted == after.details["memoryData"])

    async def _memory_reference(self) -> str:
        if self.subject.memory_reference:
            return self.subject.memory_reference
        answer = await self._do("evaluate", expression=self.subject.memory, context="watch")
        told = answer.details["evaluation"] if succeeded(answer) else {"result": ""}
        address = re.search("0x[0-9a-fA-F]+", told["result"])
        return told.get("memoryReference") or (address[0] if address else _NOWHERE)

    async def _run_to_a_call(self) -> None:
        file, call = self.subject.place("call")
        await self._see("breakpoints", lambda it: not it.details["breakpoints"][0]["enabled"], do="disable")
        await self._see("run_to", self._is_at("call"), file=file, line=call)
        await self._see("step_in", lambda it: self._is_at("add")(it) or "add" in it.details["snapshot"]["frameName"])
        await self._see("breakpoints", lambda it: bool(it.details["breakpoints"][0]["enabled"]), do="enable")
        self._saw("breakpoints", await self._continues_to("add"))

    async def _break_off(self) -> None:
        """Let the program come to what it breaks off by, and put all breakpoints back."""
        filters = [self.subject.filter] if self.subject.filter else []
        await self._do("set_exception_breakpoints", filters=filters)
        await self._do("breakpoints", do="disable")
        stopped = await self._continues_to_an_exception()
        if filters:
            self._saw("set_exception_breakpoints", stopped)
        else:
            self.trial.refused.setdefault("set_exception_breakpoints", f"{self.subject.language} has no exceptions")
        await self._see("exception_info", lambda it: bool(it.details["exception"]["exceptionId"]))
        await self.trial.until("output", lambda it: "total" in it.details["output"])
        self._saw("output", fact=True)
        await self._do("set_exception_breakpoints", filters=[])
        await self._do("breakpoints", do="enable")

    async def _continues_to_an_exception(self) -> bool:
        """Continue to the program's own exception, past those that Python's libraries raise and catch."""
        while True:
            answer = await self._do("continue")
            place = answer.details["snapshot"]
            if place["status"] == "terminated":
                return False
            frames = answer.details["stop"]["frames"]
            path = frames[0].get("source", {}).get("path", "") if frames else ""
            if not path.endswith(".py") or path.endswith(self.subject.source):
                return place["stopReason"] == "exception" or "throw" in place["frameName"]  # gdb: a breakpoint

    # A program that runs on

    async def _run_on(self) -> None:
        program, *args = self.subject.waiting
        wanted = {"program": program, "args": args, "adapter": self.subject.adapter, "stop_on_entry": False}
        launched = await self._call("launch", terminal=True, **wanted)
        has_terminal = succeeded(launched)
        if not has_terminal:
            self.trial.refused["stdin"] = refusal(launched)
            launched = await self._call("launch", **wanted)
        assert succeeded(launched), launched.text
        file, tick = self.subject.place("tick")
        await self._do("set_breakpoint", file=file, line=tick)
        if has_terminal:
            await self._do("stdin", input="line\n", end=True)
        waited = await self._see("wait", self._is_at("tick"))
        if has_terminal:
            await self.trial.until("output", lambda it: "read line" in it.details["output"])
            self._saw("stdin", self._is_at("tick")(waited))
        await self._do("breakpoints", do="clear")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._call, "continue")
            await self.trial.until("sessions", lambda it: it.details["sessions"][0]["status"] == "running")
            await self._see("pause", lambda it: bool(it.details["snapshot"]["status"] == "stopped"))
        await self._do("terminate")

    # A program that runs already

    async def _attach(self) -> None:
        if not (self.subject.build or self.subject.listens or self.subject.interpreter):
            self.trial.refused["attach"] = refusal(await self._call("attach", pid=1, adapter=self.subject.adapter))
            self.trial.refused["detach"] = "nothing was attached to"
            return
        async with self._target() as (where, said):
            attached = await self._do("attach", adapter=self.subject.adapter, **where)
            assert succeeded(attached), attached.text
            file, tick = self.subject.place("tick")
            await self._do("set_breakpoint", file=file, line=tick)
            stands = attached.details["snapshot"]["status"] == "stopped"
            stopped = await self._do("continue" if stands else "wait")
            self._saw("attach", self._is_at("tick")(stopped))
            await self._do("detach")
            self._call.write("over", "")
            self._saw("detach", await _line_of(said) == "over")

    async def _open_core(self) -> None:
        core = self._call.project / "app.core"
        if self.subject.build:
            (self._call.project / "over").unlink(missing_ok=True)  # by which `_attach` has ended the program
            async with self._target() as (where, _):  # by gcore, which needs no kernel that writes core files
                write = ["-ex", f"generate-core-file {core}", "-ex", "detach"]
                await anyio.run_process(["gdb", "-nx", "-batch", "-p", str(where["pid"]), *write], env=self._call.env)
        opened = await self._do("core", program=self.subject.program, core=str(core), adapter=self.subject.adapter)
        if not succeeded(opened):
            return
        stack = (await self._do("stack_trace", levels=100)).details["stackFrames"]
        self._saw("core", any("main" in frame["name"] for frame in stack))
        await self._do("terminate")

    @asynccontextmanager
    async def _target(self) -> AsyncIterator[tuple[dict[str, int], BufferedByteReceiveStream]]:
        """Start the program; yield how it can be attached to, and what it writes."""
        subject = self.subject
        command = [subject.interpreter, subject.source] if subject.interpreter else [f"./{subject.program}"]
        if subject.listens:
            command = [sys.executable, "-c", _TARGET_OF_PYTHON.format(**vars(subject))]
        async with await anyio.open_process(
            [*command, "wait"], stdin=DEVNULL, stdout=PIPE, stderr=None, cwd=self._call.project
        ) as program:
            try:
                assert program.stdout is not None
                said = BufferedByteReceiveStream(program.stdout)
                where = {"port": int(await _line_of(said))} if subject.listens else {"pid": program.pid}
                assert await _line_of(said) == "ready"
                yield where, said
            finally:
                if program.returncode is None:
                    program.kill()


async def _line_of(stream: BufferedByteReceiveStream) -> str:
    with anyio.fail_after(60):
        return (await stream.receive_until(b"\n", 1000)).decode()
