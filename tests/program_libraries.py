"""Libraries that programs under test import, installed by tools/install_libraries.py: how a test takes them.

environment = libraries_for("3.14")
Peer(python, folder, "--program", "prog.py", env=environment)
"""

from pathlib import Path

import bootstrap
from interpreters import OURS
from missing import missing

FOLDER = Path(bootstrap.TOOLS) / "libraries"


def libraries_for(version: str) -> dict[str, str]:
    """Return the variables by which a program on a version of Python has them, or end the test."""
    if version == OURS:
        return {}  # the environment of the tests has them
    if not (FOLDER / f"{version}.complete").exists():
        missing(f"libraries for Python {version} are not installed: run tools/install_libraries.py")
    return {"PYTHONPATH": str(FOLDER / version / "site-packages")}
