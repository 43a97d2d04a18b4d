"""Ids of objects that exist only while the program is stopped: frames, scopes, variables.

DAP overview, "Lifetime of Object References": such an id is valid until the
program keeps running. A client that uses it later gets an error that says so, not the
value of something else.
"""

from bisect import bisect_right

from dapkit.endpoint import RequestFailed

_LARGEST = 2**31 - 1


class References[T]:
    """Ids of one kind of object, for one session.

    Args:
        kind: the word for an id in errors: `frame`, `variables reference`.

    Invariant: ids count up from 1 and are never used again; `_values` holds those
    of the present stop, and `_firsts[n]` is the first id of stop n + 1.

    Example:
        >>> frames = References[str]("frame")
        >>> frames.add("main")
        1
        >>> frames.get(1)
        'main'
        >>> frames.clear()
        >>> frames.get(1)
        Traceback (most recent call last):
            ...
        dapkit.endpoint.errors.RequestFailed: frame 1 belongs to stop 1; the program is at stop 2: ...

    """

    def __init__(self, kind: str = "reference") -> None:
        self._kind = kind
        self._values: dict[int, T] = {}
        self._next = 1
        self._firsts = [1]

    def add(self, value: T) -> int:
        """Give an object an id; 0 is never one.

        Raises:
            RequestFailed: all ids that the protocol allows are used up.

        """
        if self._next > _LARGEST:
            raise RequestFailed(
                f"no {self._kind} can be given out any more: all {_LARGEST} are used up in this session"
            )
        reference, self._next = self._next, self._next + 1
        self._values[reference] = value
        return reference

    def get(self, reference: int) -> T:
        """Return the object behind an id.

        Raises:
            RequestFailed: the id is from an earlier stop, or was never given out.

        """
        try:
            return self._values[reference]
        except KeyError:
            raise RequestFailed(self._problem(reference)) from None

    def clear(self) -> None:
        """Forget all objects: the program keeps running."""
        self._values.clear()
        self._firsts.append(self._next)

    def _problem(self, reference: int) -> str:
        if not 0 < reference < self._next:
            return f"{self._kind} {reference} was never given out in this session"
        stop = bisect_right(self._firsts, reference)
        return (
            f"{self._kind} {reference} belongs to stop {stop}; "
            f"the program is at stop {len(self._firsts)}: ask for the stack again"
        )
