"""Files of the half that runs in the program, for those who start one: it is never imported here."""

from pathlib import Path

ENTRY = Path(__file__).parent / "debuggee" / "starting" / "entry.py"
"""The part that runs in the program's interpreter; nothing of dapkit need be installed there."""

TIME_TRAVEL = ENTRY.parents[1] / "_travel.abi3.so"
"""The extension for time travel and recordings."""
