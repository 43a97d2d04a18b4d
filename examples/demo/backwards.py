"""A bug found backwards: who has put what into the list that all orders of the shop share.

Debugs `examples/orders/shop.py` with time travel, from its failure back. Run it with `make demo-timetravel`.
"""

import sys
import time
from pathlib import Path

import anyio
import msgspec
from view import View

from dapkit.client import Session, Stopped
from dapkit.protocol import StoppedEvent
from dapkit.python.adapter.time_travel.timeline import TravelToArguments, WhyArguments, WhyBody

SHOP = Path(__file__).parent.parent / "orders"
SHARED = "' + '.join(map(str, discounts_of.__defaults__[0]))"
"""The list that every call without a list of its own shares, in words."""

DEADLINE = 60.0
"""Seconds that the whole demo may take."""

SHOWN = 4
"""Changes of the list, from the last."""


async def debug(view: View) -> int:
    """Let the shop fail, and go back from there; return its exit code."""
    started = time.perf_counter()
    async with Session.spawn([sys.executable, "-m", "dapkit.python"]) as session:
        await session.launch({"program": str(SHOP / "shop.py"), "cwd": str(SHOP), "timeTravel": True})
        crash = await session.next_stop()
        told = await session.exception_info(crash.thread_id)
        view.step("The program fails", "and every order before it has looked right")
        view.exception(told.exception_id, told.description or "", str(told.break_mode))

        view.step("Why is the list what it is?", "discounts_of.__defaults__[0], and before that, and before that")
        with view.table("line", "order of", "before", "after") as add:
            for _ in range(SHOWN):
                frames = (await session.stack_trace(1)).stack_frames
                own = next(frame for frame in frames if frame.presentation_hint != "subtle")
                found = await why(session, SHARED, own.id)
                if found.clock is None:
                    break
                await travel_to(session, found.clock)
                customer = await value(session, "order.customer")
                add(f"{Path(found.path or '').name}:{found.line}", customer, str(found.old), str(found.new))

        view.step("There it is", "the first order with a code, before it leaves its discount to all that follow")
        frames = (await session.stack_trace(1)).stack_frames
        view.source(frames[0])
        view.stack(frames)

        view.step("Forwards again", "to the live program, which ends as it would have")
        live = await session.resume()
        while isinstance(live, Stopped):
            live = await session.resume()
        ended = await session.wait_until_ended()
        view.output("stdout", session.output.read("stdout").text)
        view.end(ended.exit_code, time.perf_counter() - started)
        return 1 if ended.exit_code is None else ended.exit_code


async def why(session: Session, expression: str, frame_id: int) -> WhyBody:
    """Ask which line has made a value what it is."""
    answer = await session.request_custom("dapkit/why", WhyArguments(expression=expression, frame_id=frame_id))
    return msgspec.convert(answer, WhyBody)


async def travel_to(session: Session, clock: int) -> None:
    """Have the program shown at a moment of its past."""
    position = session.position
    await session.request_custom("dapkit/travelTo", TravelToArguments(clock=clock))
    await session.wait_for(StoppedEvent, since=position)


async def value(session: Session, expression: str) -> str:
    """Return what an expression is in the newest frame."""
    [frame, *_] = (await session.stack_trace(1, levels=1)).stack_frames
    return (await session.evaluate(expression, frame_id=frame.id, context="watch")).result


async def show() -> int:
    """Show it all, within the deadline."""
    view = View(record=False)
    view.title("dapkit, back in time", "The shop fails at an order that has nothing wrong. What came before it has.")
    with anyio.fail_after(DEADLINE):
        return await debug(view)


if __name__ == "__main__":
    sys.exit(0 if anyio.run(show) == 1 else 1)  # the shop ends with 1
