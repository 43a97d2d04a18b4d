"""Fake peers, a pair in memory, and order assertions: the basis of dapkit's own tests."""

from dapkit.testing.handshakes import HANDSHAKES
from dapkit.testing.moments import Moment
from dapkit.testing.pair import ANYBODY, USUAL, End, Pair
from dapkit.testing.patterns import Found, Pattern, event, failure, never, request, response
from dapkit.testing.peers import FakeAdapter, FakeClient, FakePeer, Script, Step
from dapkit.testing.schema import check_schema
from dapkit.testing.steps import (
    ask,
    blurt,
    die,
    hold,
    raw,
    refuse,
    release,
    reply,
    tell,
    tell_custom,
)
from dapkit.testing.timeline import Timeline

__all__ = [
    "ANYBODY",
    "HANDSHAKES",
    "USUAL",
    "End",
    "FakeAdapter",
    "FakeClient",
    "FakePeer",
    "Found",
    "Moment",
    "Pair",
    "Pattern",
    "Script",
    "Step",
    "Timeline",
    "ask",
    "blurt",
    "check_schema",
    "die",
    "event",
    "failure",
    "hold",
    "never",
    "raw",
    "refuse",
    "release",
    "reply",
    "request",
    "response",
    "tell",
    "tell_custom",
]
