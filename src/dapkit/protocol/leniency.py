"""Reading of data that a real peer sent although the schema does not allow it.

Peers break the schema in small ways: gdb's `process` event has a start method
that is not on the list. `decode_leniently` keeps as much as possible and reports the faults:

* an unknown value of a closed enumeration, or a number out of range, is kept as it came
* a whole number written as a float is kept as an integer
* the smallest optional field around anything else is left out

Where that reaches the top, nothing sensible is left and InvalidValue is raised.
Values kept in this way do not fit their annotation, so this is for the readers
of responses and events only: a request that breaks the schema is refused.
"""

from typing import cast

import msgspec

from dapkit.protocol.base import ProtocolObject, RawJson
from dapkit.protocol.codec import decode_as
from dapkit.protocol.errors import InvalidValue
from dapkit.protocol.validation import fit_leniently


class SchemaViolation(msgspec.Struct, frozen=True):
    """One place where a peer broke the schema."""

    path: str
    """Where in the JSON, such as `$.threadId`."""

    problem: str
    """The value expected there, and the value found."""


def decode_leniently[T: ProtocolObject](
    kind: type[T], raw: bytes | RawJson | None, at: str = "$"
) -> tuple[T, list[SchemaViolation]]:
    """Read raw JSON as a given type, keeping as much as possible; describe the faults.

    >>> from dapkit.protocol import ThreadEvent
    >>> event, violations = decode_leniently(ThreadEvent, b'{"reason":"started","threadId":1.0}')
    >>> event
    ThreadEvent(reason='started', thread_id=1)
    >>> violations
    [SchemaViolation(path='$.threadId', problem='expected an integer, got 1.0')]

    Raises:
        InvalidValue: nothing sensible is left.
        MalformedMessage: it is not JSON.

    """
    try:
        return decode_as(kind, raw, at), []
    except InvalidValue:
        violations: list[SchemaViolation] = []

        def report(problem: str, path: str) -> None:
            violations.append(SchemaViolation(path, problem))

        value = fit_leniently(decode_as(object, raw), kind, at, report)
        return cast("T", value), violations  # fit_leniently makes a value of the kind that it is given
