"""How often an adapter is asked at a stop, and what a report does without the answers."""

from action_fixtures import Caller
from dapkit.agent import limits
from dapkit.agent.handler import ActionHandler
from dapkit.protocol import Request, Scope, ScopesBody, StackFrame, StackTraceBody, Variable, VariablesBody
from dapkit.sessions.registry import SessionRegistry
from dapkit.testing import FakePeer, Script, refuse, reply
from fake_adapters import FILE, script, stack, start, stopping

LOCALS: Script = {
    "scopes": [reply(ScopesBody(scopes=[Scope(name="Locals", variables_reference=5, expensive=False)]))],
    "variables": [reply(VariablesBody(variables=[Variable(name="n", value="1", variables_reference=0)]))],
}


class Counted:
    """A session whose adapter keeps the commands that it received."""

    def __init__(self, sessions: SessionRegistry, answers: Script) -> None:
        self.commands: list[str] = []
        self._sessions = sessions
        self._answers = {command: [self._counting, *steps] for command, steps in script(answers).items()}

    async def caller(self) -> Caller:
        """Start the program and return who has actions performed on it."""
        await self._sessions.open(FILE.parent, start(self._answers))
        return Caller(ActionHandler(self._sessions), FILE.parent)

    async def _counting(self, _peer: FakePeer, request: Request) -> None:
        self.commands.append(request.command)


def deep(frames: int) -> StackTraceBody:
    """Return a stack of an adapter that reports all of it, whatever was asked for."""
    return StackTraceBody(
        stack_frames=[StackFrame(id=100 + depth, name=f"f{depth}", line=1, column=1) for depth in range(frames)]
    )


async def test_stack_is_asked_for_once_at_a_stop(sessions: SessionRegistry) -> None:
    counted = Counted(sessions, {**LOCALS, "next": [reply(), stopping("step")]})
    caller = await counted.caller()
    await caller("wait")
    counted.commands.clear()
    report = (await caller("step_over")).details["stop"]
    assert [frame["name"] for frame in report["frames"]] == ["f"]
    assert sorted(counted.commands) == ["next", "scopes", "stackTrace", "variables"]


async def test_report_shows_as_many_frames_as_it_did_when_it_asked_for_them_itself(sessions: SessionRegistry) -> None:
    caller = await Counted(sessions, {"stackTrace": [reply(deep(50))]}).caller()
    report = (await caller("wait")).details["stop"]
    assert [frame["name"] for frame in report["frames"]] == ["f0", "f1", "f2", "f3", "f4"]
    assert (len(report["frames"]), report["moreFrames"]) == (limits.REPORT_FRAMES, -1)


async def test_stack_that_could_not_be_read_at_the_stop_is_asked_for_again(sessions: SessionRegistry) -> None:
    counted = Counted(sessions, {"stackTrace": [refuse("not yet")]})
    report = (await (await counted.caller())("wait")).details["stop"]
    assert counted.commands.count("stackTrace") == 2
    assert any("the stack and the source" in text for text in report["incomplete"])


async def test_frames_of_a_report_can_be_asked_about(sessions: SessionRegistry) -> None:
    caller = await Counted(sessions, {**LOCALS, "stackTrace": [stack(7)]}).caller()
    report = (await caller("wait")).details["stop"]
    assert (await caller("scopes", frame_id=report["frames"][0]["id"])).details["scopes"][0]["name"] == "Locals"
