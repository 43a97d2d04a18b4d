"""`redirectOutput` in programs whose output the adapter does not have."""

import time

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import DEADLINE, EngineClient

pytestmark = pytest.mark.row("launch")


def told(peer: EngineClient, category: str) -> str:
    events = [event["body"] for event in peer.events() if event["event"] == "output"]
    return "".join(body["output"] for body in events if body["category"] == category)


def test_what_is_written_is_told_as_well_before_the_stop_that_follows(start: Start) -> None:
    peer = start(
        """
        import sys
        print("one", 1)
        sys.stderr.write("trouble\\n")
        sys.stdout.writelines(["two\\n", "three\\n"])
        x = 1
        print("end", flush=True)
        """
    )
    peer.configure(lines=[5], redirectOutput=True)
    peer.stopped("breakpoint")
    assert told(peer, "stdout") == "one 1\ntwo\nthree\n"
    assert told(peer, "stderr") == "trouble\n"
    assert peer.value("sys.stdout.name") == "'<stdout>'"
    peer.go()
    assert peer.finish() == (0, "one 1\ntwo\nthree\nend\n", "trouble\n")
    assert told(peer, "stdout") == "one 1\ntwo\nthree\nend\n"


def test_signal_handler_may_write_while_something_is_told(start: Start) -> None:
    peer = start(
        """
        import signal, sys
        ticking = []
        def tick(*_):
            if not ticking:  # Python's own streams refuse to be entered again by the same handler
                ticking.append(True)
                sys.stderr.write("tick\\n")
                ticking.clear()
        signal.signal(signal.SIGALRM, tick)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for n in range(5_000):
            print(n)
        signal.setitimer(signal.ITIMER_REAL, 0)
        """
    )
    peer.configure(redirectOutput=True)
    code, output, errors = peer.finish()
    assert (code, set(errors.splitlines())) == (0, {"tick"})
    assert told(peer, "stdout") == output
    assert told(peer, "stderr") == errors


def test_stream_is_as_before_once_the_client_has_gone(start: Start) -> None:
    peer = start(
        """
        import sys, time
        print("write" in vars(sys.stdout), flush=True)
        while "write" in vars(sys.stdout):
            time.sleep(0.001)
        print("write" in vars(sys.stdout), flush=True)
        """
    )
    peer.configure(redirectOutput=True)
    deadline = time.monotonic() + DEADLINE
    while "True" not in told(peer, "stdout"):
        assert time.monotonic() < deadline
        peer.event("output")
    peer.ask("disconnect", terminateDebuggee=False)
    assert peer.process.wait(DEADLINE) == 0
    assert peer.process.stdout is not None
    assert peer.process.stdout.read() == b"True\nFalse\n"


def test_bytes_written_to_the_buffer_are_told_in_their_order(start: Start) -> None:
    peer = start(
        """
        import sys
        out = sys.stdout
        print("one", flush=True)
        euro = "\u20ac".encode()
        out.buffer.write(b"two " + euro[:1])
        out.buffer.write(memoryview(euro)[1:])
        out.buffer.write(b"\\xff\\n")
        out.buffer.flush()
        out.write("three, not flushed")
        out.flush()
        sys.stderr.buffer.write(b"trouble\\n")
        sys.stderr.buffer.flush()
        x = 1
        out.buffer.write(b"\\nfour\\n")
        print("end")
        """
    )
    peer.configure(lines=[13], redirectOutput=True)
    peer.stopped("breakpoint")
    assert told(peer, "stdout") == "one\ntwo \u20ac\\xff\nthree, not flushed"
    assert told(peer, "stderr") == "trouble\n"
    peer.go()
    while not peer.ended:
        peer.read(time.monotonic() + DEADLINE)
    assert told(peer, "stdout").endswith("three, not flushed\nfour\nend\n")
