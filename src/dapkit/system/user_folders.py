"""The user's own folders, by the variables that each system has for them."""

from collections.abc import Mapping
from pathlib import Path

from dapkit.system.selection import IS_WINDOWS

HOME = "USERPROFILE" if IS_WINDOWS else "HOME"
"""The variable that names the home folder."""


def config_folder(env: Mapping[str, str]) -> Path:
    """Return the folder for the settings of programs: $XDG_CONFIG_HOME, else %APPDATA% on Windows and ~/.config."""
    config = env.get("XDG_CONFIG_HOME") or (env.get("APPDATA") if IS_WINDOWS else None)
    return Path(config) if config else Path(env.get(HOME) or Path.home(), ".config")
