"""Objects of another process: texts, containers, attributes, code, and where a coroutine is.

Each function raises Unreadable where the memory has no such object (any more).
"""

import sys
import types
import weakref
from collections.abc import Iterator
from typing import Final

from .layout import Layout, entries
from .process_memory import WORD, Image, Memory, Unreadable

type Frame = tuple[str, int, str]
"""File, line and function."""

_MOST_ITEMS: Final = 1 << 20
_MOST_CHARACTERS: Final = 1 << 16
_MOST_FRAMES: Final = 1000
_MOST_BASES: Final = 100
_RESUMES_AWAIT: Final = 2
"""Least argument of the RESUME that follows where an `await`, or a `yield from`, is suspended. Its opcode says nothing:
tools that watch the program replace it."""


class Objects:
    """The objects of a process that runs the file of our interpreter."""

    def __init__(self, memory: Memory, image: Image, layout: Layout) -> None:
        self.memory = memory
        self.layout = layout
        self._shift = image.start - layout.image.start
        self._roots = [image.start + offset for offset in layout.roots]
        self._wrappers = {kind + self._shift: offset for kind, offset in layout.wrappers.items()}
        self._places: dict[tuple[int, int], Frame] = {}
        self._coroutines = {
            self.builtin(kind) for kind in (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)
        }

    def builtin(self, kind: type) -> int:
        """Return the address of a type that is part of the interpreter."""
        return id(kind) + self._shift

    def type_of(self, address: int) -> int:
        """Return the address of an object's type."""
        return self.memory.word(address + self.layout.object_type)

    def is_a(self, address: int, kind: int) -> bool:
        """Whether an object is of a type, or of one that is derived from it."""
        if not address or not kind:
            return False
        base = self.type_of(address)
        for _ in range(_MOST_BASES):
            if base in (kind, 0):
                break
            base = self.memory.word(base + self.layout.type_base)
        return base == kind

    def need(self, address: int, kind: type) -> None:
        """Raise Unreadable, unless an object is of exactly that type of the interpreter."""
        if self.type_of(address) != self.builtin(kind):
            raise Unreadable

    def modules(self) -> int:
        """Return `sys.modules`."""
        for root in self._roots:
            try:
                address = self.memory.word(root)
                self.need(address, dict)
            except Unreadable:
                continue
            return address
        raise Unreadable

    def text(self, address: int) -> str:
        """Return a text."""
        self.need(address, str)
        layout = self.layout
        width, is_compact, is_ascii = layout.text_parts(self.memory.int32(address + layout.text_state))
        length = self.memory.word(address + layout.text_length)
        if not is_compact or width not in (1, 2, 4) or length > _MOST_CHARACTERS:
            raise Unreadable
        content = self.memory.bytes_at(address + (layout.ascii_data if is_ascii else layout.text_data), length * width)
        encoding = {1: "latin-1", 2: "utf-16", 4: "utf-32"}[width]
        return content.decode(encoding if width == 1 else f"{encoding}-{sys.byteorder[0]}e", errors="surrogatepass")

    def number(self, address: int) -> int:
        """Return a number below 2**30, which has one digit."""
        self.need(address, int)
        return self.memory.int32(address + 3 * WORD)

    def lookup(self, mapping: int, key: str) -> int:
        """Return the value of a text in a dict, 0 for nothing."""
        self.need(mapping, dict)
        keys, values = self.memory.words(mapping + self.layout.dict_keys, 2)
        for index, (entry_key, value) in enumerate(entries(self.memory, keys)):
            if entry_key and self.type_of(entry_key) == self.builtin(str) and self.text(entry_key) == key:
                return self._value(values, index) if values else value
        return 0

    def _value(self, values: int, index: int) -> int:
        return self.memory.word(values + self.layout.values_start + index * WORD)

    def attribute(self, address: int, name: str) -> int:
        """Return the attribute of an object of a class in Python, 0 for nothing."""
        layout, kind = self.layout, self.type_of(address)
        place = self.memory.word(address - 3 * WORD)
        if place and not place & 1:
            return self.lookup(place, name)
        inline = address + self.memory.word(kind + layout.type_size)
        values = inline if layout.values_inline else place + 1 - layout.values_start
        keys = self.memory.word(kind + layout.type_keys)
        for index, (entry_key, _) in enumerate(entries(self.memory, keys)):
            if entry_key and self.text(entry_key) == name:
                return self._value(values, index)
        return 0

    def items(self, address: int) -> tuple[int, ...]:
        """Return the items of a tuple or a list."""
        count = self.memory.word(address + self.layout.var_size)
        if count > _MOST_ITEMS:
            raise Unreadable
        if self.type_of(address) == self.builtin(tuple):
            return self.memory.words(address + self.layout.tuple_items, count)
        self.need(address, list)
        return self.memory.words(self.memory.word(address + self.layout.list_items), count)

    def members(self, address: int) -> Iterator[int]:
        """Yield the items of a set; of weak references, the objects."""
        self.need(address, set)
        mask = self.memory.word(address + self.layout.set_mask)
        if mask > _MOST_ITEMS:
            raise Unreadable
        table = self.memory.words(self.memory.word(address + self.layout.set_table), 2 * (mask + 1))
        for member in filter(None, table[::2]):
            if self.type_of(member) != self.builtin(weakref.ref):
                yield member
            elif (referent := self.memory.word(member + self.layout.weakref_object)) != id(None) + self._shift:
                yield referent

    def place_of(self, code: int, offset: int) -> Frame:
        """Return where an instruction is."""
        if (code, offset) in self._places:
            return self._places[code, offset]
        self.need(code, types.CodeType)
        layout, memory = self.layout, self.memory
        file = self.text(memory.word(code + layout.code_filename))
        function = self.text(memory.word(code + layout.code_qualname))
        first = memory.int32(code + layout.code_firstline)
        table = memory.word(code + layout.code_linetable)
        self.need(table, bytes)
        encoded = memory.bytes_at(table + layout.bytes_data, memory.word(table + layout.var_size))
        place = file, _line(encoded, max(first, 0), offset) or first, function
        self._places[code, offset] = place
        return place

    def awaits(self, coroutine: int) -> tuple[list[Frame], bool]:
        """Return the calls of a coroutine and of the objects it awaits, the newest first, and whether it runs."""
        frames: list[Frame] = []
        place, runs = coroutine, False
        while len(frames) < _MOST_FRAMES:
            kind = self.type_of(place)
            if kind in self._wrappers:
                place = self.memory.word(place + self._wrappers[kind])
                continue
            if kind not in self._coroutines:
                break
            state = int.from_bytes(self.memory.bytes_at(place + self.layout.coroutine_state, 1), signed=True)
            if state > self.layout.state_running:
                break  # it has ended
            code = self.memory.word(place + self.layout.coroutine_code)
            start = code + self.layout.code_start
            instruction = self.memory.word(place + self.layout.coroutine_instruction)
            frames.append(self.place_of(code, instruction - start))
            runs = runs or state == self.layout.state_running
            if state != self.layout.state_suspended or not self._awaits_at(instruction):
                break
            place = self.layout.top_of_stack(self.memory, place)
        return frames[::-1], runs

    def _awaits_at(self, instruction: int) -> bool:
        """Whether a suspended frame waits for something, and is not at a plain `yield`."""
        if not self.layout.same_state_at_yield:
            return True
        _, argument = self.memory.bytes_at(instruction + 2, 2)
        return argument & 3 >= _RESUMES_AWAIT


def _line(table: bytes, first: int, offset: int) -> int:
    """Return the line of an instruction, which the interpreter finds in a table as it is in every code."""
    code = _line.__code__.replace(co_linetable=table, co_firstlineno=first)
    for start, end, line in code.co_lines():
        if start <= offset < end:
            return line or 0
    return 0
