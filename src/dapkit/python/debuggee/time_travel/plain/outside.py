"""The program's ways to the outside, all of them: set up before it begins."""

import sys

from . import fence, files, streams
from .calls import ReplacedCalls
from .descriptors import Descriptors
from .history import PlainHistory
from .notes import NotedCalls


def replace(history: PlainHistory) -> None:
    """Have what the program takes from outside noted."""
    notes, descriptors = NotedCalls(history), Descriptors()
    calls = ReplacedCalls(notes, descriptors)
    raw_type = files.file_type(notes, descriptors)
    streams.replace(raw_type)
    streams.replace_input(notes, calls)
    module = sys.modules["_io"]
    calls.replace(module, "open", files.opening(notes, raw_type))
    calls.replace(module, "open_code", files.opening_code(notes, raw_type))
    calls.put(module, "FileIO", raw_type)
    calls.begin()
    fence.build(notes)
