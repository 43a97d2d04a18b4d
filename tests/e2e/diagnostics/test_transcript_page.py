"""The page of a transcript in a real browser: on a phone and on a desk, in the light and in the dark."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.diagnostics.browser import Browser, browser
from e2e.diagnostics.commands import dapkit

pytestmark = [pytest.mark.usefixtures("runtime"), pytest.mark.timeout(240)]

PHONE = (360, 740)

SHOP = """\
import sys

class Order:
    def __init__(self, name, prices):
        self.name, self.prices = name, prices

def total(order):
    result = 0
    for price in order.prices:
        result += price
    return result

def main():
    orders = [Order("apples", [3, 4]), Order("a long order with a name that goes on and on", [12, 30])]
    for order in orders:
        amount = total(order)
        print(f"{order.name}: {amount}", "." * 120)
    print("<b>not bold</b> <script>document.title = 'run'</script>", file=sys.stderr)
    raise LookupError("no customer: <img src=x onerror=alert(1)>")

main()
"""

_OVERFLOW = """
return [...document.querySelectorAll("body *")].filter(each => {
    const box = each.getBoundingClientRect();
    if (box.width === 0 || box.right <= innerWidth + 0.5) return false;
    for (let above = each.parentElement; above; above = above.parentElement)
        if (getComputedStyle(above).overflowX !== "visible" && above.getBoundingClientRect().right <= innerWidth + 0.5)
            return false;
    return true;
}).map(each => each.className || each.tagName);
"""
"""Elements that reach out of the page, and that nothing around them lets scroll."""

_FONT_SIZES = """
const sizes = {};
for (const each of document.querySelectorAll("body *"))
    if ([...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()))
        sizes[`${each.tagName.toLowerCase()}.${each.className}`] = parseFloat(getComputedStyle(each).fontSize);
return sizes;
"""

_CONTRASTS = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const luminance = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => {
        const share = part / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const ground = element => {
    for (let each = element; each; each = each.parentElement) {
        const colour = getComputedStyle(each).backgroundColor;
        if (colour !== "rgba(0, 0, 0, 0)") return colour;
    }
    return "white";
};
const poor = {};
for (const each of document.querySelectorAll("body *"))
    if ([...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) {
        const [low, high] = [luminance(getComputedStyle(each).color), luminance(ground(each))].sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < 4.5) poor[`${each.tagName.toLowerCase()}.${each.className}`] = ratio;
    }
return poor;
"""
"""Text that stands out less from its ground than WCAG 2.2, 1.4.3 asks for."""


@pytest.fixture
def page(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the page of a session with everything that a page can have."""
    monkeypatch.setenv("HOME", str(project.parent))
    (project / "shop.py").write_text(SHOP)
    dapkit(project, "launch", "--timeout", "60", "-b", "shop.py:10", "shop.py")
    dapkit(project, "step-over")
    dapkit(project, "step-over")
    dapkit(project, "evaluate", "order.prices")
    dapkit(project, "evaluate", "order.customer", expect=1)
    dapkit(project, "stack-trace")
    dapkit(project, "breakpoints", "clear")
    dapkit(project, "continue")
    dapkit(project, "continue")
    dapkit(project, "transcript", "--wire", "-o", "page.html")
    return project / "page.html"


@pytest.fixture
def chromium(require_tool: Callable[[str], Path], tmp_path: Path) -> Iterator[Browser]:
    with browser(require_tool, tmp_path / "profile") as started:
        yield started


@pytest.mark.thorough
def test_page_is_readable_on_a_phone(page: Path, chromium: Browser) -> None:
    width, height = PHONE
    chromium.show(page, width=width, height=height, mobile=True)
    assert chromium.run("return innerWidth") == width
    assert chromium.run("return document.documentElement.scrollWidth") <= width
    for _ in ("as it opens", "with all details open"):
        assert chromium.run(_OVERFLOW) == []
        sizes = chromium.run(_FONT_SIZES)
        assert {name: size for name, size in sizes.items() if size < 14} == {}
        chromium.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert chromium.run("return parseFloat(getComputedStyle(document.body).fontSize)") >= 16
    assert chromium.run("return document.documentElement.scrollWidth") <= width
    assert chromium.run("const code = document.querySelector('.code'); return code.scrollWidth > code.clientWidth")
    chromium.show(page, width=width, height=height, mobile=True)
    chromium.run("document.querySelector('#step-2').scrollIntoView()")
    chromium.keep_picture("transcript-phone")


@pytest.mark.thorough
def test_page_shows_where_the_program_stood_and_what_changed(page: Path, chromium: Browser) -> None:
    chromium.show(page, width=1200, height=1500)
    chromium.keep_picture("transcript")
    current = "return [...document.querySelectorAll('#step-2 .line.current')].map(each => each.textContent)"
    assert chromium.run(current) == ["9    for price in order.prices:"]
    ground = "return getComputedStyle(document.querySelector({!r})).backgroundColor"
    assert chromium.run(ground.format("#step-2 .line.current")) != chromium.run(ground.format("#step-2 .line"))
    assert chromium.run("return document.querySelector('#step-2 .chips li').innerText") == "result 0 → 3"
    assert chromium.run("return document.querySelectorAll('nav a').length") == 4
    chromium.click("nav li:nth-child(3) a")
    assert chromium.run("return location.hash") == "#step-3"
    assert abs(chromium.run("return document.querySelector('#step-3').getBoundingClientRect().top")) < 100
    said = chromium.run("return [...document.querySelectorAll('.terminal pre')].map(each => each.textContent)")
    assert any("<b>not bold</b> <script>" in text for text in said)
    assert chromium.run("return document.querySelectorAll('script, img, b:not(h3 b)').length") == 0


@pytest.mark.thorough
def test_messages_are_shown_when_they_are_asked_for(page: Path, chromium: Browser) -> None:
    chromium.show(page, width=1200, height=900)
    shown = "return document.querySelector('#step-2 .wire pre').checkVisibility()"
    assert not chromium.run(shown)
    chromium.click("#step-2 .wire summary")
    assert chromium.run(shown)
    titles = chromium.run("return [...document.querySelectorAll('#step-2 .wire li p')].map(each => each.textContent)")
    assert any("request next" in title for title in titles)


@pytest.mark.thorough
def test_page_loads_nothing_and_its_policy_has_nothing_to_complain_about(page: Path, chromium: Browser) -> None:
    chromium.complaints()
    chromium.requested()
    chromium.show(page, width=1200, height=900)
    chromium.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert chromium.complaints() == []
    assert chromium.requested() == [page.as_uri()]
    assert chromium.run("return document.title") == "shop.py: debug session debug-1"


@pytest.mark.thorough
@pytest.mark.parametrize("dark", [False, True])
def test_all_text_stands_out_from_its_ground(page: Path, chromium: Browser, *, dark: bool) -> None:
    chromium.show(page, width=1200, height=900, dark=dark)
    light = chromium.run("return getComputedStyle(document.body).backgroundColor") == "rgb(247, 246, 242)"
    assert light is not dark
    chromium.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert chromium.run(_CONTRASTS) == {}
    if dark:
        chromium.run("document.querySelector('#step-3').scrollIntoView()")
        chromium.keep_picture("transcript-dark")
