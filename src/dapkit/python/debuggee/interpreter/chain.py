"""The frames of a stack as the interpreter has them, whatever a client is shown of them."""

from types import FrameType


def stack_of(frame: FrameType) -> list[FrameType]:
    """Return a frame and those that have called it, the innermost first."""
    chain: list[FrameType] = []
    outer: FrameType | None = frame
    while outer is not None:
        chain.append(outer)
        outer = outer.f_back
    return chain
