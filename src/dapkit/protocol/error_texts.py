"""A text as the structured error of a response, and back.

`Message.format` has holes in braces, which `Message.variables` fill. A text of ours is meant as it stands, so one with
braces goes into a hole as a whole; one without them is its own format, also for clients that fill in nothing.
"""

import re
from typing import Final

from dapkit.protocol.generated import Message

_HOLE: Final = re.compile(r"\{([^{}]+)\}")


def error_message(text: str, *, show_user: bool | None = None) -> Message:
    """Make the structured error that says a text, whatever braces are in it.

    Args:
        text: the failure, for people.
        show_user: whether the client is to show it by itself, as a notification; None leaves that to the client.

    """
    if "{" not in text:
        return Message(id=1, format=text, show_user=show_user)
    return Message(id=1, format="{text}", variables={"text": text}, show_user=show_user)


def error_text(error: Message) -> str:
    """Return the text that a structured error says, its holes filled where there is something to fill them with."""
    variables = error.variables or {}
    return _HOLE.sub(lambda hole: variables.get(hole[1], hole[0]), error.format)
