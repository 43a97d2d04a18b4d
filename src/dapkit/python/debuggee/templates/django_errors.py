"""Errors in the syntax of Django's templates: the frame of the library that raises one stands for the template's line.

Django compiles a template by methods of its parser, and no frame of them belongs to a line of the template. Where such
a method has found an error, it holds the token that the error is about, and the parser knows the template's file.
Methods of the parser that have found no error stay frames of the library, so that no step ends in them.
"""

from opcode import opname
from types import FrameType
from typing import Final

from ..interpreter.frame_locals import stored_locals
from ..interpreter.frame_views import FrameView
from ..interpreter.gc_tracking import untrack
from ..interpreter.safe_types import namespace, plain_text, traceback_of
from ..values.storage import store_local
from .django import title_of_token

_FILE: Final = "/django/template/base.py"
_COMPILES: Final = "Template.compile_nodelist"
_PARSES: Final = "Parser.parse"
_APPENDS: Final = "Parser.extend_nodelist"
_ALWAYS_FAIL: Final = ("Parser.invalid_block_tag", "Parser.unclosed_block_tag")
_MUST_HAVE_CONTENTS: Final = ("VAR", "BLOCK")
_MOST_FRAMES: Final = 10_000


class DjangoErrorFrame(FrameView):
    """A frame that raises an error about a token of a template."""

    def __init__(self, frame: FrameType, filename: str, token: object, line: int) -> None:
        super().__init__(frame, filename, line)
        self._token = token
        untrack(self)

    @property
    def title(self) -> str:
        """The tag or variable, as it stands in the template."""
        return title_of_token(self._token)

    def names(self) -> dict[str, object]:
        """Return the variables of the method, as a template has variables only when it is rendered."""
        return dict(stored_locals(self.frame))

    def global_names(self) -> dict[str, object]:
        """Return the variables of the library's module."""
        return self.frame.f_globals

    def write(self, name: str, value: object) -> None:
        """Give a variable of the method a new value."""
        store_local(self.frame, name, value)

    def text(self) -> str | None:
        """Return the text of the template that is compiled."""
        older: FrameType | None = self.frame
        for _ in range(_MOST_FRAMES):
            if older is None:
                return None
            if _method(older) == _COMPILES:
                text = namespace(stored_locals(older).get("self")).get("source")
                return text if type(text) is str else None
            older = older.f_back
        return None


def frame_of(frame: FrameType, _line: int) -> DjangoErrorFrame | None:
    """Return the view of a frame that raises an error in the syntax of a template."""
    method = _method(frame)
    if not method:
        return None
    names = dict(stored_locals(frame))
    token = _token_of_error(frame, method, names)
    line = namespace(token).get("lineno")
    filename = plain_text(namespace(namespace(names.get("self")).get("origin")).get("name"))
    return DjangoErrorFrame(frame, filename, token, line) if type(line) is int and filename else None


def raises_again(frame: FrameType) -> bool:
    """Return whether a frame raises an error of syntax once more, which another method of the parser has raised."""
    return _method(frame) == _PARSES and "e" in stored_locals(frame)


def _method(frame: FrameType) -> str:
    name = frame.f_code.co_qualname
    if name not in (_COMPILES, _PARSES, _APPENDS, *_ALWAYS_FAIL):
        return ""
    return name if frame.f_code.co_filename.endswith(_FILE) else ""


def _token_of_error(frame: FrameType, method: str, names: dict[str, object]) -> object:
    """Return the token about which a method with these variables raises an error, None if there is no error."""
    token, exception = names.get("token"), names.get("e")
    token_of_exception = namespace(exception).get("token")
    match method:
        case "Template.compile_nodelist":
            return None if _is_shown_already(exception) else token_of_exception
        case "Parser.parse" if exception is not None:
            return token if token_of_exception is token else None
        case "Parser.parse":
            return token if _is_empty(token) and _raises(frame) else None
        case "Parser.extend_nodelist":
            return token if "origin" in names else None
        case _:
            return token


def _is_shown_already(exception: object) -> bool:
    """Return whether a frame of the parser on the exception's traceback stands for the template's line."""
    passed = traceback_of(exception) if isinstance(exception, BaseException) else []
    return any(_method(frame) not in ("", _COMPILES) and frame_of(frame, line) is not None for frame, line in passed)


def _is_empty(token: object) -> bool:
    fields = namespace(token)
    kind = namespace(fields.get("token_type")).get("_name_")
    contents = fields.get("contents")
    return kind in _MUST_HAVE_CONTENTS and type(contents) is str and not contents.strip()


def _raises(frame: FrameType) -> bool:
    """Return whether a frame is at a `raise`."""
    return opname[frame.f_code.co_code[frame.f_lasti]] == "RAISE_VARARGS"
