# The C extension; `native/` holds its source, `native.py` is its only user.

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Final, Literal, final

ABSENT_FUNCTIONS: Final[list[str]]
MISSING: Final[object]

@final
class Callback:
    count: int
    target: int
    def __call__(self, *arguments: object) -> object: ...

def local_variable(frame: FrameType, name: str, /) -> object: ...
def counter() -> Callback: ...
def router(table: dict[int, tuple[CodeType | None, Callable[..., object]]], /) -> Callback: ...
def clock(arrive: Callable[..., object], /) -> Callback: ...
def interruptible(callback: Callable[..., object], comes_again: Callable[[BaseException], bool], /) -> Callback: ...
def line_check(
    code: CodeType,
    line: int,
    condition: tuple[object, ...] | None,
    hits: tuple[str, int] | None,
    counter: Callback,
    hit: Callable[[FrameType, CodeType, int], object],
    careful: Callable[[FrameType], object],
    /,
) -> Callback: ...
def note_place(
    code: CodeType,
    offset: int,
    kind: type | None,
    verdict: int,
    swallows: bool,
    guards: tuple[tuple[bool, str, str | None, bool, object], ...],
    /,
) -> int: ...
def forget_places() -> None: ...
def raise_callback(
    event: Literal["RAISE", "RERAISE", "PY_UNWIND"],
    thorough: Callable[[CodeType, int, BaseException], object],
    reported: set[int],
    /,
) -> Callback: ...

type Target = (
    tuple[Literal["slot"], object, object]
    | tuple[Literal["index"], object, int]
    | tuple[Literal["key"], object, object]
    | tuple[Literal["bytes"], object, int, int]
)

def poll(
    targets: tuple[Target, ...], changed: Callable[[CodeType, int, list[tuple[int, object, object]]], object], /
) -> Callback: ...
def watch[K, V](namespace: dict[K, V], key: object, /) -> int: ...
def unwatch(number: int, /) -> None: ...
def unwatch_all() -> None: ...
def watch_state(number: int, /) -> tuple[bool, int]: ...
def arm_writers(tool: int, events: int, codes: list[CodeType], /) -> None: ...
def disarm_writers(others: dict[int, int], /) -> bool: ...
def drain() -> tuple[list[tuple[int, int, object, object]], int]: ...
