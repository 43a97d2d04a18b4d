"""Copying from a viewer: by the clipboard of the system, else by the terminal's, else by printing.

A terminal does not say whether it took a text (OSC 52), so that printing stays possible.
"""

import os
import shutil
import subprocess
from typing import Any

from textual.app import App, SuspendNotSupported

from dapkit.agent.text.escaping import printable
from dapkit.diagnostics import limits
from dapkit.system.selection import IS_MACOS, IS_WINDOWS

_PROGRAMS = (
    ("WAYLAND_DISPLAY", ["wl-copy"]),
    ("DISPLAY", ["xclip", "-selection", "clipboard"]),
    ("DISPLAY", ["xsel", "--clipboard", "--input"]),
    ("WSL_DISTRO_NAME", ["clip.exe"]),
)
"""Commands that take a text on their input, each with the variable that says that there is such a clipboard."""
_ENCODING = "utf-16" if IS_WINDOWS else "utf-8"
"""As these programs read it."""


def copy(text: str) -> bool:
    """Put a text into the clipboard; False if there is no clipboard, or if its program fails."""
    command = _command()
    if command is None:
        return False
    try:
        process = subprocess.run(
            command,
            input=text.encode(_ENCODING, errors="replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=limits.CLIPBOARD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return process.returncode == 0


def over_ssh() -> bool:
    """Whether the terminal is at another machine, whose clipboard is reached only through it (OSC 52)."""
    return bool(os.environ.get("SSH_TTY") or os.environ.get("SSH_CONNECTION"))


def _command() -> list[str] | None:
    commands = [command for variable, command in _PROGRAMS if os.environ.get(variable)]
    if IS_MACOS:
        commands.append(["pbcopy"])
    if IS_WINDOWS:
        commands.append(["clip.exe"])
    return next((command for command in commands if shutil.which(command[0])), None)


def copy_text(app: App[Any], text: str, what: str) -> str:
    """Copy a text as well as that is possible here, and report the result.

    Args:
        app: whose terminal it is.
        text: to be copied.
        what: the kind of text, such as "12 lines", for the sentence that is returned.

    """
    if copy(text):
        return f"{what} copied."
    if over_ssh():
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
