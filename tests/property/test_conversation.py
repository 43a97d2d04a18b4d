"""Two endpoints joined by a wire that splits anywhere, moved in any legal order: what must always hold, holds."""

import hypothesis.strategies as st
from hypothesis import note, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dapkit.endpoint import STOPPING, OutOfOrder, Phase
from dapkit.protocol import (
    Arguments,
    Breakpoint,
    Capabilities,
    ConfigurationDoneArguments,
    ContinueArguments,
    ContinueBody,
    ContinuedEvent,
    DisconnectArguments,
    Event,
    EventBody,
    InitializedEvent,
    InitializeRequestArguments,
    LaunchRequestArguments,
    NextArguments,
    OutputEvent,
    PauseArguments,
    ProtocolObject,
    Request,
    Response,
    RunInTerminalBody,
    RunInTerminalRequestArguments,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    Source,
    SourceBreakpoint,
    StoppedEvent,
    TerminatedEvent,
    ThreadEvent,
    ThreadsArguments,
    ThreadsBody,
)
from dapkit.testing import End, Moment, Pair

CAPABILITIES = Capabilities(
    supports_configuration_done_request=True, supports_cancel_request=True, supports_restart_request=True
)

ASKED: list[Arguments[object] | Arguments[None]] = [
    LaunchRequestArguments(extra={"program": "/é.py"}),
    SetBreakpointsArguments(source=Source(path="/a b.py"), breakpoints=[SourceBreakpoint(line=1, column=1)]),
    ConfigurationDoneArguments(),
    NextArguments(thread_id=1),
    NextArguments(thread_id=1, single_thread=True),
    ContinueArguments(thread_id=1),
    PauseArguments(thread_id=1),
    ThreadsArguments(),
    DisconnectArguments(),
]

BODIES: dict[str, ProtocolObject] = {
    "initialize": CAPABILITIES,
    "setBreakpoints": SetBreakpointsBody(breakpoints=[Breakpoint(verified=True, line=1)]),
    "threads": ThreadsBody(threads=[]),
    "continue": ContinueBody(all_threads_continued=False),
    "runInTerminal": RunInTerminalBody(process_id=1),
}

TOLD: list[EventBody] = [
    InitializedEvent(),
    StoppedEvent(reason="step", thread_id=1, all_threads_stopped=True),
    StoppedEvent(reason="breakpoint", thread_id=2),
    ContinuedEvent(thread_id=1),
    ContinuedEvent(thread_id=1, all_threads_continued=False),
    ThreadEvent(reason="started", thread_id=2),
    TerminatedEvent(),
]

FORMATS = st.builds(
    InitializeRequestArguments,
    adapter_id=st.just("x"),
    supports_run_in_terminal_request=st.sampled_from([True]),
    lines_start_at1=st.booleans(),
    columns_start_at1=st.booleans(),
    path_format=st.sampled_from(["path", "uri", None]),
)


class Conversation(RuleBasedStateMachine):
    """Any legal moves of both ends in any order, with bytes carried at any time."""

    @initialize(client=FORMATS, started=st.integers(0, 3))
    def set_up(self, client: InitializeRequestArguments, started: int) -> None:
        self.pair = Pair(CAPABILITIES, client)
        if started:
            self.pair.start()  # most of what matters happens after the handshake
        self.pair.adapter.answers = {}
        self.introduction = client
        self.printed: dict[str, str] = {"stdout": "", "stderr": ""}
        self.causes_of_stops: list[set[int]] = []

    # Moves

    @rule(arguments=st.sampled_from(ASKED))
    def client_asks(self, arguments: Arguments[object]) -> None:
        if self.pair.client.endpoint.phase is Phase.FRESH and arguments.command != "disconnect":
            arguments = self.introduction
        try:
            self.pair.client.send(arguments)
        except OutOfOrder as error:
            note(f"refused: {error}")

    @rule()
    def adapter_asks(self) -> None:
        try:
            self.pair.adapter.send(RunInTerminalRequestArguments(cwd="/a b", args=["true"]))
        except OutOfOrder as error:
            note(f"refused: {error}")

    @precondition(lambda self: self.pair.adapter.endpoint.unanswered or self.pair.client.endpoint.unanswered)
    @rule(data=st.data(), success=st.booleans())
    def one_end_answers(self, data: st.DataObject, *, success: bool) -> None:
        ends = [end for end in (self.pair.adapter, self.pair.client) if end.endpoint.unanswered]
        end = data.draw(st.sampled_from(ends))
        request = data.draw(st.sampled_from(end.endpoint.unanswered))
        if success:
            end.endpoint.respond(request, BODIES.get(request.command))
        else:
            end.endpoint.fail(request, "no")

    @rule(data=st.data())
    def client_cancels(self, data: st.DataObject) -> None:
        asked = [moment.message for moment in self.said_by(self.pair.client) if isinstance(moment.message, Request)]
        if asked:
            self.pair.client.cancel(data.draw(st.sampled_from(asked)))

    @rule(body=st.sampled_from(TOLD))
    def adapter_tells(self, body: EventBody) -> None:
        causes = {request.seq for request in self.pair.adapter.endpoint.unanswered if request.command in STOPPING}
        try:
            told = self.pair.adapter.tell(body)
        except OutOfOrder as error:
            note(f"refused: {error}")
        else:
            if told and isinstance(body, StoppedEvent):
                self.causes_of_stops.append(causes)

    @rule(text=st.text(max_size=5), category=st.sampled_from(["stdout", "stderr"]))
    def program_prints(self, text: str, category: str) -> None:
        if self.pair.adapter.tell(OutputEvent(output=text, category=category)):
            self.printed[category] += text

    @rule(to_client=st.booleans(), count=st.integers(1, 200))
    def wire_carries(self, *, to_client: bool, count: int) -> None:
        self.pair.carry(self.pair.client if to_client else self.pair.adapter, count)

    # What must hold at every moment

    @invariant()
    def nobody_breaks_the_protocol(self) -> None:
        for end in (self.pair.client, self.pair.adapter):
            assert end.endpoint.ended is None
        # A request that crosses the end of the session on the wire is refused, and noted; nothing else is.
        problems = [str(one) for end in (self.pair.client, self.pair.adapter) for one in end.endpoint.violations.kept]
        assert [one for one in problems if "after the session had ended" not in one and not crossing(one)] == []

    @invariant()
    def seq_counts_up_by_one_on_both_sides(self) -> None:
        for end in (self.pair.client, self.pair.adapter):
            seqs = [moment.message.seq for moment in self.said_by(end) if moment.message]
            assert seqs == list(range(1, len(seqs) + 1))

    @invariant()
    def no_request_has_two_responses(self) -> None:
        for end in (self.pair.client, self.pair.adapter):
            answered = [moment.request_seq for moment in self.said_by(end) if moment.request_seq is not None]
            assert len(answered) == len(set(answered))

    @invariant()
    def adapter_says_nothing_before_it_has_answered_initialize(self) -> None:
        for moment in self.said_by(self.pair.adapter):
            match moment.message:
                case Response(success=True, command="initialize" | "disconnect"):
                    return
                case Response():
                    continue
                case _:
                    raise AssertionError(str(moment))

    @invariant()
    def no_stop_overtakes_the_response_to_what_may_have_caused_it(self) -> None:
        stops, answered = 0, set()
        for moment in self.said_by(self.pair.adapter):
            match moment.message:
                case Response(request_seq=request_seq):
                    answered.add(request_seq)
                case Event(event="stopped"):
                    assert self.causes_of_stops[stops] <= answered
                    stops += 1

    @invariant()
    def nothing_follows_the_response_to_disconnect_but_refusals(self) -> None:
        said = [moment.message for moment in self.said_by(self.pair.adapter)]
        over = [
            at
            for at, one in enumerate(said)
            if isinstance(one, Response) and one.command == "disconnect" and one.success
        ]
        if over:
            assert all(isinstance(one, Response) for one in said[over[0] :])

    def teardown(self) -> None:
        """Answer everything and let everything arrive; then both ends agree."""
        if not hasattr(self, "pair"):
            return
        self.pair.run_until_idle()
        for _ in range(2):
            for end in (self.pair.adapter, self.pair.client):
                for request in end.endpoint.unanswered:
                    end.endpoint.fail(request, "no")
            self.pair.run_until_idle()
        self.ends_agree()
        self.every_request_was_answered()
        self.output_is_complete()
        assert self.pair.timeline.violations() == []

    def ends_agree(self) -> None:
        client, adapter = self.pair.client.endpoint, self.pair.adapter.endpoint
        assert client.phase is adapter.phase
        assert client.capabilities == adapter.capabilities
        assert client.unanswered == adapter.unanswered == ()

    def every_request_was_answered(self) -> None:
        for asker, answerer in ((self.pair.client, self.pair.adapter), (self.pair.adapter, self.pair.client)):
            asked = {moment.message.seq for moment in self.said_by(asker) if isinstance(moment.message, Request)}
            assert asked == {moment.request_seq for moment in self.said_by(answerer)} - {None}

    def output_is_complete(self) -> None:
        if self.pair.client.endpoint.phase in (Phase.FRESH, Phase.OVER):
            return  # nobody was there to hear it, or left before it was all said
        heard = {"stdout": "", "stderr": ""}
        for event in self.pair.client.events():
            if isinstance(event.body, OutputEvent) and event.body.category:
                heard[event.body.category] += event.body.output
        assert heard == self.printed

    def said_by(self, end: End) -> list[Moment]:
        return [moment for moment in self.pair.timeline.moments if moment.speaker is end.endpoint.role]


def crossing(problem: str) -> bool:
    """Whether a breach is only two messages that passed each other on the wire."""
    return any(words in problem for words in ("came before the response to request", "came a second time"))


TestConversation = Conversation.TestCase
TestConversation.settings = settings(max_examples=200, stateful_step_count=40)
