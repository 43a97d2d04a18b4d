"""The clipboard of the system, by the program that it has for that."""

import os
import shutil
import subprocess
import sys

from dapkit.diagnostics import limits

_PROGRAMS = (
    ("WAYLAND_DISPLAY", ["wl-copy"]),
    ("DISPLAY", ["xclip", "-selection", "clipboard"]),
    ("DISPLAY", ["xsel", "--clipboard", "--input"]),
    ("WSL_DISTRO_NAME", ["clip.exe"]),
)
"""Commands that take a text on their input, each with the variable that says that there is such a clipboard."""


def copy(text: str) -> bool:
    """Put a text into the clipboard; False if there is no clipboard, or if its program fails."""
    command = _command()
    if command is None:
        return False
    try:
        process = subprocess.run(
            command,
            input=text.encode(errors="replace"),
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
    if sys.platform == "darwin":
        commands.append(["pbcopy"])
    return next((command for command in commands if shutil.which(command[0])), None)
