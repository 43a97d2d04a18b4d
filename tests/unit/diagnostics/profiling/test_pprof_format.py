"""Profiles of Go: their stacks, and what is no profile."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapkit.diagnostics import limits
from dapkit.diagnostics.profiling.go_pprof import PprofCall, PprofFormatError, is_own_in_go, package_of, samples_in


def varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def field(number: int, value: int | bytes) -> bytes:
    match value:
        case int():
            return varint(number << 3) + varint(value)
        case bytes():
            return varint(number << 3 | 2) + varint(len(value)) + value


def line(function: int, number: int) -> bytes:
    return field(4, field(1, function) + field(2, number))


TEXTS = b"".join(field(6, text) for text in (b"", b"main.main", b"main.spin", b"/src/main.go", b"main.inlined"))
FUNCTIONS = b"".join(
    field(5, field(1, number) + field(2, name) + field(4, 3)) for number, name in ((1, 1), (2, 2), (3, 4))
)
LOCATIONS = field(4, field(1, 10) + line(1, 21)) + field(4, field(1, 11) + line(3, 5) + line(2, 13))
PACKED = field(2, field(1, varint(11) + varint(10)) + field(2, varint(7) + varint(70_000_000)))
UNPACKED = field(2, field(1, 10) + field(2, 3) + field(2, 30_000_000))
PROFILE = TEXTS + FUNCTIONS + LOCATIONS + PACKED + UNPACKED

MAIN = PprofCall("main.main", "/src/main.go", 21)


def test_samples_have_the_outermost_call_first_and_inlined_calls() -> None:
    first, second = samples_in(gzip.compress(PROFILE))
    calls = [MAIN, PprofCall("main.spin", "/src/main.go", 13), PprofCall("main.inlined", "/src/main.go", 5)]
    assert (list(first[0]), first[1]) == (calls, 7)
    assert (list(second[0]), second[1]) == ([MAIN], 3)


def test_unknown_numbers_are_shown_as_they_are() -> None:
    location = field(4, field(1, 5) + field(3, 0x4711)) + field(4, field(1, 6) + line(99, 1))
    [(calls, _)] = samples_in(gzip.compress(location + field(2, field(1, 5) + field(1, 6) + field(2, 1))))
    assert [call.function for call in calls] == ["?", "0x4711"]


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html>", id="a page"),
        pytest.param(gzip.compress(PROFILE)[:-9], id="the beginning of one"),
        pytest.param(gzip.compress(b"\x07"), id="a field of no kind"),
        pytest.param(gzip.compress(b"\x80"), id="half of a number"),
    ],
)
def test_what_is_no_profile_is_an_error(sent: bytes) -> None:
    with pytest.raises(PprofFormatError):
        list(samples_in(sent))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        list(samples_in(gzip.compress(data)))
    except PprofFormatError:
        return


def test_profile_that_unpacks_to_very_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PROFILE_BYTES", 1000)
    with pytest.raises(PprofFormatError, match="too long"):
        list(samples_in(gzip.compress(bytes(100_000))))


@pytest.mark.parametrize(
    ("function", "package", "own"),
    [
        ("main.spin", "main", True),
        ("runtime.mallocgc", "runtime", False),
        ("net/http.(*conn).serve", "net/http", False),
        ("example.com/shop/cart.Total.func1", "example.com/shop/cart", True),
        ("example.com/shop.Map[go.shape.int/x]", "example.com/shop", True),
        ("main.(*Cart[example.com/shop.Item]).Total", "main", True),
    ],
)
def test_package_of_a_function_says_whose_it_is(function: str, package: str, own: bool) -> None:
    assert (package_of(function), is_own_in_go(function)) == (package, own)


def test_modules_that_were_fetched_are_libraries() -> None:
    assert not is_own_in_go("github.com/x/y.Do", "/root/go/pkg/mod/github.com/x/y@v1.0.0/do.go")
