"""Errors of the engine.

Exception
+-- RequestRefused      a request that gets an error response
+-- MalformedFrame      the other end does not speak our protocol: the link closes
BaseException
+-- TimeIsUp            raised inside a stopped thread, into code that is over its deadline
    +-- NotBegun        raised in place of calling code whose deadline has passed already
"""


class RequestRefused(Exception):
    """A request that cannot be done; the text goes to the person at the editor."""


class MalformedFrame(Exception):
    """Bytes on the link that are no message of the protocol."""


class TimeIsUp(BaseException):
    """The deadline of code that runs for the debugger has passed.

    A BaseException, so that `except Exception` in that code does not swallow it.
    """


class NotBegun(TimeIsUp):
    """The deadline had passed before the code was to run."""
