"""From requests to handlers to responses: concurrency, errors, cancellation, launch, the end."""

import asyncio
import contextlib
from typing import Any

import anyio
import msgspec
import pytest

from dapkit import limits
from dapkit.adapter import (
    Adapter,
    DefinitionError,
    NoAttach,
    NoLaunch,
    NotServed,
    Proceed,
    RequestFailed,
    ResponseBody,
    custom_request,
)
from dapkit.endpoint import Endpoint, Phase, Role
from dapkit.protocol import (
    AttachRequestArguments,
    CancelArguments,
    Capabilities,
    ConfigurationDoneArguments,
    DisconnectArguments,
    EvaluateArguments,
    EvaluateBody,
    InitializedEvent,
    InitializeRequestArguments,
    LaunchRequestArguments,
    Message,
    NextArguments,
    OutputEvent,
    PauseArguments,
    Request,
    RestartArguments,
    RunInTerminalBody,
    StoppedEvent,
    TerminatedEvent,
    Thread,
    ThreadsArguments,
    ThreadsBody,
    changed,
)
from dapkit.transport import ConversationLost, DeadlineExceeded, background_tasks, memory_pair
from dapkit.transport import limits as transport_limits
from sdk_client import Client, client_of


class Launch(LaunchRequestArguments, frozen=True, kw_only=True):
    program: str = "here.txt"
    stop_on_entry: bool = False


class Desk(Adapter[Launch, NoAttach]):
    """An adapter whose `evaluate` does what the expression says."""

    def __init__(self) -> None:
        self.launched: Launch | None = None
        self.log: list[str] = []
        self.gate = anyio.Event()

    async def launch(self, args: Launch) -> None:
        self.launched = args

    async def threads(self) -> ThreadsBody:
        return ThreadsBody(threads=[Thread(id=1, name="main")])

    async def next(self, args: NextArguments) -> None:
        await self.stopped("step", thread_id=args.thread_id)

    async def restart(self, args: Launch | None) -> None:
        self.log.append(f"restart {args.program if args else None}")

    async def evaluate(self, args: EvaluateArguments) -> EvaluateBody:
        self.log.append(f"begin {args.expression}")
        try:
            match args.expression:
                case "wait":
                    await self.gate.wait()
                case "open":
                    self.gate.set()
                case "fail":
                    raise RequestFailed("no such thing", message="notFound")
                case "fail badly":
                    raise RequestFailed("no such thing", error=Message(id=2**40, format="too large an id"))
                case "crash":
                    raise ZeroDivisionError("by zero")
                case "nothing":
                    return None  # type: ignore[return-value] # a mistake to be answered
                case "terminal":
                    body = await self.run_in_terminal("/", ["true"])
                    return EvaluateBody(result=str(body.process_id), variables_reference=0)
                case "late crash":
                    self.start_soon(self._crash)
        finally:
            self.log.append(f"end {args.expression}")
        return EvaluateBody(result=args.expression, variables_reference=0)

    async def _crash(self) -> None:
        raise ZeroDivisionError("in the background")

    async def disconnect(self, args: DisconnectArguments) -> None:
        self.log.append("disconnect")

    async def closing(self) -> None:
        self.log.append("closing")


class Customised(Desk):
    """An adapter with requests of its own, and errors that people should read."""

    @custom_request("desk/tidy")
    async def tidy(self) -> dict[str, object]:
        return {"tidy": True}

    @custom_request("desk/break")
    async def smash(self) -> Any:  # noqa: ANN401 - a mistake to be answered
        return object()

    async def pause(self, args: PauseArguments) -> None:
        raise RequestFailed("not {now}", show_user=False if args.thread_id == 2 else None)


async def test_a_custom_request_may_return_a_dict() -> None:
    async with client_of(Customised()) as client:
        await client.start()
        body = await client.connection.request_custom("desk/tidy")
        assert body is not None
        assert bytes(body) == b'{"tidy":true}'
        with pytest.raises(RequestFailed, match="object cannot be written as JSON"):
            await client.connection.request_custom("desk/break")


async def test_errors_of_what_a_user_does_are_shown_unless_the_handler_says_otherwise() -> None:
    async with client_of(Customised()) as client:
        await client.start()
        shown = []
        for arguments in (PauseArguments(thread_id=1), PauseArguments(thread_id=2), evaluate("fail")):
            with pytest.raises(RequestFailed) as caught:
                await client.request(arguments)
            assert caught.value.error is not None
            shown.append((caught.value.text, caught.value.error.show_user))
    assert shown == [("not {now}", True), ("not {now}", False), ("no such thing", None)]


class Stubborn(Desk):
    """An adapter whose `evaluate` ends only after the session."""

    async def evaluate(self, args: EvaluateArguments) -> EvaluateBody:
        with anyio.CancelScope(shield=True):
            await self.gate.wait()
            await anyio.sleep(0.05)
        self.log.append("end")
        raise RequestFailed("too late")

    async def closing(self) -> None:
        await super().closing()
        self.gate.set()


def evaluate(expression: str) -> EvaluateArguments:
    return EvaluateArguments(expression=expression)


async def refusal(client: Client, expression: str) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        await client.request(evaluate(expression))
    return caught.value


# What a client is promised


class Polite(Desk):
    """An adapter whose capabilities depend on the client."""

    def capabilities_for(self, client: InitializeRequestArguments) -> Capabilities:
        promised = changed(super().capabilities_for(client), supports_evaluate_for_hovers=client.client_id == "kind")
        return changed(promised, supports_goto_targets_request=True) if client.client_id == "rash" else promised


@pytest.mark.parametrize(("name", "promised"), [("kind", True), ("other", False)])
async def test_capabilities_may_depend_on_the_client(name: str, promised: bool) -> None:
    async with client_of(Polite()) as client:
        await client.start(introduction=InitializeRequestArguments(adapter_id="x", client_id=name))
        assert client.connection.endpoint.capabilities.supports_evaluate_for_hovers is promised


async def test_what_no_handler_keeps_is_not_promised() -> None:
    async with client_of(Polite()) as client:
        with pytest.raises(
            RequestFailed, match="cannot promise supports_goto_targets_request without a handler of goto"
        ):
            await client.start(introduction=InitializeRequestArguments(adapter_id="x", client_id="rash"))


async def test_nor_is_it_promised_later() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
        with pytest.raises(DefinitionError, match="cannot promise supports_step_back without a handler of stepBack"):
            await adapter.capabilities(Capabilities(supports_step_back=True))
        assert await adapter.capabilities(Capabilities(supports_step_back=False))


# Answers


async def test_a_handler_returns_the_body_of_the_response() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        assert (await client.request(ThreadsArguments())).threads == [Thread(id=1, name="main")]


async def test_what_is_not_defined_is_refused() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        with pytest.raises(RequestFailed, match="unsupported request: pause"):
            await client.request(PauseArguments(thread_id=1))


async def test_request_failed_carries_its_text_and_its_short_form() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        failure = await refusal(client, "fail")
        assert (failure.text, failure.message) == ("no such thing", "notFound")


async def test_an_error_that_the_protocol_does_not_allow_is_answered_all_the_same() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        failure = await refusal(client, "fail badly")
        assert failure.text.startswith("internal error in evaluate: InvalidValue: $.body.error.id")


async def test_any_other_error_is_an_internal_error_with_type_and_text(caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(Desk()) as client:
        await client.start()
        failure = await refusal(client, "crash")
        assert failure.text == "internal error in evaluate: ZeroDivisionError: by zero"
        assert "Traceback" in caplog.text


async def test_a_handler_that_forgets_its_body_is_answered_with_an_error() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        failure = await refusal(client, "nothing")
        assert "the handler returned NoneType, expected EvaluateBody" in failure.text


async def test_stopped_leaves_after_the_response_of_the_step_that_caused_it() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        await client.request(NextArguments(thread_id=1))
        assert await client.event(StoppedEvent) == StoppedEvent(reason="step", thread_id=1)


async def test_requests_run_side_by_side() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, evaluate("wait"))
            await client.request(evaluate("open"))


async def test_a_handler_has_come_to_its_first_wait_before_the_next_request_is_looked_at() -> None:
    adapter = Desk()
    theirs, ours = memory_pair()
    client = Endpoint(Role.CLIENT)
    async with background_tasks() as tasks:
        tasks.start_soon(adapter.serve_stream, theirs)
        client.request(InitializeRequestArguments(adapter_id="test"))
        await ours.send(client.bytes_to_send())
        while client.phase is not Phase.READY:
            client.receive(await ours.receive())
        slow = client.request(evaluate("wait"))
        client.request(CancelArguments(request_id=slow.seq))
        client.request(evaluate("open"))
        await ours.send(client.bytes_to_send())
        await anyio.wait_all_tasks_blocked()
        assert adapter.log == ["begin wait", "begin open", "end open", "end wait"]
        await ours.aclose()


async def test_a_session_ends_only_after_handlers_that_put_their_end_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.05)
    adapter = Stubborn()
    with anyio.fail_after(30):
        async with client_of(adapter) as client, anyio.create_task_group() as tasks:
            await client.start()
            tasks.start_soon(refusal, client, "wait")
            await anyio.wait_all_tasks_blocked()
            await client.request(DisconnectArguments())
    assert adapter.log == ["disconnect", "closing", "end"]


async def test_tasks_that_many_requests_at_once_have_needed_end_after_them() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
        before = len(asyncio.all_tasks())
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(client.request, evaluate("wait"))
            await anyio.wait_all_tasks_blocked()
            await client.request(evaluate("open"))
        await anyio.wait_all_tasks_blocked()
        assert len(asyncio.all_tasks()) == before


async def test_an_attribute_of_the_object_does_not_hide_a_handler() -> None:
    adapter = Desk()
    adapter.threads = 3  # type: ignore[method-assign,assignment] # a mistake that must do no harm
    async with client_of(adapter) as client:
        await client.start()
        assert (await client.request(ThreadsArguments())).threads


# Cancellation


async def test_cancel_ends_the_handler_with_one_response_that_says_cancelled() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
        with pytest.raises(DeadlineExceeded):
            await client.connection.request(evaluate("wait"), deadline=0.01)
        await client.request(ThreadsArguments())
        assert adapter.log == ["begin wait", "end wait"]
        assert client.connection.endpoint.violations.kept == []


async def test_disconnect_cancels_what_is_pending_and_answers_it_first() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
        answers: list[str] = []

        async def ask() -> None:
            answers.append((await refusal(client, "wait")).message)
            answers.append(",".join(adapter.log))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await client.request(DisconnectArguments())
        assert answers[0] == "cancelled"
        assert adapter.log == ["begin wait", "end wait", "disconnect", "closing"]


class Queue(Desk):
    serial = True


async def test_serial_handlers_run_one_after_the_other() -> None:
    adapter = Queue()
    async with client_of(adapter) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, evaluate("wait"))
            tasks.start_soon(client.request, evaluate("second"))
            tasks.start_soon(client.request, evaluate("third"))
            await anyio.wait_all_tasks_blocked()
            assert adapter.log == ["begin wait"]
            adapter.gate.set()
        assert adapter.log == ["begin wait", "end wait", "begin second", "end second", "begin third", "end third"]


async def test_a_serial_request_that_waits_its_turn_is_cancelled_at_once() -> None:
    adapter = Queue()
    async with client_of(adapter) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, evaluate("wait"))
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(DeadlineExceeded):
                await client.connection.request(evaluate("second"), deadline=0.01)
            await anyio.wait_all_tasks_blocked()
            assert client.connection.endpoint.violations.kept == []
            adapter.gate.set()
        await client.request(ThreadsArguments())
        assert "begin second" not in adapter.log


class PartlyQueued(Desk):
    serial = ("evaluate",)


async def test_only_the_named_handlers_are_serial() -> None:
    adapter = PartlyQueued()
    async with client_of(adapter) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, evaluate("wait"))
            await client.request(ThreadsArguments())
            adapter.gate.set()


# Launch and configuration


async def test_launch_arguments_are_read_into_the_type_of_the_author_and_keep_unknown_keys() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start(LaunchRequestArguments(no_debug=True, extra={"program": "a", "stopOnEntry": True, "odd": 1}))
    assert adapter.launched is not None
    assert (adapter.launched.program, adapter.launched.stop_on_entry, adapter.launched.no_debug) == ("a", True, True)
    assert dict(adapter.launched.extra) == {"odd": 1}


async def test_wrong_launch_arguments_are_an_error_with_the_path() -> None:
    async with client_of(Desk()) as client:
        await client.initialize()
        with pytest.raises(RequestFailed, match=r"launch: \$\.arguments\.program: expected .*str"):
            await client.request(LaunchRequestArguments(extra={"program": 3}))
        assert client.events == []


async def test_launch_may_be_tried_again_after_it_failed() -> None:
    async with client_of(Desk()) as client:
        await client.initialize()
        with pytest.raises(RequestFailed):
            await client.request(LaunchRequestArguments(extra={"program": 3}))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, LaunchRequestArguments())
            await client.event(InitializedEvent)
            await client.request(ConfigurationDoneArguments())


class Chatty(Desk):
    async def launch(self, args: Launch) -> None:
        await self.initialized()
        await self.output("loaded\n")


class Hesitant(Chatty):
    """Says `initialized`, and then fails at the first launch."""

    async def launch(self, args: Launch) -> None:
        await super().launch(args)
        if args.program == "wrong":
            raise RequestFailed("not this one")


async def test_a_second_launch_has_a_configuration_of_its_own() -> None:
    async with client_of(Hesitant()) as client:
        await client.initialize()
        with pytest.raises(RequestFailed, match="not this one"):
            await client.request(LaunchRequestArguments(extra={"program": "wrong"}))
        await client.event(InitializedEvent)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.request, LaunchRequestArguments())
            await client.event(InitializedEvent)
            await client.request(ConfigurationDoneArguments())


async def test_attach_is_refused_where_the_adapter_only_launches() -> None:
    async with client_of(Desk()) as client:
        await client.initialize()
        with pytest.raises(RequestFailed, match="unsupported request: attach"):
            await client.request(AttachRequestArguments())


class Probe(msgspec.Struct):
    pid: int


class Attaching(Adapter[NoLaunch, Probe]):
    probe: Probe | None = None

    async def attach(self, args: Probe) -> None:
        self.probe = args


async def test_any_struct_will_do_for_the_arguments() -> None:
    adapter = Attaching()
    async with client_of(adapter) as client:
        await client.start(AttachRequestArguments(extra={"pid": 4, "name": "x"}))
    assert adapter.probe == Probe(pid=4)


async def test_restart_gets_the_new_configuration_or_none() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
        await client.request(RestartArguments())
        await client.request(RestartArguments(arguments={"program": "other"}))
        with pytest.raises(RequestFailed, match=r"restart: \$\.arguments\.arguments\.program: expected .*str"):
            await client.request(RestartArguments(arguments={"program": 3}))
    assert adapter.log[:2] == ["restart None", "restart other"]


async def test_the_launch_response_waits_for_configuration_done() -> None:
    async with client_of(Desk()) as client:
        await client.initialize()
        with pytest.raises(DeadlineExceeded):
            await client.connection.request(LaunchRequestArguments(), deadline=0.05)


class ShortProgram(Desk):
    async def configuration_done(self) -> None:
        await self.terminated()
        await anyio.wait_all_tasks_blocked()


async def test_program_may_end_before_the_configuration_that_began_it_is_answered() -> None:
    async with client_of(ShortProgram()) as client:
        await client.start()
        await client.event(TerminatedEvent)


class NeverBegun(Desk):
    async def configuration_done(self) -> None:
        self.start_soon(self._end)
        raise RequestFailed("the program cannot be run")

    async def _end(self) -> None:
        await anyio.wait_all_tasks_blocked()
        await self.terminated()


async def test_program_that_ends_after_its_configuration_has_failed_was_not_launched() -> None:
    async with client_of(NeverBegun()) as client, anyio.create_task_group() as tasks:

        async def launch() -> None:
            with pytest.raises(RequestFailed, match="the program ended before it was configured"):
                await client.request(LaunchRequestArguments())

        await client.initialize()
        tasks.start_soon(launch)
        await client.event(InitializedEvent)
        with pytest.raises(RequestFailed, match="cannot be run"):
            await client.request(ConfigurationDoneArguments())


class Prompt(Desk):
    holds_launch = False


async def test_the_launch_response_comes_at_once_where_the_adapter_says_so() -> None:
    async with client_of(Prompt()) as client:
        await client.initialize()
        await client.request(LaunchRequestArguments())
        await client.event(InitializedEvent)


class Early(Desk):
    initialized_after = "initialize"


async def test_initialized_comes_straight_after_initialize_where_the_adapter_says_so() -> None:
    async with client_of(Early()) as client:
        await client.initialize()
        await client.event(InitializedEvent)
        await client.request(ConfigurationDoneArguments())
        await client.request(LaunchRequestArguments())
        assert client.events == []


async def test_initialized_is_not_sent_twice_when_the_adapter_sends_it_itself() -> None:
    async with client_of(Chatty()) as client:
        await client.start()
        assert client.events == [OutputEvent(output="loaded\n")]


# Telling the client


class Printer(Desk):
    async def closing(self) -> None:
        await super().closing()
        self.log.append(f"understood {await self.invalidated()}")

    async def evaluate(self, args: EvaluateArguments) -> EvaluateBody:
        for _ in range(int(args.expression)):
            await self.output("x" * 1000)
            self.log.append("printed")
        return EvaluateBody(result="", variables_reference=0)


async def test_output_waits_for_a_client_that_does_not_read() -> None:
    adapter = Printer()
    theirs, ours = memory_pair()
    async with background_tasks() as tasks:
        tasks.start_soon(adapter.serve_stream, theirs)
        endpoint = Endpoint(Role.CLIENT)
        endpoint.request(InitializeRequestArguments(adapter_id="deaf"))
        await ours.send(endpoint.bytes_to_send())
        while endpoint.phase is not Phase.READY:
            endpoint.receive(await ours.receive())
        endpoint.request(evaluate("1000000"))
        await ours.send(endpoint.bytes_to_send())
        await anyio.wait_all_tasks_blocked()
        assert 0 < len(adapter.log) * 1000 < 3 * transport_limits.OUTPUT_BACKLOG_BYTES
        await ours.aclose()


async def test_an_event_that_the_client_does_not_understand_is_not_sent() -> None:
    adapter = Printer()
    async with client_of(adapter) as client:
        await client.start(introduction=InitializeRequestArguments(adapter_id="bare"))
        await client.request(DisconnectArguments())
    assert adapter.log[-1] == "understood False"


# Asking the client


async def test_a_reverse_request_returns_the_body() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:

            async def answer() -> None:
                client.connection.respond(await client.next_asked(), RunInTerminalBody(process_id=17))

            tasks.start_soon(answer)
            assert (await client.request(evaluate("terminal"))).result == "17"


async def test_a_reverse_request_that_the_client_cannot_do_fails_with_the_missing_capability() -> None:
    async with client_of(Desk()) as client:
        await client.start(introduction=InitializeRequestArguments(adapter_id="bare"))
        failure = await refusal(client, "terminal")
        assert "the client did not announce supportsRunInTerminalRequest" in failure.text
        assert "internal error" not in failure.text


async def test_a_reverse_request_that_fails_fails_the_request_that_needed_it() -> None:
    async with client_of(Desk()) as client:
        await client.start()
        async with anyio.create_task_group() as tasks:

            async def answer() -> None:
                client.connection.fail(await client.next_asked(), RequestFailed("no terminal"))

            tasks.start_soon(answer)
            assert (await refusal(client, "terminal")).text == "no terminal"


def test_an_adapter_that_is_not_served_cannot_ask_or_tell() -> None:
    with pytest.raises(NotServed, match="has no client yet"):
        Desk().client  # noqa: B018 - the access is what is tested


# Custom requests


class Sorting(msgspec.Struct):
    reverse: bool


class Sorted(LaunchRequestArguments, frozen=True, kw_only=True):
    items: list[int]


class Shelf(Desk):
    @custom_request("shelf/sort")
    async def sort(self, args: Sorting) -> Sorted:
        await self.send_custom_event("shelf/moved", {"count": 3})
        return Sorted(items=sorted([2, 1, 3], reverse=args.reverse))

    @custom_request("shelf/clear")
    async def clear(self) -> None:
        self.log.append("cleared")


async def test_custom_requests_are_typed_like_others() -> None:
    adapter = Shelf()
    async with client_of(adapter) as client:
        await client.start()
        body = await client.connection.request_custom("shelf/sort", {"reverse": True})
        assert bytes(body or b"") == b'{"items":[3,2,1]}'
        await client.connection.request_custom("shelf/clear")
        with pytest.raises(RequestFailed, match=r"shelf/sort: \$\.arguments\.reverse"):
            await client.connection.request_custom("shelf/sort", {})
    assert "cleared" in adapter.log


# Middleware


async def noting(adapter: Adapter[Launch, NoAttach], request: Request, proceed: Proceed) -> ResponseBody:
    assert isinstance(adapter, Layered)
    adapter.log.append(f"before {request.command}")
    body = await proceed(request)
    adapter.log.append(f"after {request.command}")
    return body


async def rewriting(adapter: Adapter[Launch, NoAttach], request: Request, proceed: Proceed) -> ResponseBody:  # noqa: ARG001
    if isinstance(request.arguments, EvaluateArguments):
        arguments = msgspec.structs.replace(request.arguments, expression=request.arguments.expression.lower())
        request = msgspec.structs.replace(request, arguments=arguments)
    return await proceed(request)


class Layered(Desk):
    middleware = (noting, rewriting)


async def test_middleware_stands_around_every_request_and_may_rewrite_it() -> None:
    adapter = Layered()
    async with client_of(adapter) as client:
        await client.start()
        adapter.log.clear()
        assert (await client.request(evaluate("LOUD"))).result == "loud"
        assert adapter.log == ["before evaluate", "begin loud", "end loud", "after evaluate"]
        await client.request(DisconnectArguments())
        assert adapter.log[4:] == ["before disconnect", "disconnect", "after disconnect", "closing"]


# The end


async def test_closing_is_called_once_when_the_input_ends() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
    assert adapter.log == ["closing"]


async def test_disconnect_is_answered_before_anything_was_launched() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.request(DisconnectArguments())
        await client.connection.wait_ended()
    assert adapter.log == ["disconnect", "closing"]


class Failing(Desk):
    async def disconnect(self, args: DisconnectArguments) -> None:
        raise RequestFailed("the program does not let go")

    async def closing(self) -> None:
        await super().closing()
        await self.terminated()
        raise OSError("on top of it")


async def test_a_disconnect_that_fails_is_answered_with_its_error_and_ends_the_session_all_the_same() -> None:
    adapter = Failing()
    async with client_of(adapter) as client:
        await client.start()
        with pytest.raises(RequestFailed, match="does not let go"):
            await client.request(DisconnectArguments())
        await client.event(TerminatedEvent)
        await client.connection.wait_ended()
    assert adapter.log == ["closing"]


async def test_a_background_task_that_fails_is_told_and_ends_the_session() -> None:
    adapter = Desk()
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(client_of(adapter))
        await client.start()
        await client.request(evaluate("late crash"))
        output = await client.event(OutputEvent)
        assert output.output == "internal error of the debug adapter: ZeroDivisionError: in the background\n"
        await client.event(TerminatedEvent)
        await client.connection.wait_ended()
        with pytest.raises(ConversationLost):
            await client.request(ThreadsArguments())
        with pytest.raises(ZeroDivisionError):
            await stack.aclose()


class Working(Desk):
    """An adapter that works in the background from `next` until `pause`."""

    async def next(self, args: NextArguments) -> None:
        self.work = self.start_soon(self._work)

    async def _work(self) -> None:
        try:
            await self.output("working")
            await anyio.sleep_forever()
        finally:
            self.log.append("work ends")
            self.gate.set()

    async def pause(self, args: PauseArguments) -> None:
        self.work.cancel()


async def test_a_background_task_is_ended_by_its_scope_and_the_session_goes_on() -> None:
    adapter = Working()
    async with client_of(adapter) as client:
        await client.start()
        await client.request(NextArguments(thread_id=1))
        await client.event(OutputEvent)
        await client.request(PauseArguments(thread_id=1))
        await adapter.gate.wait()
        assert adapter.log == ["work ends"]
        assert (await client.request(ThreadsArguments())).threads
    assert adapter.log == ["work ends", "closing"]


async def test_an_object_serves_one_session_only() -> None:
    adapter = Desk()
    async with client_of(adapter) as client:
        await client.start()
    with pytest.raises(NotServed, match="has served a session already"):
        async with client_of(adapter) as client:
            await client.connection.wait_ended()
