"""Progress: shown to clients that can show it, tied to its request, and cancelled by them."""

import anyio

from dapkit.adapter import Adapter, NoAttach
from dapkit.protocol import (
    CancelArguments,
    EvaluateArguments,
    EvaluateBody,
    InitializeRequestArguments,
    LaunchRequestArguments,
    ProgressEndEvent,
    ProgressStartEvent,
    ProgressUpdateEvent,
)
from sdk_client import client_of


class Worker(Adapter[LaunchRequestArguments, NoAttach]):
    async def launch(self, args: LaunchRequestArguments) -> None: ...

    async def evaluate(self, args: EvaluateArguments) -> EvaluateBody:
        if args.expression == "background":
            self.start_soon(self._work)
            return EvaluateBody(result="", variables_reference=0)
        async with self.progress("Working", message="at first", percentage=0, cancellable=True) as progress:
            await progress.update("half", percentage=50)
            if args.expression == "for ever":
                await anyio.sleep_forever()
        return EvaluateBody(result="cancelled" if progress.cancelled else "done", variables_reference=0)

    async def _work(self) -> None:
        async with self.progress("Behind"):
            pass


async def test_progress_of_a_request_names_it_and_keeps_its_id() -> None:
    async with client_of(Worker()) as client:
        await client.start()
        assert (await client.request(EvaluateArguments(expression=""))).result == "done"
        start = await client.event(ProgressStartEvent)
        assert start == ProgressStartEvent(
            progress_id=start.progress_id,
            title="Working",
            request_id=start.request_id,
            cancellable=True,
            message="at first",
            percentage=0,
        )
        assert start.request_id is not None
        assert await client.event(ProgressUpdateEvent) == ProgressUpdateEvent(
            progress_id=start.progress_id, message="half", percentage=50
        )
        assert await client.event(ProgressEndEvent) == ProgressEndEvent(progress_id=start.progress_id)


async def test_progress_in_the_background_names_no_request() -> None:
    async with client_of(Worker()) as client:
        await client.start()
        await client.request(EvaluateArguments(expression="background"))
        assert (await client.event(ProgressStartEvent)).request_id is None
        await client.event(ProgressEndEvent)


async def test_cancelling_a_progress_leaves_its_block_and_not_the_request() -> None:
    async with client_of(Worker()) as client:
        await client.start()

        async def cancel() -> None:
            start = await client.event(ProgressStartEvent)
            await client.request(CancelArguments(progress_id=start.progress_id))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel)
            assert (await client.request(EvaluateArguments(expression="for ever"))).result == "cancelled"
        await client.event(ProgressEndEvent)


async def test_a_request_that_is_cancelled_ends_its_progress() -> None:
    async with client_of(Worker()) as client:
        await client.start()
        with anyio.move_on_after(0.05):
            await client.request(EvaluateArguments(expression="for ever"))
        await client.event(ProgressEndEvent)


async def test_cancelling_an_unknown_progress_is_answered() -> None:
    async with client_of(Worker()) as client:
        await client.start()
        await client.request(CancelArguments(progress_id="no such"))


async def test_a_client_that_cannot_show_progress_is_told_nothing() -> None:
    async with client_of(Worker()) as client:
        await client.start(introduction=InitializeRequestArguments(adapter_id="bare"))
        assert (await client.request(EvaluateArguments(expression=""))).result == "done"
        assert client.events == []


async def test_the_end_of_a_progress_says_what_came_of_it() -> None:
    class Counter(Worker):
        async def evaluate(self, args: EvaluateArguments) -> EvaluateBody:
            async with self.progress("Counting") as progress:
                progress.result = f"counted to {args.expression}"
            return EvaluateBody(result="", variables_reference=0)

    async with client_of(Counter()) as client:
        await client.start()
        await client.request(EvaluateArguments(expression="3"))
        assert (await client.event(ProgressEndEvent)).message == "counted to 3"
