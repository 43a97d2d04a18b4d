"""Checking messages against the schema, strictly.

An endpoint reads a peer's messages with tolerance; here every field must match the schema, null included, which the
schema has in two places only.
"""

from collections.abc import Iterable, Iterator

from dapkit.endpoint import Role, Violation
from dapkit.protocol import (
    COMMANDS,
    EVENTS,
    ErrorBody,
    Event,
    InvalidValue,
    ProtocolError,
    ProtocolObject,
    RawJson,
    Request,
    Response,
    decode_as,
    encode_value,
)
from dapkit.testing.moments import Moment


def check_schema(moments: Iterable[Moment]) -> list[Violation]:
    """List the faults in the messages of a timeline; the first fault of each, and its nulls."""
    requests: dict[tuple[Role, int], Request] = {}
    violations: list[Violation] = []
    for moment in moments:
        kind: type[ProtocolObject] | None = None
        at = "$.body"
        match moment.message:
            case Request(seq, command) as asked:
                requests[moment.speaker, seq] = asked
                at = "$.arguments"
                if (spec := COMMANDS.get(command)) and not (spec.arguments_optional and moment.content is None):
                    kind = spec.arguments
            case Response(success=False):
                kind = ErrorBody
            case Response(request_seq=request_seq):
                request = requests.get((moment.speaker.peer, request_seq))
                spec = COMMANDS.get(request.command) if request is not None else None
                kind = spec.body if spec is not None else None
            case Event(event=event):
                kind = EVENTS.get(event)
            case None:
                violations.append(Violation(_named(moment), "$", "not a message"))
        if kind is not None:
            violations += [Violation(_named(moment), path, problem) for path, problem in _faults(kind, moment, at)]
    return violations


def _faults(kind: type[ProtocolObject], moment: Moment, at: str) -> Iterator[tuple[str, str]]:
    raw = moment.content if moment.content is not None else RawJson(b"{}")
    try:
        value = decode_as(kind, raw, at)
    except InvalidValue as error:
        yield error.path, error.problem
    except ProtocolError as error:
        yield at, str(error)
    else:
        yield from _nulls(decode_as(object, raw), decode_as(object, encode_value(value)), at)


def _nulls(raw: object, decoded: object, at: str) -> Iterator[tuple[str, str]]:
    """Find the nulls that reading has turned into something absent."""
    match raw, decoded:
        case dict(), dict():
            for name, value in raw.items():
                if value is None and name not in decoded:
                    yield f"{at}.{name}", "null where the field should be left out"
                elif name in decoded:
                    yield from _nulls(value, decoded[name], f"{at}.{name}")
        case list(), list():
            for index, (one, other) in enumerate(zip(raw, decoded, strict=False)):
                yield from _nulls(one, other, f"{at}[{index}]")
        case _:
            return


def _named(moment: Moment) -> str:
    return f"#{moment.index} of the {moment.speaker}"
