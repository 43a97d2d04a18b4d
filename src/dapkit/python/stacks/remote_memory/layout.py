"""The layout of the objects of this build of Python, measured on objects of our own.

An offset is where an object whose fields are known has a certain reference, or number. It must be at one place only.
Not measured are the structure of the tables of dicts and sets, and that a frame has its stack's height 64 bytes, and
its variables 72 bytes behind its code; `check` shows whether that is right.
"""

import asyncio
import os
import sys
import types
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from typing import Any

from .process_memory import WORD, Image, Memory, Unfit, Unreadable

OWN = Memory(os.getpid(), keeps=False)

STACK_HEIGHT = 64
VARIABLES = 72
"""Of a frame, from its code on, in 3.12 and 3.13."""

_FLAG_OF_VALUES = -3 * WORD
"""Where an object has its dict, or (3.12) its values with the lowest bit set."""


class Layout:
    """Offsets; a name is the type and the field, as CPython calls them."""

    def __init__(self) -> None:
        """Measure all of them except tasks and coroutines. Raises: Unfit."""
        self.image = Image("self", within=id(int))
        self.roots = self.image.places_of(OWN, id(sys.modules))
        self.object_type = offset_of(object(), object)
        self._measure_containers()
        self._measure_texts()
        self._measure_code()
        self._measure_functions()

    def _measure_containers(self) -> None:
        self.module_dict = offset_of(sys, vars(sys))
        many = tuple(range(7919))
        self.var_size = _number_at(many, len(many))
        self.tuple_items = offset_of(mark := (object(),), mark[0], size=mark.__sizeof__())
        items = [object()]
        self.list_items = _pointer_at(items, lambda place: OWN.word(place) == id(items[0]))
        numbers = set(range(1000))
        self.set_mask = _number_at(numbers, (numbers.__sizeof__() - set.__basicsize__) // (2 * WORD) - 1)
        self.set_table = _pointer_at(numbers, lambda place: OWN.word(place + 2 * WORD) == id(1))
        key, value = "a key of ours", object()
        mapping = {key: value}
        self.dict_keys = _pointer_at(mapping, lambda place: [*entries(OWN, place)] == [(id(key), id(value))])
        self.weakref_object = offset_of(weakref.ref(_Plain), _Plain)

    def _measure_texts(self) -> None:
        self.text_length = _number_at("x" * 7919, 7919, size=32)
        self.ascii_data = sys.getsizeof("") - 1
        self.text_data = sys.getsizeof("\u0100" * 4) - 2 * 5
        samples = ["quite plain", "caf\xe9", "\u0100\u0101", "\U0001f600"]
        kinds = [(1, 1, 1), (1, 1, 0), (2, 1, 0), (4, 1, 0)]
        fits = [
            (place, shift)
            for place in range(self.text_length + WORD, self.ascii_data, 4)
            for shift in range(24)
            if [_parts(OWN.int32(id(sample) + place), shift) for sample in samples] == kinds
        ]
        self.text_state, self.text_kind_shift = _only(fits, "the state of a text")

    def text_parts(self, state: int) -> tuple[int, int, int]:
        """Return the bytes of each character, whether they lie behind the object, and whether all are ASCII."""
        return _parts(state, self.text_kind_shift)

    def _measure_code(self) -> None:
        lines = 54321
        text = "\n" * (lines - 1) + "def outer():\n async def inner(): pass\n return inner"
        scope: dict[str, Any] = {}
        exec(compile(text, "a file of ours", "exec"), scope)  # noqa: S102 - our own text
        code = scope["outer"]().__code__
        self.code_filename = offset_of(code, code.co_filename)
        self.code_qualname = offset_of(code, code.co_qualname)
        self.code_linetable = offset_of(code, code.co_linetable)
        self.code_firstline = _only(
            [place for place in range(0, type(code).__basicsize__, 4) if OWN.int32(id(code) + place) == lines + 1],
            "the first line of code",
        )
        self.code_start = type(code).__basicsize__
        self.bytes_data = bytes.__basicsize__ - 1

    def _measure_functions(self) -> None:
        mark = object()
        function: Any = lambda: mark  # noqa: E731 - a closure is wanted
        self.function_code = offset_of(function, function.__code__)
        self.function_closure = offset_of(function, function.__closure__)
        self.cell_content = offset_of(function.__closure__[0], mark)
        holder = _Plain()
        holder.first, holder.second = object(), mark
        method: Any = holder.method
        self.method_function = offset_of(method, method.__func__)
        self.method_self = offset_of(method, holder)
        builtin: Any = [].append
        self.builtin_self = offset_of(builtin, builtin.__self__)
        self.type_base = offset_of(_Derived, _Plain, size=400)
        self.type_size = _number_at(_Sized, _Sized.__basicsize__, size=400)
        self.type_keys = _only(
            [place for place in range(400, 1000, WORD) if _has_key(_Plain, place, "second")],
            "the keys of a class",
        )
        index = [key for key, _ in entries(OWN, OWN.word(id(_Plain) + self.type_keys))].index(id("second"))
        flagged = OWN.word(id(holder) + _FLAG_OF_VALUES)
        self.values_inline = not flagged & 1
        values = id(holder) + type(holder).__basicsize__ if self.values_inline else flagged + 1
        starts = [start for start in (0, WORD) if OWN.word(values + start + index * WORD) == id(mark)]
        self.values_start = _only(starts, "the values of an object")

    async def measure_coroutines(self) -> None:
        """Measure coroutines, generators and their wrappers; and tasks."""
        await self._measure_frames()
        self._measure_wrappers()
        await self._measure_tasks()

    async def _measure_frames(self) -> None:
        mark = _Awaited()
        started: list[Any] = [shallow(mark), deeper(mark, 1, 2), deepest(mark)]
        for coroutine in started:
            coroutine.send(None)
        first = started[0]
        self.coroutine_code = offset_of(first, first.cr_code, size=first.__sizeof__())
        start = id(first.cr_code) + self.code_start
        size = first.__sizeof__()
        self.coroutine_instruction = _only(
            [
                index * WORD
                for index, word in enumerate(OWN.words(id(first), size // WORD))
                if word - start == first.cr_frame.f_lasti
            ],
            "the instruction of a coroutine",
        )
        for coroutine in started:
            if self.top_of_stack(OWN, id(coroutine)) != id(coroutine.cr_await):
                raise Unfit("the stack of a coroutine is elsewhere")
        created, finished = shallow(mark), shallow(mark)
        finished.close()
        running = await _run_now(lambda coroutine: OWN.bytes_at(id(coroutine) + self.coroutine_code - 8, 8))
        states = [OWN.bytes_at(id(one) + self.coroutine_code - 8, 8) for one in (created, first, finished)]
        place = _only(
            [place for place in range(8) if len({state[place] for state in (*states, running)}) == 4], "its state"
        )
        self.coroutine_state = self.coroutine_code - 8 + place
        self.state_suspended, self.state_running = _signed(states[1][place]), _signed(running[place])
        if not _signed(states[0][place]) < self.state_suspended < self.state_running < _signed(states[2][place]):
            raise Unfit("the states of coroutines have another order")
        self.same_state_at_yield = _state_at_yield(self.coroutine_state) == self.state_suspended
        for coroutine in (*started, created):
            coroutine.close()

    def top_of_stack(self, memory: Memory, coroutine: int) -> int:
        """Return the top of the stack of a coroutine whose frame is suspended."""
        frame = coroutine + self.coroutine_code
        height = memory.int32(frame + STACK_HEIGHT)
        if not 0 < height < 1 << 16:
            raise Unreadable
        return memory.word(frame + VARIABLES + (height - 1) * WORD)

    def _measure_wrappers(self) -> None:
        generator: Any = numbers()
        sending: Any = generator.asend(None)
        throwing: Any = generator.athrow(ValueError())
        anext_of: Any = anext(generator, None)
        words = OWN.words(id(anext_of), type(anext_of).__basicsize__ // WORD)
        coroutine = shallow(_Awaited())
        awaiting: Any = coroutine.__await__()
        self.wrappers = {
            id(type(sending)): offset_of(sending, generator),
            id(type(throwing)): offset_of(throwing, generator),
            id(type(awaiting)): offset_of(awaiting, coroutine),
        }
        places = [n * WORD for n, word in enumerate(words) if n and _type_at(word, self.object_type) in self.wrappers]
        self.wrappers[id(type(anext_of))] = _only(places, "the object inside anext()")
        for one in (sending, throwing, anext_of, coroutine):
            one.close()

    async def _measure_tasks(self) -> None:
        loop = asyncio.get_running_loop()
        future, name, coroutine = loop.create_future(), "a task of ours", _wait_for(loop.create_future())
        coroutine.close()
        coroutine = _wait_for(future)
        task = asyncio.Task(coroutine, loop=loop, name=name)
        await asyncio.sleep(0)
        first, second = (lambda _: None), (lambda _: None)
        task.add_done_callback(first)
        task.add_done_callback(second)
        self.task_loop = offset_of(task, loop)
        self.task_coroutine = offset_of(task, coroutine)
        self.task_name = offset_of(task, name)
        self.future_callback = offset_of(task, first)
        self.future_callbacks = _pointer_at(
            task, lambda place: OWN.word(OWN.word(OWN.word(place + self.list_items)) + self.tuple_items) == id(second)
        )
        finished, cancelled = loop.create_future(), loop.create_future()
        finished.set_result(None)
        cancelled.cancel()
        places = [
            place
            for place in range(2 * WORD, type(future).__basicsize__, 4)
            if [OWN.int32(id(one) + place) for one in (future, cancelled, finished)] == [0, 1, 2]
        ]
        self.future_state = _only(places, "the state of a future")
        task.cancel()
        await asyncio.wait([task])


class _Plain:
    first: object
    second: object

    def method(self) -> None:
        """Be bound."""


class _Derived(_Plain):
    pass


class _Sized:
    __slots__ = tuple(f"slot_{number}" for number in range(117))


class _Awaited:
    def __await__(self) -> Generator[None]:
        yield None


async def shallow(awaited: Awaitable[None]) -> None:
    """Wait with an empty stack."""
    await awaited


async def deeper(awaited: Awaitable[None], one: int, two: int) -> tuple[int, ...]:
    """Wait with variables, and values on the stack."""
    three = one + two
    return (one, two, three, [one, await awaited])  # type: ignore[func-returns-value,return-value] # never returned


async def deepest(awaited: Awaitable[None]) -> None:
    """Wait within blocks."""
    for number in range(3):
        try:
            for _ in (number,):
                await awaited
        finally:
            number += 1  # noqa: PLW2901 - a block that has something to do


async def numbers() -> AsyncGenerator[int]:
    """Yield, as an asynchronous generator."""
    yield 1


async def _wait_for(future: Awaitable[None]) -> None:
    await future


async def _run_now[T](look: Callable[[object], T]) -> T:
    holder: list[Any] = []

    async def inner() -> T:
        return look(holder[0])

    holder.append(inner())
    result: T = await holder[0]
    return result


@types.coroutine
def _yielding() -> Generator[None]:
    yield


def _state_at_yield(place: int) -> int:
    """Return the state of a generator at a `yield`: in 3.12 the state of one that waits for another."""
    generator: Any = _yielding()
    generator.send(None)
    state = _signed(OWN.bytes_at(id(generator) + place, 1)[0])
    generator.close()
    return state


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def entries(memory: Memory, keys: int) -> Sequence[tuple[int, int]]:
    """Return keys and values of the table of a dict; a table without values has none."""
    header = memory.bytes_at(keys, 4 * WORD)
    index_bytes, kind, count = header[9], header[10], int.from_bytes(header[24:], sys.byteorder)
    if index_bytes > 26 or kind > 2 or count > 1 << 22:
        raise Unreadable
    width = 2 if kind else 3  # the general kind has hashes first
    words = memory.words(keys + 4 * WORD + (1 << index_bytes), count * width)
    return [*zip(words[width - 2 :: width], words[width - 1 :: width], strict=True)]


def offset_of(holder: object, value: object, *, size: int = 0) -> int:
    """Return where an object of ours has a reference. Raises: Unfit."""
    return _number_at(holder, id(value), size=size)


def _number_at(holder: object, number: int, *, size: int = 0) -> int:
    count = (size or type(holder).__basicsize__) // WORD
    places = [index * WORD for index, word in enumerate(OWN.words(id(holder), count)) if word == number]
    return _only(places, f"a field of {type(holder).__name__}")


def _pointer_at(holder: object, is_wanted: Callable[[int], bool]) -> int:
    places: list[int] = []
    for index, word in enumerate(OWN.words(id(holder), type(holder).__basicsize__ // WORD)):
        try:
            if is_wanted(word):
                places.append(index * WORD)
        except Unreadable:
            pass
    return _only(places, f"a table of {type(holder).__name__}")


def _only[T](places: Sequence[T], what: str) -> T:
    if len(places) != 1:
        raise Unfit(f"{what} is at {len(places)} places")
    return places[0]


def _parts(state: int, shift: int) -> tuple[int, int, int]:
    return state >> shift & 7, state >> shift + 3 & 1, state >> shift + 4 & 1


def _has_key(kind: type, place: int, name: str) -> bool:
    try:
        return id(sys.intern(name)) in dict(entries(OWN, OWN.word(id(kind) + place)))
    except Unreadable:
        return False


def _type_at(address: int, offset: int) -> int:
    try:
        return OWN.word(address + offset)
    except Unreadable:
        return 0
