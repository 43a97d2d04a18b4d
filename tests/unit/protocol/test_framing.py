"""Frames: where a payload begins and ends, and what no stream of frames may hold."""

import pytest

from dapkit import limits
from dapkit.protocol import FrameDecoder, FramingError, encode_frame


def read(stream: bytes, *, limit: int = limits.MESSAGE_BYTES) -> list[bytes]:
    return FrameDecoder(limit).feed(stream)


def fault(stream: bytes, *, limit: int = limits.MESSAGE_BYTES) -> FramingError:
    with pytest.raises(FramingError) as caught:
        FrameDecoder(limit).feed(stream)
    return caught.value


def test_a_frame_is_a_header_a_blank_line_and_the_payload() -> None:
    assert encode_frame(b"{}") == b"Content-Length: 2\r\n\r\n{}"


def test_the_length_counts_bytes_not_characters() -> None:
    payload = '{"name":"ü"}'.encode()
    assert read(encode_frame(payload)) == [payload]


def test_frames_in_one_piece_come_out_in_order() -> None:
    assert read(encode_frame(b"1") + encode_frame(b"") + encode_frame(b"22")) == [b"1", b"", b"22"]


def test_a_frame_in_two_pieces_comes_out_with_the_second() -> None:
    decoder = FrameDecoder()
    assert decoder.feed(b"Content-Length: 4\r\n\r\nab") == []
    assert decoder.feed(b"cdContent-") == [b"abcd"]


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length:\t 2 \r\n\r\n",
        b"Content-Length: 002\r\n\r\n",
        b"Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nX-Anything: \xff\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\n\n",
        b"\r\nContent-Length: 2\r\n\r\n",
        b"\n\r\n\nContent-Length: 2\r\n\r\n",
    ],
)
def test_other_ways_to_write_a_header_are_accepted(header: bytes) -> None:
    assert read(header + b"{}") == [b"{}"]


def test_line_ends_after_a_payload_are_skipped() -> None:
    assert read(encode_frame(b"{}") + b"\r\n" + encode_frame(b"[]") + b"\r\n") == [b"{}", b"[]"]


@pytest.mark.parametrize(
    ("stream", "found", "offset"),
    [
        (b"Content-Type: x\r\n\r\n", "headers without Content-Length", 0),
        (b"Content-Length: -1\r\n", "Content-Length '-1'", 0),
        (b"Content-Length: +1\r\n", "Content-Length '+1'", 0),
        (b"Content-Length: abc\r\n", "Content-Length 'abc'", 0),
        (b"Content-Length: \xd9\xa3\r\n", r"Content-Length '\\xd9\\xa3'", 0),
        (b"Content-Length:\r\n", "Content-Length ''", 0),
        (b"Content-Length: 2, 2\r\n", "Content-Length '2, 2'", 0),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length 3 after Content-Length 2", 19),
        (b"Content-Length: 2 \r\nno colon\r\n", "'no colon'", 20),
        (b": 2\r\n", "': 2'", 0),
        (b"Content-Length : 2\r\n", "'Content-Length : 2'", 0),
        (b"X: 1\r\n folded\r\n", "' folded'", 6),
        (encode_frame(b"{}") + b'{"seq":1}', """'{"seq":1}'""", 23),
    ],
)
def test_a_faulty_header_is_named_with_its_place(stream: bytes, found: str, offset: int) -> None:
    error = fault(stream)
    assert (error.found, error.offset) == (found, offset)
    assert error.expected in str(error)
    assert f"at byte {offset}" in str(error)


@pytest.mark.parametrize(
    "stream", [b"POST / HTTP/1.1\r\n", b"GET /", b"Host: localhost:4711\r\n", b"Content-Length: 2\r\nOrigin: null\r\n"]
)
def test_http_is_refused_at_once(stream: bytes) -> None:
    fault(stream)


@pytest.mark.parametrize(
    "stream", [b'{"seq"', b"[1]", b"\x00", b"\xef\xbb\xbfContent-Length: 2", b"hello world", b"x" * 300]
)
def test_what_cannot_become_a_header_is_refused_before_its_line_ends(stream: bytes) -> None:
    fault(stream)


def test_a_payload_at_the_limit_is_read() -> None:
    assert read(encode_frame(b"x" * 100), limit=100) == [b"x" * 100]


@pytest.mark.parametrize("length", ["101", "99999999999999999999", "1" * 5000])
def test_a_length_above_the_limit_is_refused_before_the_payload_comes(length: str) -> None:
    assert fault(f"Content-Length: {length}\r\n".encode(), limit=100).expected == "at most 100 bytes"


def test_many_leading_zeros_are_no_large_length() -> None:
    assert read(b"Content-Length: " + b"0" * 5000 + b"2\r\n\r\n{}") == [b"{}"]


def test_a_header_block_above_the_limit_is_refused_before_it_ends() -> None:
    decoder = FrameDecoder()
    line = b"X-Filler: " + b"x" * 1000 + b"\r\n"
    for _ in range(limits.HEADER_BYTES // len(line)):
        decoder.feed(line)
    with pytest.raises(FramingError, match="bytes of headers"):
        decoder.feed(line)


def test_one_endless_header_line_is_refused() -> None:
    assert "bytes of headers" in fault(b"X: " + b"x" * limits.HEADER_BYTES).found


def test_the_offset_counts_from_the_start_of_the_stream() -> None:
    decoder = FrameDecoder()
    for _ in range(10):
        decoder.feed(encode_frame(b"{}"))
    with pytest.raises(FramingError) as caught:
        decoder.feed(b"X: 1\r\nnonsense\r\n")
    assert caught.value.offset == 10 * 23 + 6


def test_payloads_before_a_fault_are_not_lost() -> None:
    assert fault(encode_frame(b"{}") + encode_frame(b"[]") + b"nonsense\r\n").payloads == [b"{}", b"[]"]


def test_after_a_fault_every_feed_fails_in_the_same_way() -> None:
    decoder = FrameDecoder()
    with pytest.raises(FramingError) as first:
        decoder.feed(encode_frame(b"{}") + b"nonsense\r\n")
    with pytest.raises(FramingError) as second:
        decoder.feed(encode_frame(b"{}"))
    assert str(second.value) == str(first.value)
    assert second.value.payloads == []


@pytest.mark.parametrize(
    ("stream", "at_boundary"),
    [
        (b"", True),
        (encode_frame(b"{}"), True),
        (encode_frame(b"{}") + b"\r", True),
        (encode_frame(b"{}") + b"\r\n", True),
        (b"C", False),
        (b"Content-Length: 2\r\n", False),
        (b"Content-Length: 2\r\n\r\n", False),
        (b"Content-Length: 2\r\n\r\n{", False),
        (b"Content-Length: 0\r\n\r", False),
    ],
)
def test_a_stream_may_end_between_frames_only(stream: bytes, at_boundary: bool) -> None:
    decoder = FrameDecoder()
    decoder.feed(stream)
    assert decoder.at_boundary is at_boundary


@pytest.mark.thorough
def test_a_megabyte_in_single_bytes_is_read_in_linear_time() -> None:
    """A decoder that looks at bytes again would not end within the time limit of a test."""
    decoder = FrameDecoder()
    payload = bytes(1_000_000)
    stream = b"X: " + b"y" * 50_000 + b"\r\n" + encode_frame(payload)
    found = [read for position in range(len(stream)) for read in decoder.feed(stream[position : position + 1])]
    assert found == [payload]


def test_many_frames_in_one_piece_are_read_in_linear_time() -> None:
    assert len(read(encode_frame(b"{}") * 200_000)) == 200_000
