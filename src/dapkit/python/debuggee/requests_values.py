"""Requests about values: scopes, variables and expressions."""

import sys
from types import FrameType
from typing import TYPE_CHECKING, Final

from . import limits
from .errors import RequestRefused
from .evaluate import Place, described, evaluate
from .frames import Frame
from .handling import LATER, Handler, Later
from .jobs import Guard, Job, Request
from .variables import Holder, Scope
from .wire import Json

if TYPE_CHECKING:
    from .engine import Engine


def scopes(engine: "Engine", request: Request) -> Json:
    """List the scopes of a frame."""
    frame = engine.references.get(request.arguments.get("frameId"), Frame)
    add = engine.references.add
    return {
        "scopes": [
            {
                "name": "Locals",
                "presentationHint": "locals",
                "variablesReference": add(Scope(frame, of_module=False)),
                "expensive": False,
            },
            {
                "name": "Globals",
                "presentationHint": "globals",
                "variablesReference": add(Scope(frame, of_module=True)),
                "expensive": False,
            },
        ]
    }


def variables(engine: "Engine", request: Request) -> Later:
    """Show what is inside a scope or a value."""
    number = request.arguments.get("variablesReference")
    reader = engine.reader
    holder: Scope | Holder
    try:
        holder = engine.references.get(number, Scope)
        thread = holder.frame.ident
    except RequestRefused:
        holder = engine.references.get(number, Holder)
        thread = holder.thread
    done: list[Json] = []

    def work(guard: Guard) -> Json:
        for row in reader.page(holder, request.arguments):
            done.append(reader.variable(row, thread, guard))  # noqa: PERF401 - `instead` reads it meanwhile
        return {"variables": done}

    def instead(begun: bool) -> Json:
        """Return the rows that are done, the one that hangs, and the others without code of the program."""
        ready = list(done)
        rows = reader.page(holder, request.arguments)[len(ready) :]
        rest = [reader.variable(row, thread, None, lost=begun and at == 0) for at, row in enumerate(rows)]
        return {"variables": ready + rest}

    job = Job(request, work, seconds=limits.PAGE_SECONDS, instead=instead)
    engine.world.post(thread, job)
    return LATER


def evaluate_(engine: "Engine", request: Request) -> Later:
    """Evaluate in a frame, or in `__main__`."""
    text = request.arguments.get("expression")
    if not isinstance(text, str):
        raise RequestRefused(f"expression is {text!r}, expected a text")
    context = request.arguments.get("context") or "watch"
    frame_id = request.arguments.get("frameId")
    frame: FrameType | None = None
    if frame_id is not None:
        frame_reference = engine.references.get(frame_id, Frame)
        frame, thread = frame_reference.frame, frame_reference.ident
    else:
        thread = engine.world.thread
        if not engine.world.stopped:
            raise RequestRefused("the program is running; pause it to evaluate")
    chars = limits.VALUE_CHARS
    if context == "clipboard":
        chars = limits.CLIPBOARD_CHARS
    elif context == "repl":
        chars = limits.REPL_CHARS

    def work(guard: Guard) -> Json:
        place = Place(vars(sys.modules["__main__"]), frame)
        result = evaluate(text, place, guard, str(context))
        path = text.strip() if text.strip().isidentifier() else f"({text.strip()})"
        return described(result, engine.reader.describe(result.value, path, thread, guard, chars))

    def instead(begun: bool) -> Json:
        if begun:
            raise RequestRefused("it did not end in time, and cannot be interrupted where it is; it goes on")
        if thread not in engine.world.parked:
            raise RequestRefused("the thread is inside native code, nothing can be evaluated in it now")
        raise RequestRefused("the thread is busy with an earlier evaluation that cannot be interrupted")

    engine.world.post(thread, Job(request, work, seconds=limits.REPL_SECONDS + 1, instead=instead))
    return LATER


HANDLERS: Final[dict[str, Handler]] = {
    "scopes": scopes,
    "variables": variables,
    "evaluate": evaluate_,
}
