"""Which thread and which frame an action is about, by id or by place, as the caller said."""

import re

from dapkit import limits
from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments
from dapkit.protocol import StackTraceArguments


async def thread_of(call: ActionCall, thread_id: int | None, index: int | None) -> int | None:
    """Choose a thread; None if the caller named none.

    Raises:
        InvalidArguments: both were given, or the place is before the first.
        SessionError: there is no such thread.

    """
    if index is None:
        return thread_id
    if thread_id is not None:
        raise InvalidArguments("thread_id and thread exclude each other")
    _from_zero("thread", index)
    return await call.session.requests.thread(index)


async def frame_of(
    call: ActionCall,
    frame_id: int | None,
    frame: int | str | None,
    thread_id: int | None = None,
    thread: int | None = None,
) -> int:
    """Choose a frame, by default the one of the stop: by its id, its place (0 is the innermost), `#id` or its function.

    Raises: as `thread_of`, and `SessionRequests.frame`.
    """
    if frame_id is not None and (frame is not None or thread_id is not None or thread is not None):
        raise InvalidArguments("frame_id excludes frame, thread_id and thread")
    chosen_thread = await thread_of(call, thread_id, thread)
    if isinstance(frame, str) and not frame.isdecimal():
        number = frame.removeprefix("#")
        if not number.isdecimal():
            return await _named(call, frame, chosen_thread)
        frame_id, frame = int(number), None
    index = None if frame is None else int(frame)
    _from_zero("frame", index)
    return await call.session.requests.frame(number=frame_id, index=index, thread=chosen_thread)


async def _named(call: ActionCall, name: str, thread: int | None) -> int:
    """Find the innermost frame of a function, by its whole name or by the last part of it."""
    requests = call.session.requests
    thread_number = await requests.thread() if thread is None else thread
    stack = await requests.ask(StackTraceArguments(thread_id=thread_number, levels=limits.OWN_FRAMES))
    frames = stack.stack_frames
    for fits in (lambda each: each == name, lambda each: _last_part(each) == name):
        for frame in frames:
            if fits(frame.name):
                return frame.id
    raise InvalidArguments(f"frame: no frame of the stack is of a function {name!r}", hint="stack_trace shows them.")


def _last_part(function: str) -> str:
    """Return a qualified name without its modules and its arguments; LLDB adds a hash to names of Rust."""
    words = [word for word in re.split(r"::|\.", function.partition("(")[0]) if not _RUST_HASH.fullmatch(word)]
    return words[-1] if words else function


_RUST_HASH = re.compile("h[0-9a-f]{16}")


def _from_zero(name: str, index: int | None) -> None:
    if index is not None and index < 0:
        raise InvalidArguments(f"{name} must be 0 or more, not {index}")
