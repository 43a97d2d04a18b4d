"""A transcript as Markdown and as a page: what a program says stays data, and both stay within bounds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dapkit.agent.results.diagnostics import RecordedAction, RecordResult, SessionConfiguration, WireRecords, WireRow
from dapkit.agent.results.snapshot import Snapshot
from dapkit.agent.text.escaping import printable
from dapkit.diagnostics import limits
from dapkit.diagnostics.transcript import Transcript, as_html, as_markdown, transcript_from
from dapkit.diagnostics.transcript.content import CodeLine, ShownStop, ShownVariable, TranscriptStep, WireMessage
from dapkit.diagnostics.transcript.markdown import code_span, fenced_block
from dapkit.diagnostics.transcript.wording import duration, fitting
from dapkit.protocol import changed
from unit.agent.samples import ANYWHERE

NASTY = (
    "```",
    "````\n# heading\n```",
    "</pre><script>alert(1)</script>",
    "</details></li><h1>x",
    "<img src=x onerror=alert(1)>",
    "[link](http://evil.example)",
    "![image](http://evil.example/x.png)",
    "# heading",
    "a | b\n--- | ---",
    "<!-- ",
    "]]>",
    "`",
    "` `` ```",
    " ",
    "",
    "\n\n",
    "\x1b[31mred\x1b[0m\x00\x07",
    "\u202eevil\u2066",
    "\ud800",
    "&lt;b&gt; &amp;",
    "style='x' \" '",
    "http://evil.example/",
    "<http://evil.example/>",
    "\\",
    "~~~~",
    "\t- a\r\n  - b",
)
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=30), st.lists(st.sampled_from(NASTY)).map("".join))


def stop(text: str = "x") -> ShownStop:
    return ShownStop(
        number=1,
        reason=text,
        place=text,
        path=f"{text}.py",
        function=text,
        thread=text,
        raised=[text],
        code=[CodeLine(1, text, current=False), CodeLine(2, text, current=True)],
        variables=[
            ShownVariable(text, text, text, change=True, was=text),
            ShownVariable(text, text, text, change=True),
            ShownVariable(text, text, text),
        ],
        more_variables=2,
        frames=[text, text],
        more_frames=-1,
        notes=[text],
    )


def transcript(text: str = "x") -> Transcript:
    wire = [WireMessage(1, 1.0, text, text)]
    step = TranscriptStep(
        number=1, time=1.0, seconds=0.5, action="evaluate", command=text, success=True, output=text, wire=wire
    )
    return Transcript(
        session="debug-1",
        project="/project",
        program=text,
        adapter="dapkit",
        facts=[("Program", text)],
        started=1.0,
        seconds=3.0,
        ending=text,
        over=True,
        steps=[
            replace(step, stop=stop(text)),
            replace(step, number=2, value=ShownVariable(text, text, text)),
            replace(step, number=3, action="set_variable", value=ShownVariable(text, text, text)),
            replace(step, number=4, success=False, text=text),
            replace(step, number=5, outcome=text),
        ],
        later_output=text,
        later_wire=wire,
        wire_total=7,
        wire_kept=6,
    )


# Markdown


def flat(tokens: Sequence[Token]) -> list[Token]:
    return [each for token in tokens for each in [token, *flat(token.children or ())]]


@drawn(texts)
def test_data_makes_no_heading_no_link_and_no_html_in_markdown(text: str) -> None:
    tokens = flat(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(as_markdown(transcript(text))))
    found = Counter(token.type for token in tokens)
    assert (found["heading_open"], found["link_open"], found["image"], found["table_open"]) == (8, 1, 0, 0)
    assert [token.attrs for token in tokens if token.type == "link_open"] == [{"href": "#step-1"}]
    html = Counter(token.content.strip() for token in tokens if token.type in ("html_block", "html_inline"))
    anchors = {f'<a id="step-{number}">': 1 for number in range(1, 6)}
    wire = {"<details><summary>1 message on the wire</summary>": 6, "</details>": 6}
    assert html == {**anchors, "</a>": 5, **wire}


@drawn(texts)
def test_text_in_a_fence_or_a_span_is_what_it_was(text: str) -> None:
    [block] = MarkdownIt("commonmark").parse(fenced_block(text))
    assert block.content.removesuffix("\n") == printable(text).removesuffix("\n")
    [_, inline, _] = MarkdownIt("commonmark").parse(f"a {code_span(text)} b")
    assert [token.type for token in inline.children or ()] == ["text", "code_inline", "text"]


# The page


class Page(HTMLParser):
    """Collects what a page has."""

    VOID = ("meta",)

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


@drawn(texts)
def test_data_makes_no_element_and_no_attribute_of_a_page(text: str) -> None:
    page, plain = Page(as_html(transcript(text))), Page(as_html(transcript("x")))
    assert set(page.tags) <= set(plain.tags)
    few = ("html", "head", "title", "style", "h1", "script", "main", "nav", "footer")
    assert {tag: page.tags.count(tag) for tag in few} == {tag: plain.tags.count(tag) for tag in few}
    assert page.tags.count("h3") == 5
    assert page.open == []
    assert {name for name, _ in page.attributes} <= {name for name, _ in plain.attributes}
    assert {value for name, value in page.attributes if name == "href"} <= {f"#step-{number}" for number in range(1, 6)}
    shown = "".join(page.texts)
    assert not any(character in shown for character in "\x00\x1b\x07\u202e\u2066\ud800")
    assert printable(text).strip("\n") in shown


def test_page_needs_nothing_else_and_runs_nothing() -> None:
    page = as_html(transcript())
    assert page.startswith('<!doctype html>\n<html lang="en">')
    parsed = Page(page)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in parsed.attributes
    assert ("content", "width=device-width, initial-scale=1") in parsed.attributes
    assert not {"script", "link", "img", "iframe", "base", "form"} & set(parsed.tags)
    assert not any(name.startswith("on") or name in ("src", "style") for name, _ in parsed.attributes)
    for loads in ("url(", "@import", "http:", "https:"):
        assert loads not in page


def test_page_has_an_anchor_for_each_step_and_a_contents_of_stops() -> None:
    parsed = Page(as_html(transcript()))
    assert [value for name, value in parsed.attributes if name == "id" and value] == [
        "actions",
        *(f"step-{number}" for number in range(1, 6)),
    ]
    assert "1 stop" in parsed.texts


def test_changed_values_say_what_they_were_and_the_current_line_is_marked() -> None:
    shown = stop()
    shown = replace(
        shown,
        code=[CodeLine(3, "a = 1", current=False), CodeLine(4, "a = 2", current=True)],
        variables=[ShownVariable("a", "2", "int", change=True, was="1"), ShownVariable("b", "3", change=True)],
    )
    of_it = replace(transcript(), steps=[replace(transcript().steps[0], stop=shown)])
    markdown = as_markdown(of_it)
    assert "\n   3  a = 1\n-> 4  a = 2\n" in markdown
    assert "\na: 1 -> 2\nb: 3 (new)\n" in markdown
    page = as_html(of_it)
    assert '<span class="line current" aria-current="true"><span class="number">4</span>' in page
    assert "<del>1</del>" in page
    assert "<ins>2</ins>" in page


# Bounds


@pytest.mark.thorough
def test_too_long_a_transcript_has_the_first_action_and_the_latest() -> None:
    step = transcript().steps[3]
    steps = [replace(step, number=number, text=f"answer {number} " + "<&" * 5_000) for number in range(1, 2_001)]
    of_it = replace(transcript(), steps=steps)
    for text in (as_html(of_it), as_markdown(of_it)):
        assert limits.TRANSCRIPT_BYTES * 0.98 < len(text.encode()) <= limits.TRANSCRIPT_BYTES
        assert "answer 1 " in text
        assert "answer 2 " not in text
        assert "answer 2000 " in text
        assert "actions left out here, for which there is no room." in text


def test_parts_that_fit_all_stay_and_others_go_from_the_second_on() -> None:
    parts = ["a" * 10, "b" * 10, "c" * 10, "d" * 10]
    assert fitting(parts, 40, str) == parts
    assert fitting(parts, 39, str) == [parts[0], "1", *parts[2:]]
    assert fitting(parts, 21, str) == [parts[0], "2", parts[3]]
    assert fitting(["a" * 100, "b", "c"], 10, str) == ["1", "b", "c"]
    assert fitting([], 10, str) == []


def test_what_is_not_kept_is_said() -> None:
    of_it = replace(transcript(), dropped=1_500, output_lost=7)
    for text in (as_html(of_it), as_markdown(of_it)):
        assert "1500 actions after the first were dropped: the latest are kept." in text
        assert "The first 7 characters of the output were dropped: the latest are kept." in text
        assert "Of 7 messages on the wire, the latest 6 are kept." in text


def test_session_without_actions_is_a_transcript_too() -> None:
    empty = replace(transcript(), steps=[], later_output="", later_wire=(), wire_total=None)
    assert "There was none yet." in as_markdown(empty)
    assert "There was none yet." in as_html(empty)


# What is read from a record


def snapshot(**given: object) -> Snapshot:
    return changed(ANYWHERE, **{"adapter": "dapkit", "program": None, "cwd": "/project", "status": "running", **given})


def action(name: str, *, time: float = 1.0, details: object = None, **given: object) -> RecordedAction:
    return RecordedAction(
        number=1,
        time=time,
        seconds=0.5,
        action=name,
        details=details,
        **{"arguments": {}, "success": True, "text": "the text", **given},  # type: ignore[arg-type] # the same
    )


def record(*entries: RecordedAction, ending: str = "", of: Snapshot | None = None) -> RecordResult:
    return RecordResult(
        snapshot=of or snapshot(),
        project="/project",
        created=1.0,
        ending=ending,
        configuration=SessionConfiguration(adapter="dapkit", command=["dapkit"], request="launch", arguments={}),
        entries=[*entries],
        dropped=0,
        output="",
    )


OF_SESSION = {
    "id": "debug-1",
    "adapter": "dapkit",
    "status": "stopped",
    "cwd": "/project",
    "launchedAt": "",
    "lastUsedAt": "",
    "outputBytes": 0,
    "outputTruncated": False,
    "needsConfigurationDone": False,
    "breakpointFiles": 0,
    "breakpointCount": 0,
    "functionBreakpointCount": 0,
}


@pytest.mark.parametrize(
    ("details", "outcome"),
    [
        ({"state": "terminated", "snapshot": {**OF_SESSION, "exitCode": 3}}, "The program ended with exit code 3."),
        (
            {"state": "terminated", "snapshot": {**OF_SESSION, "exitCode": 139, "exitSignal": "SIGSEGV"}},
            "The program ended with exit code 139 (SIGSEGV).",
        ),
        (
            {"state": "running", "timedOut": True, "waited": 5.0, "snapshot": OF_SESSION},
            "The program still ran after 5 s.",
        ),
        ({"ending": "detached", "snapshot": OF_SESSION}, "The session was detached."),
        ({"ending": "terminated", "already": True, "snapshot": OF_SESSION}, "The session had ended already."),
        (
            {
                "notes": [],
                "adapter": "dapkit",
                "snapshot": {**OF_SESSION, "source": {"path": "/project/a.py"}, "line": 3},
            },
            "The program is stopped at a.py:3.",
        ),
    ],
)
def test_what_became_of_the_program_is_said_in_a_line(details: object, outcome: str) -> None:
    [step] = transcript_from(record(action("continue", details=details))).steps
    assert (step.outcome, step.text) == (outcome, "")


@pytest.mark.parametrize("details", [None, {}, "text", {"stop": {"nonsense": 1}}, {"threads": []}])
def test_answer_without_details_that_are_understood_is_its_text(details: object) -> None:
    [step] = transcript_from(record(action("threads", details=details))).steps
    assert (step.outcome, step.stop, step.text) == ("", None, "the text")


def test_ending_is_a_sentence() -> None:
    over = snapshot(status="terminated")
    assert transcript_from(record(of=over, ending="the program ended")).ending == "The program ended."
    assert transcript_from(record(of=over)).ending == "It has ended."
    assert transcript_from(record()).ending == "It is open: running."


def test_messages_belong_to_the_action_that_they_came_before_or_during() -> None:
    rows = [
        WireRow(
            number=n, time=n / 2, channel="", sender="client", kind="event", name="output", text='{"a":1}', length=7
        )
        for n in range(1, 8)
    ]
    wire = WireRecords(session="debug-1", over=False, records=rows, total=9, kept=7, characters=49)
    found = transcript_from(record(action("launch", time=1.0), action("continue", time=2.0)), wire)
    assert [[message.number for message in step.wire] for step in found.steps] == [[1, 2], [3, 4]]
    assert [message.number for message in found.later_wire] == [5, 6, 7]
    assert found.steps[0].wire[0].text == '{\n  "a": 1\n}'
    assert (found.wire_total, found.wire_kept) == (9, 7)


def test_transcript_as_json_has_names_as_other_answers_do() -> None:
    found = transcript().as_json()
    assert found["wireTotal"] == 7
    assert "moreVariables" in str(found["steps"])


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "< 1 ms"), (0.0071, "7 ms"), (59.9, "59.9 s"), (75, "1 min 15 s"), (7_260, "2 h 1 min")],
)
def test_durations_are_in_units_that_fit(seconds: float, said: str) -> None:
    assert duration(seconds) == said
