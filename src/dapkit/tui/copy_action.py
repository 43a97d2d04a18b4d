"""Copying from a viewer: by the clipboard of the system, else by the terminal's, else by printing.

A terminal does not say whether it took a text (OSC 52), so that printing stays possible.
"""

from typing import Any

from textual.app import App, SuspendNotSupported

from dapkit.agent.text.escaping import printable
from dapkit.diagnostics import clipboard


def copy_text(app: App[Any], text: str, what: str) -> str:
    """Copy a text as well as that is possible here, and report the result.

    Args:
        app: whose terminal it is.
        text: to be copied.
        what: the kind of text, such as "12 lines", for the sentence that is returned.

    """
    if clipboard.copy(text):
        return f"{what} copied."
    if clipboard.over_ssh():
        app.copy_to_clipboard(text)
        return f"{what} sent to the clipboard of your terminal (OSC 52); p prints them, if it did not take them."
    print_text(app, text)
    return f"There is no clipboard: {what} printed."


def print_text(app: App[Any], text: str) -> None:
    """Leave the screen for as long as it takes to print a text, and until Enter is pressed."""
    try:
        with app.suspend():
            print(printable(text))  # noqa: T201 - the purpose of this function
            input("Press Enter to go back. ")
    except (SuspendNotSupported, EOFError):
        app.notify("This terminal cannot be printed to.", severity="warning")
