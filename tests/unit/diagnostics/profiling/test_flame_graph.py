"""The flame graph: well-formed whatever a name is, within bounds, and true to scale."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dapkit.diagnostics import limits
from dapkit.diagnostics.profiling.call_tree import call_tree
from dapkit.diagnostics.profiling.flame_graph import flame_graph
from dapkit.diagnostics.profiling.samples import SampledFrame, SampledStack
from unit.diagnostics.profiling.profiles import BUSY

SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    "<script>alert(1)</script>",
    "]]>&amp;\"'",
    "\x00\x07\x1b[31m\ud800\ufffe",
    "std::vector<std::pair<int, char*>, std::allocator<> >::operator[]",
    "\u202eevil",
    "",
]


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - what we have written ourselves


def boxes(root: ET.Element) -> dict[str, tuple[float, float, float]]:
    """Return left, top and width of each box, by the first line of its tip."""
    found = {}
    for box in root.iter(f"{SVG}svg"):
        if box is not root:
            tip = box.findtext(f"{SVG}title") or ""
            found[tip.split("\n")[0]] = (float(box.get("x", "")), float(box.get("y", "")), float(box.get("width", "")))
    return found


def test_boxes_are_as_wide_as_they_have_samples_and_below_their_callers() -> None:
    found = boxes(parsed(BUSY.svg()))
    whole, main, spin, wait = (
        found[name] for name in ("all", "main (app.py)", "spin (app.py)", "Event.wait (threading.py)")
    )
    assert main[2] == whole[2]
    assert (spin[2] + 1) / (whole[2] + 1) == pytest.approx(0.9)
    assert wait[1] == spin[1] == main[1] + (main[1] - whole[1])
    assert wait[0] == pytest.approx(main[0] + (main[2] + 1) * (0 if wait[0] < spin[0] else 0.9))


def test_tip_has_the_count_and_what_waits() -> None:
    tips = [title.text or "" for title in parsed(BUSY.svg()).iter(f"{SVG}title")]
    assert "Event.wait (threading.py)\n10 samples, 10.0 %; waiting in 100 % of them" in tips


def test_nothing_in_a_name_becomes_markup() -> None:
    stacks: dict[SampledStack, int] = {(SampledFrame(name, name, 1),): 9 for name in NASTY}
    text = flame_graph(call_tree(stacks), title=NASTY[0], facts=NASTY)
    root = parsed(text)
    assert {element.tag for element in root.iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "title", "style", "rect", "text")
    }
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]


@given(st.lists(st.tuples(st.lists(st.text(max_size=20), min_size=1, max_size=6), st.integers(1, 50)), max_size=20))
def test_any_names_make_a_readable_picture(given_stacks: list[tuple[list[str], int]]) -> None:
    stacks = {tuple(SampledFrame(name) for name in names): count for names, count in given_stacks}
    parsed(flame_graph(call_tree(stacks), title="t", facts=[]))


def test_text_stays_within_its_box() -> None:
    stacks: dict[SampledStack, int] = {(SampledFrame("n" * size),): 1 + size for size in range(1, 120)}
    for box in parsed(flame_graph(call_tree(stacks), title="t", facts=[])).iter(f"{SVG}svg"):
        label = box.findtext(f"{SVG}text")
        if label and box.get("viewBox") is None:
            assert len(label) * 6.65 + 3 <= float(box.get("width", ""))


def test_narrow_boxes_are_left_out_and_counted() -> None:
    stacks: dict[SampledStack, int] = {(SampledFrame(f"rare{number}"),): 1 for number in range(200)}
    text = flame_graph(call_tree({**stacks, (SampledFrame("often"),): 1_000_000}), title="t", facts=[])
    assert "200 calls are too narrow to be drawn" in text
    assert set(boxes(parsed(text))) == {"all", "often"}


def test_number_of_boxes_is_bounded_and_none_hangs_in_the_air(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FLAME_GRAPH_BOXES", 10)
    stacks: dict[SampledStack, int] = {
        (SampledFrame(f"a{number}"), SampledFrame(f"b{number}")): 10 + number for number in range(30)
    }
    found = boxes(parsed(flame_graph(call_tree(stacks), title="t", facts=[])))
    assert len(found) == 10
    assert {name.replace("b", "a") for name in found if name.startswith("b")} <= set(found)
