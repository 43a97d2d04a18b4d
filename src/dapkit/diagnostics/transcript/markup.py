"""HTML made of values: every text is escaped, unless it was made here."""

import html

from dapkit.agent.text.escaping import printable

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
