"""Errors of the engine.

Exception
+-- RequestRefused      a request that gets an error response
+-- MalformedFrame      the other end does not speak our protocol: the link closes
+-- AssertionError
    +-- MarkBroken      a function was called in the wrong thread, or without its lock (raised only in tests)
    +-- IllegalMove     a thread, or the program, is not in a state from which it can move so (the same)
BaseException
+-- TimeIsUp            raised inside a stopped thread, into code that is over its deadline
    +-- NotBegun        raised in place of calling code whose deadline has passed already
"""


class RequestRefused(Exception):
    """A request that cannot be done; the text goes to the person at the editor."""


class MalformedFrame(Exception):
    """Bytes on the link that are not a message of the protocol."""


class MarkBroken(AssertionError):
    """A function was called where its mark forbids it."""


class IllegalMove(AssertionError):
    """A change of state that is in no table of legal moves."""


class TimeIsUp(BaseException):
    """The deadline of code that runs for the debugger has passed.

    A BaseException, so that `except Exception` in that code does not swallow it.
    """


class NotBegun(TimeIsUp):
    """The deadline had passed before the code was to run."""
