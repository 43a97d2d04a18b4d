"""Frames, however the stream is split, and whatever it holds."""

import re
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from dapkit.protocol import FrameDecoder, FramingError, encode_frame

names = st.sampled_from(["Content-Type", "X-Whatever", "content-encoding", "Connection"])
values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@st.composite
def frames(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Make a payload and a frame for it, written in one of the ways that are accepted."""
    payload = draw(st.binary(max_size=50))
    length = draw(st.sampled_from(["Content-Length", "content-length", "CONTENT-LENGTH"]))
    headers = [f"{name}:{value}" for name, value in draw(st.lists(st.tuples(names, values), max_size=2))]
    headers.insert(draw(st.integers(0, len(headers))), f"{length}:{draw(st.sampled_from(['', ' ']))}{len(payload)}")
    end = draw(st.sampled_from(["\r\n", "\n"]))
    stray = draw(st.sampled_from(["", "\r\n", "\n", "\r\n\r\n"]))
    return payload, (end.join(headers) + end + end).encode() + payload + stray.encode()


@st.composite
def split(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    return [stream[start:stop] for start, stop in pairwise([0, *cuts, len(stream)])]


def outcome(pieces: list[bytes]) -> tuple[list[bytes], bool]:
    """Return the payloads that came out, and whether the stream was refused."""
    decoder = FrameDecoder(limit=1000)
    payloads: list[bytes] = []
    for piece in pieces:
        try:
            payloads += decoder.feed(piece)
        except FramingError as error:
            return payloads + error.payloads, True
    return payloads, False


@given(st.data(), st.lists(frames(), max_size=5))
def test_any_split_of_a_stream_gives_the_same_payloads(data: st.DataObject, sent: list[tuple[bytes, bytes]]) -> None:
    stream = b"".join(frame for _, frame in sent)
    assert outcome(data.draw(split(stream))) == ([payload for payload, _ in sent], False)


@given(st.data(), st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@example(None, b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc")
def test_any_split_of_garbage_comes_to_the_same_end(data: st.DataObject | None, garbage: bytes) -> None:
    stream = encode_frame(b"{}") + garbage
    pieces = data.draw(split(stream)) if data else [stream[:position] for position in (1, 2)]
    whole = outcome([stream])
    assert outcome([stream[position : position + 1] for position in range(len(stream))]) == whole
    if data:
        assert outcome(pieces) == whole


fragments = st.sampled_from(
    [
        b"Content-Length:",
        b" ",
        b"2",
        b"\r\n",
        b"\n",
        b"{}",
        b"Host: x",
        b"X-A: b",
        b"\r",
        b":",
        b"\xff",
        b"GET / HTTP/1.1",
    ]
)


@given(st.data(), st.lists(fragments, max_size=20).map(b"".join))
def test_any_split_of_almost_a_stream_comes_to_the_same_end(data: st.DataObject, stream: bytes) -> None:
    assert outcome(data.draw(split(stream))) == outcome([stream])


@given(st.binary(max_size=100))
def test_what_was_framed_is_read_again(payload: bytes) -> None:
    frame = encode_frame(payload)
    assert re.match(rb"Content-Length: \d+\r\n\r\n", frame)
    assert FrameDecoder().feed(frame) == [payload]
