"""Files of the half that runs in the program, for those who start one: it is never imported here."""

from pathlib import Path

ENTRY = Path(__file__).parent / "debuggee" / "starting" / "entry.py"
"""What runs in the program's interpreter; needs nothing of ours installed there."""
