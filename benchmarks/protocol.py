"""Speed of `dapkit.protocol` against msgspec used directly, and the cost of importing it.

Both sides do the same work on the same classes: the envelope first, then the
arguments or body. Their rounds alternate within one run, so that a busy machine
disturbs both; the median of the ratios is what counts.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from dapkit import protocol
from dapkit.protocol import (
    ProtocolObject,
    Request,
    Response,
    Source,
    StackFrame,
    StackTraceArguments,
    StackTraceBody,
    Variable,
    VariablesBody,
)

ROUNDS = 60
ROUND_SECONDS = 0.01
IMPORTS = 25
GOAL_RATIO = 1.3
GOAL_IMPORT_MS = 60.0


@dataclass(frozen=True)
class Case:
    """One message, written with a typed body and read back to one."""

    name: str
    message: Request | Response
    kind: type[ProtocolObject]


class DirectRequest(msgspec.Struct, tag_field="type", tag="request", omit_defaults=True):
    """The envelope as msgspec alone would have it."""

    seq: int
    command: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class DirectResponse(msgspec.Struct, tag_field="type", tag="response", omit_defaults=True):
    """The envelope as msgspec alone would have it."""

    seq: int
    request_seq: int
    success: bool
    command: str
    message: str | None = None
    body: msgspec.Raw = msgspec.Raw(b"{}")


class DirectEvent(msgspec.Struct, tag_field="type", tag="event", omit_defaults=True):
    """The envelope as msgspec alone would have it."""

    seq: int
    event: str
    body: msgspec.Raw = msgspec.Raw(b"{}")


def cases() -> list[Case]:
    """Make the messages: a full stack, a large page of variables, a small request."""
    frames = [
        StackFrame(
            id=1000 + number,
            name=f"function_{number}",
            source=Source(name=f"module_{number}.py", path=f"/home/user/project/package/module_{number}.py"),
            line=10 + number,
            column=1,
            end_line=10 + number,
            end_column=40,
            module_id=number,
            presentation_hint="normal",
        )
        for number in range(100)
    ]
    variables = [
        Variable(
            name=f"variable_{number}",
            value=f"<package.module.Class object at 0x7f{number:010x}>",
            type="Class",
            evaluate_name=f"container.variable_{number}",
            variables_reference=1000 + number,
            named_variables=5,
            indexed_variables=10,
            memory_reference=f"0x7f{number:010x}",
        )
        for number in range(1000)
    ]
    stack = StackTraceBody(stack_frames=frames, total_frames=100)
    return [
        Case("stackTrace, 100 frames", answer("stackTrace", stack), StackTraceBody),
        Case(
            "variables, 1000",
            answer("variables", VariablesBody(variables=variables)),
            VariablesBody,
        ),
        Case(
            "small request", Request(11, "stackTrace", StackTraceArguments(thread_id=1, levels=20)), StackTraceArguments
        ),
    ]


def answer(command: str, body: ProtocolObject) -> Response:
    """Make a successful response."""
    return Response(seq=12, request_seq=11, success=True, command=command, body=body)


def compare(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return our time per call in microseconds, and the median ratio of rounds that alternate."""
    count = calibrate(theirs)
    times: list[float] = []
    ratios: list[float] = []
    for number in range(ROUNDS):
        # Whoever comes second finds warm caches, so take turns.
        first, second = (ours, theirs) if number % 2 else (theirs, ours)
        spent = {first: clock(first, count), second: clock(second, count)}
        times.append(spent[ours] / count * 1e6)
        ratios.append(spent[ours] / spent[theirs])
    return statistics.median(times), statistics.median(ratios)


def calibrate(call: Callable[[], object]) -> int:
    """Find how many calls fill one round."""
    count = 1
    while (spent := clock(call, count)) < ROUND_SECONDS / 4:
        count *= 2
    return max(1, int(count * ROUND_SECONDS / spent))


def clock(call: Callable[[], object], count: int) -> float:
    """Time so many calls in processor time."""
    start = time.process_time()
    for _ in range(count):
        call()
    return time.process_time() - start


def measure(case: Case) -> list[tuple[str, float, float]]:
    """Compare decoding and encoding of one message."""
    payload = protocol.encode(case.message)
    command = case.message.command
    read_envelope = msgspec.json.Decoder(DirectRequest | DirectResponse | DirectEvent).decode
    read_inner = msgspec.json.Decoder(case.kind).decode
    write = msgspec.json.Encoder().encode
    decode, decode_arguments, decode_body = protocol.decode, protocol.decode_arguments, protocol.decode_body
    encode = protocol.encode

    def decode_ours() -> object:
        message = decode(payload)
        match message:
            case Request():
                return decode_arguments(command, message.arguments)
            case _:
                return decode_body(command, message.body)

    def decode_theirs() -> object:
        message = read_envelope(payload)
        match message:
            case DirectRequest():
                return read_inner(message.arguments)
            case _:
                return read_inner(message.body)

    def encode_ours() -> object:
        return encode(case.message)

    def encode_theirs() -> object:
        return write(case.message)

    return [
        (f"{case.name} ({len(payload)} B): decode", *compare(decode_ours, decode_theirs)),
        (f"{case.name} ({len(payload)} B): encode", *compare(encode_ours, encode_theirs)),
    ]


def import_cost() -> float:
    """Measure the milliseconds that the import adds to a bare start of Python; noise only adds, so the least counts."""
    start("import dapkit.protocol")  # leaves the bytecode behind, as an installation does
    pairs = [(start("import dapkit.protocol"), start("pass")) for _ in range(IMPORTS)]
    return (min(loaded for loaded, _ in pairs) - min(bare for _, bare in pairs)) * 1000


def start(code: str) -> float:
    """Run a whole process and return its processor time."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Print the table; 1 if a goal is missed."""
    missed = False
    print(f"{'dapkit.protocol':46} {'us':>9} {'x msgspec':>10} {'goal':>6}")
    for case in cases():
        for name, spent, ratio in measure(case):
            missed |= ratio > GOAL_RATIO
            print(f"{name:46} {spent:9.2f} {ratio:10.2f} {GOAL_RATIO:6.2f}")
    spent = import_cost()
    missed |= spent > GOAL_IMPORT_MS
    print(f"{'import, added to the start of Python':46} {spent:6.1f} ms {'':10} {GOAL_IMPORT_MS:3.0f} ms")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
