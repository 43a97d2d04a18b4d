"""A transcript as one HTML page, which needs nothing else and runs nothing.

There are no scripts: parts that open on demand are in `<details>`. The page's own policy forbids everything but its
style, so that even a mistake in the escaping could load and run nothing.
"""

import html
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from dapkit.agent.text.escaping import one_line, printable
from dapkit.diagnostics import limits
from dapkit.diagnostics.transcript.content import ShownStop, ShownVariable, Transcript, TranscriptStep, WireMessage
from dapkit.diagnostics.transcript.wording import (
    counted,
    date_and_time,
    duration,
    fitting,
    more,
    not_kept,
    output_lost,
    time_of_day,
    wire_lost,
)

# HTML made of values: every text is escaped, unless it was made here.

_EMPTY = frozenset({"meta", "br"})


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


type Content = str | Markup | None
"""The possible contents of an element; None is nothing."""


def element(name: str, /, *content: Content, **attributes: str | None) -> Markup:
    """Make an element; an underscore at the end of an attribute's name is dropped, others are dashes.

    >>> element("a", "1 < 2", href="#x", class_="place")
    '<a href="#x" class="place">1 &lt; 2</a>'
    """
    attribute_text = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{html.escape(printable(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{attribute_text}>")
    begin = "\n" if name == "pre" else ""  # one line end is dropped there
    return Markup(f"<{name}{attribute_text}>{begin}{joined(*content)}</{name}>")


def joined(*content: Content) -> Markup:
    """Put texts and elements side by side."""
    return Markup("".join(map(escaped, content)))


def escaped(text: Content) -> Markup:
    """Escape a text, and show its control characters; an element stays as it is."""
    match text:
        case Markup():
            return text
        case None:
            return Markup()
    return Markup(html.escape(printable(text), quote=False))


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_RESERVED_BYTES = 4096
"""Room for the notice of an omitted part."""


@cache
def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def as_html(transcript: Transcript, *, most: int = limits.TRANSCRIPT_BYTES) -> str:
    """Write a transcript as a page with at most so many bytes."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{one_line(transcript.program)}: debug session {transcript.session}"),
        element("style", Markup(_style())),
    )
    top, contents, end = _top(transcript), _contents(transcript), _end(transcript)
    size = sum(len(part.encode(errors="replace")) for part in (head, top, contents, end)) + _RESERVED_BYTES
    steps = [_step(step) for step in transcript.steps]
    if notice := not_kept(transcript):
        steps[0] = joined(steps[0], _notice(notice))
    fitting_steps = [Markup(part) for part in fitting(steps, most - size, _left_out)]
    main = element(
        "main",
        element("h2", "Actions", id="actions"),
        element("ol", *fitting_steps, class_="timeline")
        if fitting_steps
        else element("p", "There was none yet.", class_="quiet"),
        end,
    )
    body = element("body", element("div", top, contents, main, class_="page"))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _top(transcript: Transcript) -> Markup:
    facts = [
        *transcript.facts,
        ("Started", date_and_time(transcript.started)),
        ("Duration", duration(transcript.seconds)),
    ]
    listed = [element("div", element("dt", name), element("dd", one_line(text))) for name, text in facts]
    notices = [element("p", text, class_="notice") for text in (output_lost(transcript), wire_lost(transcript)) if text]
    return element(
        "header",
        element("p", f"Debug session {transcript.session}", class_="kicker"),
        element("h1", one_line(transcript.program)),
        element("p", one_line(transcript.ending), class_="ending"),
        element("dl", *listed, class_="facts"),
        *notices,
    )


def _contents(transcript: Transcript) -> Markup:
    if not transcript.stops:
        return element("nav", element("p", "The program did not stop.", class_="quiet"), class_="contents")
    rows = [
        element(
            "li",
            element(
                "a",
                element("span", f"{stop.number}", class_="count"),
                element(
                    "span",
                    element("span", one_line(stop.function or "unknown place"), class_="function"),
                    element("span", one_line(stop.place), class_="place") if stop.place else None,
                ),
                href=f"#step-{step.number}",
            ),
        )
        for step, stop in transcript.stops
    ]
    summary = element("summary", element("h2", counted(len(rows), "stop")))
    return element(
        "nav", element("details", summary, element("ol", *rows), open=""), aria_label="Stops", class_="contents"
    )


# Actions


def _step(step: TranscriptStep) -> Markup:
    kind = "failed" if not step.success else "stopped" if step.stop is not None else "done"
    mark = f"step-{step.number}"
    head = element(
        "header",
        element("h3", element("a", f"{step.number}", href=f"#{mark}", class_="count"), _command(step)),
        element(
            "p",
            element("span", "failed", class_="badge bad") if not step.success else None,
            element("time", time_of_day(step.time)),
            element("span", duration(step.seconds)),
            class_="when",
        ),
    )
    text = "answer bad" if not step.success else "answer"
    return element(
        "li",
        head,
        _output(step.output) if step.output else None,
        element("p", one_line(step.outcome), class_="outcome") if step.outcome else None,
        _value(step.value, has_name=step.action != "evaluate") if step.value is not None else None,
        _stop(step.stop) if step.stop is not None else None,
        element("pre", step.text, class_=text, tabindex="0") if step.text else None,
        _wire(step.wire),
        id=mark,
        class_=f"step {kind}",
    )


def _command(step: TranscriptStep) -> Markup:
    program, _, words = step.command.partition(" ")
    verb, _, rest = words.partition(" ")
    parts = element("span", f"{program} ", class_="program"), element("b", verb), f" {one_line(rest)}" if rest else None
    return element("code", *parts)


def _output(text: str, title: str = "Output") -> Markup:
    pre = element("pre", text.removesuffix("\n"), tabindex="0")
    return element("div", element("p", title, class_="label"), pre, class_="terminal")


def _value(value: ShownVariable, *, has_name: bool) -> Markup:
    return element(
        "div",
        element("code", one_line(value.name), class_="name") if has_name else None,
        element("span", one_line(value.type), class_="type") if value.type else None,
        element("pre", value.value or "(nothing)", tabindex="0"),
        class_="evaluation",
    )


def _stop(stop: ShownStop) -> Markup:
    raised = element("pre", "\n".join(stop.raised), class_="raised", tabindex="0") if stop.raised else None
    return element(
        "section",
        element(
            "p",
            element("span", f"Stop {stop.number}", class_="label"),
            element("span", one_line(stop.reason), class_="badge"),
        ),
        element(
            "h4",
            element("code", one_line(stop.function or "unknown place")),
            element("span", one_line(stop.place), class_="place") if stop.place else None,
        ),
        raised,
        _code(stop) if stop.code else None,
        *_variables(stop),
        _stack(stop) if stop.frames or stop.thread else None,
        *(element("p", f"Note: {one_line(note)}", class_="quiet") for note in stop.notes),
        class_="stop",
    )


def _code(stop: ShownStop) -> Markup:
    rows = [
        element(
            "span",
            element("span", f"{line.number}", class_="number"),
            element("span", one_line(line.text.replace("\t", "    ")) or " "),
            class_="line current" if line.current else "line",
            aria_current="true" if line.current else None,
        )
        for line in stop.code
    ]
    return element("pre", element("code", *rows), class_="code", tabindex="0")


def _variables(stop: ShownStop) -> Iterator[Content]:
    changed = [row for row in stop.variables if row.change]
    others = [row for row in stop.variables if not row.change]
    if changed:
        yield element("p", "Changed", class_="label")
        yield element("ul", *map(_chip, changed), class_="chips")
    if not others and not stop.more_variables:
        return
    rows = [
        joined(element("dt", one_line(row.name), title=one_line(row.type)), element("dd", one_line(row.value)))
        for row in others
    ]
    rest = more(stop.more_variables, "value")
    listed = joined(element("dl", *rows, class_="values"), element("p", rest, class_="quiet") if rest else None)
    if changed:
        yield element("details", element("summary", counted(len(others), "value") + " as before"), listed)
    else:
        yield joined(element("p", "Values", class_="label"), listed)


def _chip(row: ShownVariable) -> Markup:
    if row.was is None:
        before: Content = element("span", "new", class_="badge new")
        value = element("span", one_line(row.value))
    else:
        before = joined(element("del", one_line(row.was)), element("span", " → ", class_="arrow", aria_label="is now"))
        value = element("ins", one_line(row.value))
    return element("li", element("span", one_line(row.name), class_="name"), " ", before, " ", value)


def _stack(stop: ShownStop) -> Markup:
    rows = [element("li", one_line(frame)) for frame in stop.frames]
    rest = more(stop.more_frames, "frame")
    total = len(stop.frames) + max(0, stop.more_frames)
    return element(
        "details",
        element("summary", ", ".join(filter(None, [f"Stack of {counted(total, 'frame')}", one_line(stop.thread)]))),
        element("ol", *rows, class_="stack"),
        element("p", rest, class_="quiet") if rest else None,
    )


# Messages, and the end


def _wire(messages: Sequence[WireMessage]) -> Markup | None:
    if not messages:
        return None
    rows = [
        element(
            "li",
            element("p", f"{message.number}. {one_line(message.title)}"),
            element("pre", message.text, tabindex="0"),
        )
        for message in messages
    ]
    summary = element("summary", f"{counted(len(messages), 'message')} on the wire")
    return element("details", summary, element("ol", *rows), class_="wire")


def _end(transcript: Transcript) -> Markup:
    output = transcript.later_output
    return joined(
        _output(output, "Output after the last action") if output else None,
        _wire(transcript.later_wire),
        element(
            "footer",
            element("p", "Written by dapkit transcript. Secrets were left out.", class_="quiet"),
        ),
    )


def _notice(text: str) -> Markup:
    return element("li", text, class_="notice")


def _left_out(count: int) -> str:
    return _notice(f"{counted(count, 'action')} left out here, for which there is no room.")
