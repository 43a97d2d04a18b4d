"""Text of a result, by its type; the other modules of this package register themselves."""

from functools import singledispatch

from dapkit.protocol import ProtocolObject


@singledispatch
def render(result: ProtocolObject) -> str:
    """Write a result as text."""
    raise TypeError(f"there is no text for {type(result).__name__}")
