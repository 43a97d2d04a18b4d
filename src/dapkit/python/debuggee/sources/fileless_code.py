"""Code that has no file: the texts that were found for it, and members of archives.

They are found by `shown`, and known here to all who compare sources.
"""

from collections.abc import Callable
from types import CodeType
from typing import NamedTuple

from ..interpreter import limits
from ..interpreter.gc_tracking import untrack
from .compilation import FUTURE, compilations, with_nested


class UnfiledText:
    """A text that is not in a file: its name, and its kind.

    `key` is the key of its file name if all code of that name has this text, else its own. `listed` is the code of
    which the text is only a listing.
    """

    __slots__ = ("_parts", "filename", "key", "listed", "name", "number", "origin", "text")

    def __init__(
        self,
        number: int,
        filename: str,
        text: str,
        *,
        origin: str,
        key: str,
        listed: CodeType | None,
        name: str = "",
    ) -> None:
        self.number = number
        self.filename = filename
        self.text = text
        self.origin = origin
        self.key = key
        self.listed = listed
        self.name = name
        """Its display name, if it differs from the file name."""
        untrack(self)
        self._parts: dict[int, list[CodeType]] = {}  # by the flags that it is compiled with

    def holds(self, code: CodeType) -> bool:
        """Return whether code was made from this text."""
        flags = code.co_flags & FUTURE
        parts = self._parts.get(flags)
        if parts is None:
            codes = compilations(self.text, flags) if self.listed is None else [self.listed]
            parts = self._parts[flags] = [part for whole in codes for part in with_nested(whole)]
        return any(part == code for part in parts)


class CompiledText(NamedTuple):
    """A text that is not Python, its name, and the code that was made from it."""

    module: CodeType
    name: str
    text: str


class UnfiledTexts:
    """The texts that were found, in the order of their numbers."""

    def __init__(self) -> None:
        self.texts: list[UnfiledText] = []
        self._compiled: dict[int, CompiledText] = {}  # by the identities of all code objects
        self._modules: list[CompiledText] = []
        self._by_code: dict[int, UnfiledText] = {}
        self._kept: list[CodeType] = []  # the code objects of the line above, so that ids stay their own

    def of(self, code: CodeType) -> UnfiledText | None:
        """Return the text of some code, if it was looked for."""
        return self._by_code.get(id(code))

    def remember(self, code: CodeType, text: UnfiledText) -> None:
        """Record the text of some code."""
        self._by_code[id(code)] = text
        self._kept.append(code)

    def note_compiled(self, compiled: CompiledText) -> None:
        """Note code that was just compiled: its text may be lost soon. Of the latest `limits.COMPILED_TEXTS`."""
        self._modules.append(compiled)
        self._compiled.update(dict.fromkeys(map(id, with_nested(compiled.module)), compiled))
        same = (text for text in list(self.texts) if text.filename == compiled.module.co_filename)
        same_text = next((text for text in same if text.text == compiled.text), None)
        if same_text is not None:
            for part in with_nested(compiled.module):
                self.remember(part, same_text)
        if len(self._modules) > limits.COMPILED_TEXTS:
            for part in with_nested(self._modules.pop(0).module):
                self._compiled.pop(id(part), None)

    def compiled(self, code: CodeType) -> CompiledText | None:
        """Return the facts about the compilation of a code object, if they were noted."""
        return self._compiled.get(id(code))

    def own_key(self, code: CodeType) -> str | None:
        """Return the key of the text that code has to itself, None if all code of its file name has one text.

        Threads of the program ask as well, so nothing is searched for or announced here.
        """
        unfiled = self.of(code)
        if unfiled is not None:
            return unfiled.key
        same_name = (text for text in list(self.texts) if text.filename == code.co_filename)
        return next((text.key for text in same_name if text.holds(code)), None)

    def with_key(self, key: str, name_of: Callable[[str], str]) -> UnfiledText | None:
        """Return the text with a key, or the latest for a file name, which `name_of` makes comparable."""
        return next((text for text in reversed(self.texts) if key in (text.key, name_of(text.filename))), None)
