"""What a class of an adapter may say about itself, and which mistakes are found when it is created."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from dapkit.adapter import Adapter, DefinitionError, NoAttach, NoLaunch, custom_request, not_a_request
from dapkit.protocol import (
    Arguments,
    AttachRequestArguments,
    BreakpointMode,
    Capabilities,
    DataBreakpointInfoArguments,
    DataBreakpointInfoBody,
    EvaluateArguments,
    EvaluateBody,
    ExceptionBreakpointsFilter,
    LaunchRequestArguments,
    RawJson,
    ReverseContinueArguments,
    SetBreakpointsArguments,
    SetBreakpointsBody,
    SetDataBreakpointsArguments,
    SetDataBreakpointsBody,
    SetExceptionBreakpointsArguments,
    SetExceptionBreakpointsBody,
    StackTraceArguments,
    StackTraceBody,
    StepBackArguments,
    ThreadsBody,
)


class Launching(Adapter[LaunchRequestArguments, NoAttach], partial=True):
    async def launch(self, args: LaunchRequestArguments) -> None:
        pass


def capabilities(adapter: type[Adapter[LaunchRequestArguments, NoAttach]]) -> Capabilities:
    definition = adapter._definition
    assert definition is not None
    return definition.capabilities


def test_an_adapter_without_optional_handlers_announces_only_what_the_sdk_does() -> None:
    class Plain(Launching):
        async def threads(self) -> ThreadsBody:
            return ThreadsBody(threads=[])

    assert capabilities(Plain) == Capabilities(supports_configuration_done_request=True, supports_cancel_request=True)


def test_a_flag_is_announced_when_all_handlers_that_it_promises_are_defined() -> None:
    class TimeTraveller(Launching):
        async def step_back(self, args: StepBackArguments) -> None: ...
        async def reverse_continue(self, args: ReverseContinueArguments) -> None: ...

    assert capabilities(TimeTraveller).supports_step_back


def test_half_of_what_a_flag_promises_is_an_error() -> None:
    with pytest.raises(
        DefinitionError, match=r"handles stepBack but not reverseContinue.* define reverse_continue too"
    ):

        class Half(Launching):
            async def step_back(self, args: StepBackArguments) -> None: ...


def test_handlers_may_be_inherited_from_parts_and_from_mixins() -> None:
    class Watching(Adapter[LaunchRequestArguments, NoAttach], partial=True):
        async def data_breakpoint_info(self, args: DataBreakpointInfoArguments) -> DataBreakpointInfoBody:
            return DataBreakpointInfoBody(data_id=None, description=args.name)

    class Setting:
        async def set_data_breakpoints(self, args: SetDataBreakpointsArguments) -> SetDataBreakpointsBody:
            return SetDataBreakpointsBody(breakpoints=[])

    class Whole(Setting, Watching, Launching): ...

    assert capabilities(Whole).supports_data_breakpoints


def test_what_cannot_be_derived_is_announced_by_hand() -> None:
    class Conditional(Launching):
        announces = Capabilities(supports_conditional_breakpoints=True)

        async def set_breakpoints(self, args: SetBreakpointsArguments) -> SetBreakpointsBody:
            return SetBreakpointsBody(breakpoints=[])

    assert capabilities(Conditional).supports_conditional_breakpoints


@pytest.mark.parametrize("value", [True, False])
def test_a_flag_that_follows_from_handlers_must_not_be_written(value: bool) -> None:
    with pytest.raises(DefinitionError, match="announces sets supports_step_back, which follows from the handlers"):

        class ByHand(Launching):
            announces = Capabilities(supports_step_back=value)


def test_an_announced_capability_needs_the_handler_that_makes_it_true() -> None:
    with pytest.raises(DefinitionError, match="supports_log_points, which needs a handler of setBreakpoints"):

        class Promising(Launching):
            announces = Capabilities(supports_log_points=True)


def test_exception_breakpoints_need_filters() -> None:
    with pytest.raises(DefinitionError, match="set exception_breakpoint_filters in announces"):

        class Filterless(Launching):
            async def set_exception_breakpoints(
                self, args: SetExceptionBreakpointsArguments
            ) -> SetExceptionBreakpointsBody:
                return SetExceptionBreakpointsBody()


@pytest.mark.parametrize("takes_condition", [True, None])
def test_an_exception_filter_that_takes_a_condition_implies_options_of_filters(takes_condition: bool | None) -> None:
    class Filtering(Launching):
        announces = Capabilities(
            exception_breakpoint_filters=[
                ExceptionBreakpointsFilter(filter="f", label="F"),
                ExceptionBreakpointsFilter(filter="g", label="G", supports_condition=takes_condition),
            ]
        )

        async def set_exception_breakpoints(
            self, args: SetExceptionBreakpointsArguments
        ) -> SetExceptionBreakpointsBody:
            return SetExceptionBreakpointsBody()

    assert capabilities(Filtering).supports_exception_filter_options is takes_condition


def test_filters_need_the_handler_of_exception_breakpoints() -> None:
    with pytest.raises(DefinitionError, match="define set_exception_breakpoints"):

        class Filtering(Launching):
            announces = Capabilities(exception_breakpoint_filters=[ExceptionBreakpointsFilter(filter="f", label="F")])


@pytest.mark.parametrize("name", ["stacktrace", "stackTrace", "stack_traces", "stacktrce"])
def test_a_misspelled_handler_is_an_error_that_says_what_was_meant(name: str) -> None:
    async def handler(_self: object, _args: StackTraceArguments) -> StackTraceBody:
        return StackTraceBody(stack_frames=[])

    with pytest.raises(DefinitionError, match=f"{name} is named after no request.* did you mean stack_trace"):
        type("Misspelled", (Launching,), {name: handler})


def test_a_public_coroutine_that_resembles_no_request_is_an_error_too() -> None:
    with pytest.raises(DefinitionError, match="a leading underscore, or the mark @not_a_request or @custom_request"):

        class Extra(Launching):
            async def frobnicate(self) -> None: ...


def test_a_marked_coroutine_and_a_private_one_are_no_handlers() -> None:
    class Marked(Launching):
        @not_a_request
        async def program_ended(self) -> None: ...

        async def _private(self) -> None: ...

    assert Marked._definition is not None
    assert "program_ended" not in {handler.method for handler in Marked._definition.handlers.values()}


def test_a_handler_that_is_no_coroutine_is_an_error() -> None:
    with pytest.raises(DefinitionError, match="has the name of the handler of threads but is not a coroutine"):

        class Blocking(Launching):
            def threads(self) -> ThreadsBody:  # type: ignore[override] # what is to be found
                return ThreadsBody(threads=[])


@pytest.mark.parametrize("name", ["initialize", "cancel"])
def test_what_the_sdk_answers_itself_cannot_be_defined(name: str) -> None:
    async def handler(self: object) -> None: ...

    with pytest.raises(DefinitionError, match="is answered by dapkit"):
        type("Meddling", (Launching,), {name: handler})


def test_a_protocol_command_is_no_custom_request() -> None:
    with pytest.raises(DefinitionError, match="name the coroutine evaluate and take the mark away"):

        class Custom(Launching):
            @custom_request("evaluate")
            async def look(self, args: EvaluateArguments) -> EvaluateBody:
                raise NotImplementedError


def test_launch_arguments_need_a_launch_handler() -> None:
    with pytest.raises(DefinitionError, match=r"does not define launch: do, or give Adapter\[\.\.\.\] NoLaunch"):

        class Idle(Adapter[LaunchRequestArguments, NoAttach]): ...


def test_a_launch_handler_needs_launch_arguments() -> None:
    with pytest.raises(DefinitionError, match=r"defines launch: give Adapter\[\.\.\.\] its type, not NoLaunch"):

        class Untyped(Adapter[NoLaunch, AttachRequestArguments]):
            async def attach(self, args: AttachRequestArguments) -> None: ...
            async def launch(self, args: LaunchRequestArguments) -> None: ...


def test_launch_arguments_are_a_struct() -> None:
    with pytest.raises(DefinitionError, match=r"cannot be read into dict\[str, object\]"):

        class Dictionary(Adapter[dict[str, object], NoAttach]):  # type: ignore[type-var] # what is to be found
            async def launch(self, args: dict[str, object]) -> None: ...


def test_type_arguments_are_found_through_a_generic_base() -> None:
    class Base[Launch: LaunchRequestArguments](Adapter[Launch, NoAttach], partial=True):
        async def launch(self, args: Launch) -> None: ...

    class Special(LaunchRequestArguments, frozen=True, kw_only=True):
        program: str

    class Derived(Base[Special]): ...

    assert Derived._definition is not None
    assert Derived._definition.starts == {"launch": Special, "attach": None}


@pytest.mark.parametrize("name", ["evaluat", "launch", "disconnect", "threads"])
def test_serial_names_only_handlers_that_can_be_serial(name: str) -> None:
    with pytest.raises(DefinitionError, match=f"serial names {name}"):
        type("Serial", (Launching,), {"serial": (name,)})


def test_a_handler_takes_as_many_parameters_as_its_request_has() -> None:
    with pytest.raises(DefinitionError, match=r"does not fit threads: write `async def threads\(self\)`"):

        class TooMany(Launching):
            async def threads(self, args: object) -> ThreadsBody:  # type: ignore[override] # the mistake
                raise NotImplementedError

    with pytest.raises(DefinitionError, match=r"does not fit evaluate: write `async def evaluate\(self, args\)`"):

        class TooFew(Launching):
            async def evaluate(self) -> EvaluateBody:  # type: ignore[override] # the mistake
                raise NotImplementedError


def test_a_handler_may_take_more_than_it_is_given_if_that_is_optional() -> None:
    class Optional(Launching):
        async def threads(self, *, of: str = "") -> ThreadsBody:
            raise NotImplementedError

        async def evaluate(self, *anything: object) -> EvaluateBody:
            raise NotImplementedError

    assert Optional.definition().handlers["threads"].method == "threads"


def test_a_handler_takes_the_arguments_of_its_request() -> None:
    with pytest.raises(DefinitionError, match="takes StackTraceArguments, but the arguments of evaluate are Evaluate"):

        class Wrong(Launching):
            async def evaluate(self, args: StackTraceArguments) -> EvaluateBody:  # type: ignore[override] # the mistake
                raise NotImplementedError


def test_a_handler_may_take_the_arguments_of_other_requests_too() -> None:
    class Either(Launching):
        async def evaluate(self, args: EvaluateArguments | StackTraceArguments | None) -> EvaluateBody:
            raise NotImplementedError

    assert Either.definition().handlers["evaluate"].arguments is EvaluateArguments


class _Callable:
    def __init__(self) -> None:
        inspect.markcoroutinefunction(self)

    async def __call__(self, adapter: object, args: EvaluateArguments) -> EvaluateBody:
        raise NotImplementedError


async def _evaluate(prefix: str, adapter: object, args: EvaluateArguments) -> EvaluateBody:
    raise NotImplementedError


@pytest.mark.parametrize("handler", [functools.partial(_evaluate, "p "), _Callable()])
def test_a_handler_may_be_any_object_that_is_called_as_a_coroutine(handler: object) -> None:
    made = type("Made", (Launching,), {"evaluate": handler})
    assert "evaluate" in vars(made)
    with pytest.raises(DefinitionError, match=r"does not fit threads: write `async def threads\(self\)`"):
        type("Wrong", (Launching,), {"threads": handler})


def test_a_decorated_custom_handler_takes_what_it_takes_without_the_decorator() -> None:
    def traced[**P, R](function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        @functools.wraps(function)
        async def call(*given: P.args, **named: P.kwargs) -> R:
            return await function(*given, **named)

        return call

    class Sorting(msgspec.Struct):
        by: str

    async def sort(self: object, args: Sorting) -> None: ...

    made = type("Traced", (Launching,), {"sort": custom_request("mock/sort")(traced(sort))})
    assert made._definition.handlers["mock/sort"].arguments is Sorting  # type: ignore[attr-defined] # an adapter


@pytest.mark.parametrize(
    ("annotation", "shown"), [(EvaluateBody | None, "None"), ("ThreadsBody", "ThreadsBody"), (dict[str, int], "dict")]
)
def test_a_handler_returns_the_body_of_its_request(annotation: object, shown: str) -> None:
    async def evaluate(self: object, args: EvaluateArguments) -> None: ...

    evaluate.__annotations__["return"] = annotation
    with pytest.raises(DefinitionError, match=f"returns {shown}, but the body of evaluate is EvaluateBody, or RawJson"):
        type("Wrong", (Launching,), {"evaluate": evaluate})


def test_annotations_that_name_no_class_are_left_to_the_type_checker() -> None:
    async def evaluate(self: object, args: "Unknown") -> "Unknown": ...  # type: ignore[name-defined]  # noqa: F821 - on purpose

    made = type("Right", (Launching,), {"evaluate": evaluate})
    assert "evaluate" in vars(made)


def test_what_a_custom_request_returns_is_an_object() -> None:
    with pytest.raises(DefinitionError, match="returns list: the body of a custom command is a Struct, a dict"):

        class Wrong(Launching):
            @custom_request("mock/sort")
            async def sort(self) -> list[str]:
                raise NotImplementedError


@pytest.mark.parametrize(
    ("announced", "needed"),
    [
        (Capabilities(supports_stepping_granularity=True), "needs a handler of next or stepIn or stepOut or stepBack"),
        (Capabilities(supports_single_thread_execution_requests=True), "needs a handler of continue or next"),
        (Capabilities(breakpoint_modes=[BreakpointMode(mode="hw", label="", applies_to=[])]), "of setBreakpoints or"),
    ],
)
def test_details_of_requests_need_one_of_these(announced: Capabilities, needed: str) -> None:
    with pytest.raises(DefinitionError, match=needed):
        type("Wrong", (Launching,), {"announces": announced})


def test_forwarded_commands_count_as_handled() -> None:
    class Relay(Launching):
        forwards = ("threads", "completions", "readMemory", "writeMemory")

        async def forward(self, arguments: Arguments[Any]) -> RawJson:
            return RawJson(b"{}")

        async def threads(self) -> ThreadsBody:
            return ThreadsBody(threads=[])

    promised = capabilities(Relay)
    assert promised.supports_completions_request
    assert promised.supports_read_memory_request
    handlers = Relay.definition().handlers
    assert (handlers["completions"].method, handlers["threads"].method) == ("forward", "threads")


@pytest.mark.parametrize("command", ["launch", "disconnect", "initialize", "set_breakpoints"])
def test_a_command_that_cannot_be_forwarded_is_named(command: str) -> None:
    with pytest.raises(DefinitionError, match=f"Relay.forwards names {command}, which is not a request"):

        class Relay(Launching):
            forwards = (command,)

            async def forward(self, arguments: Arguments[Any]) -> RawJson:
                return RawJson(b"{}")


def test_forwarded_commands_need_the_coroutine_that_answers_them() -> None:
    with pytest.raises(DefinitionError, match="Relay has commands in forwards: define the coroutine forward"):

        class Relay(Launching):
            forwards = ("threads",)


def test_coroutine_for_forwarded_commands_needs_commands() -> None:
    with pytest.raises(DefinitionError, match="forward is never called: name its commands in forwards"):

        class Relay(Launching):
            async def forward(self, arguments: Arguments[Any]) -> RawJson:
                return RawJson(b"{}")
