"""The frames in which threads are, of all of them at once, and the frames of one stack as the interpreter has them.

The calling thread is given with the frame that asks. Kept in a variable there, that frame holds
itself, its callers with it, and so whatever the program has in its variables until a garbage collection. So the
calling thread appears here with the frame of the program that it came from.
"""

import _thread
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Final

from .native import current_frames


def newest_frames() -> dict[int, FrameType]:
    """Return the newest frame of each thread, by identity; of the calling thread the newest that is not ours."""
    frames = current_frames()
    ident = _thread.get_ident()
    frame = frames.pop(ident, None)
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    if frame is not None:
        frames[ident] = frame
    return frames


def all_frames() -> Iterator[FrameType]:
    """Go through all frames that are being executed, the newest of each thread first."""
    for newest in newest_frames().values():
        frame: FrameType | None = newest
        while frame is not None:
            yield frame
            frame = frame.f_back


_CODE: Final[CodeType] = newest_frames.__code__
_FOLDER: Final = _CODE.co_filename[: -len("interpreter/thread_frames.py")]  # with "/" or, on Windows, with "\\"


def stack_of(frame: FrameType) -> list[FrameType]:
    """Return a frame and those that have called it, the innermost first."""
    chain: list[FrameType] = []
    outer: FrameType | None = frame
    while outer is not None:
        chain.append(outer)
        outer = outer.f_back
    return chain
