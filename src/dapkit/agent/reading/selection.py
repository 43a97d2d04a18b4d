"""Which thread and which frame an action is about, by id or by place, as the caller said."""

from dapkit.agent.calls.call import ActionCall
from dapkit.agent.calls.failures import InvalidArguments


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
    index: int | None,
    thread_id: int | None = None,
    thread: int | None = None,
) -> int:
    """Choose a frame, by default the one of the stop. Raises: as `thread_of`, and `SessionRequests.frame`."""
    if frame_id is not None and (index is not None or thread_id is not None or thread is not None):
        raise InvalidArguments("frame_id excludes frame, thread_id and thread")
    _from_zero("frame", index)
    chosen_thread = await thread_of(call, thread_id, thread)
    return await call.session.requests.frame(number=frame_id, index=index, thread=chosen_thread)


def _from_zero(name: str, index: int | None) -> None:
    if index is not None and index < 0:
        raise InvalidArguments(f"{name} must be 0 or more, not {index}")
