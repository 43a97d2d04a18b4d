"""The main job on a real program: find out why a shop gives its goods away.

Debugs `examples/orders/shop.py` with our client through our Python adapter, and
shows in the terminal what a debugger shows. Run it with `make demo`; with
`ARGS="--transcript FILE"` every message on the wire is written to a file.
"""

import argparse
import sys
import time
from pathlib import Path

import anyio
from view import View

from dapkit.client import Session, Stopped
from dapkit.protocol import NextArguments, StackFrame

SHOP = Path(__file__).parent.parent / "orders"
WATCHED = "__import__('ledger').discounts_of.__defaults__[0]"
"""The list that every call without a list of its own shares: the subtle fault."""

DEADLINE = 20.0
"""Seconds that the whole demo may take."""


async def debug(view: View, *, transcript: Path | None, picture: Path | None) -> int:
    """Debug the shop from start to end; return its exit code."""
    started = time.perf_counter()
    adapter = [sys.executable, "-m", "dapkit.python"]
    async with Session.spawn(adapter, transcript=transcript) as session:
        line = line_of(SHOP / "shop.py", "booking = ledger.book(order)")
        breakpoint_ = await session.add_breakpoint(SHOP / "shop.py", line)
        await session.launch({"program": str(SHOP / "shop.py"), "cwd": str(SHOP)})
        stop = await session.next_stop()
        view.step("A breakpoint is hit", f"{time.perf_counter() - started:.2f} s after the adapter was started")
        await show_stop(session, view, stop)

        view.step("What changes from step to step", "the list of discounts that one order leaves to the next")
        await session.remove_breakpoint(breakpoint_.number)
        await watch(session, view, stop, steps=12)

        view.step("The program runs on", "until an exception is raised that nothing will catch")
        match await session.resume():
            case Stopped() as crash:
                await show_crash(session, view, crash)
                await session.resume()
            case state:
                view.remark(f"expected a stop at the exception, the program is {state}")
        ended = await session.wait_until_ended()
        if picture is not None:
            view.save_picture(picture)
        view.step("The program's output", "stdout and stderr, kept apart by the adapter")
        for category in ("stdout", "stderr"):
            view.output(category, session.output.read(category).text)
        view.end(ended.exit_code, time.perf_counter() - started)
        return 1 if ended.exit_code is None else ended.exit_code


async def show_stop(session: Session, view: View, stop: Stopped) -> None:
    """Show the source window, the stack, locals and threads."""
    frames = (await session.stack_trace(stop.thread_id)).stack_frames
    view.source(frames[0])
    view.stack(frames)
    await show_locals(session, view, frames[0])
    view.threads((await session.threads()).threads, stop.thread_id)


async def show_locals(session: Session, view: View, frame: StackFrame) -> None:
    """Print the variables of the first scope of a frame."""
    scope = (await session.scopes(frame.id)).scopes[0]
    view.variables(scope.name, (await session.variables(scope.variables_reference)).variables)


async def watch(session: Session, view: View, stop: Stopped, *, steps: int) -> None:
    """Step over lines, and evaluate a watch expression after each."""
    with view.table("line", "order", "shared discounts") as add:
        for _ in range(steps):
            match await session.resume(NextArguments(thread_id=stop.thread_id)):
                case Stopped() as stop:
                    [frame] = (await session.stack_trace(stop.thread_id, levels=1)).stack_frames
                    values = [
                        (await session.evaluate(expression, frame_id=frame.id, context="watch")).result
                        for expression in ("order.customer", f"[str(part) for part in {WATCHED}]")
                    ]
                    add(f"{frame.line}  {source_line(frame)}", *values)
                case _:
                    return


async def show_crash(session: Session, view: View, crash: Stopped) -> None:
    """Show the exception, the program's own frame below it, and the values that led to it."""
    told = await session.exception_info(crash.thread_id)
    view.exception(told.exception_id, told.description or "", str(told.break_mode))
    frames = (await session.stack_trace(crash.thread_id)).stack_frames
    own = next(frame for frame in frames if frame.presentation_hint != "subtle")
    view.stack(frames)
    view.source(own)
    await show_locals(session, view, own)
    shared = await session.evaluate(f"[str(part) for part in {WATCHED}]", frame_id=own.id, context="watch")
    view.remark(f"Every order pays with the discounts of all orders before it: {shared.result}")


def line_of(path: Path, text: str) -> int:
    """Find the number of the line that holds a text."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if text in line:
            return number
    raise LookupError(f"{text!r} is not in {path}")


def source_line(frame: StackFrame) -> str:
    """Text of the line that a frame stands on."""
    path = Path(frame.source.path) if frame.source is not None and frame.source.path else Path()
    return path.read_text(encoding="utf-8").splitlines()[frame.line - 1].strip() if path.is_file() else ""


def main() -> int:
    """Run the demo; the exit code says whether it saw what it was to see."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--transcript", type=Path, metavar="FILE", help="write every message on the wire to FILE")
    options.add_argument("--picture", type=Path, metavar="FILE", help="draw what was seen up to the exception, as SVG")
    chosen = options.parse_args()
    view = View(record=chosen.picture is not None)
    view.title("dapkit", "a buggy shop, debugged by dapkit's client through dapkit's Python adapter")

    async def within_deadline() -> int:
        with anyio.fail_after(DEADLINE):
            return await debug(view, transcript=chosen.transcript, picture=chosen.picture)

    exit_code = anyio.run(within_deadline)
    if chosen.transcript is not None:
        view.remark(f"The messages on the wire are in {chosen.transcript}")
    return 0 if exit_code == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
