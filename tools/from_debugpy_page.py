"""Write the tables of docs/how-to/move-from-debugpy.md: what becomes of each thing that users of debugpy have.

    python tools/from_debugpy_page.py            write them
    python tools/from_debugpy_page.py --check    fail if the page says anything else

Which things there are is in tools/from_debugpy.toml. What becomes of them is asked of the code: of the arguments of
the Python adapter, of the tables of keys that do nothing, of the names of the package `dapkit`. Tests send each key.
"""

import enum
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec

import dapkit
from dapkit.program_api.command_line import WrongCommandLine, read
from dapkit.protocol import AttachRequestArguments, LaunchRequestArguments
from dapkit.python.adapter.configuration.arguments import PythonAttach, PythonLaunch
from dapkit.python.adapter.configuration.keys import EDITOR_KEYS, FLAGS, NOT_NEEDED, REMARKS
from made_files import ROOT, run, with_tables
from vscode_schema import OLDER_KEYS

PAGE = ROOT / "docs/how-to/move-from-debugpy.md"
THINGS = Path(__file__).with_name("from_debugpy.toml")
PACKAGE = ROOT / "src/dapkit"

type Request = Literal["launch", "attach"]
REQUESTS: Final[tuple[Request, ...]] = ("launch", "attach")
FIELDS: Final[Mapping[Request, frozenset[str]]] = {
    "launch": frozenset((*PythonLaunch.__struct_encode_fields__, *LaunchRequestArguments.__struct_encode_fields__)),
    "attach": frozenset((*PythonAttach.__struct_encode_fields__, *AttachRequestArguments.__struct_encode_fields__)),
}


class Verdict(enum.Enum):
    """What becomes of a key."""

    SAME = "the same"
    RENAMED = "still works"
    REMARKED = "not done, and the console says why"
    UNUSED = "no effect, and no word"
    FOR_THE_EDITOR = "for the editor, as before"


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key of a configuration.

    Attributes:
        of: the request; both if it is missing.
        example: a value that changes little.
        asks: one that asks for something, if that differs.
        note: what a reader has to know besides.

    """

    of: Request | None = None
    example: object
    asks: object = None
    note: str = ""

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests that have it."""
        return REQUESTS if self.of is None else (self.of,)

    @property
    def value_that_asks(self) -> object:
        """A value that asks for something."""
        return self.example if self.asks is None else self.asks


class Switch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word of the command line, in an example of such a line."""

    example: str
    note: str = ""


class Things(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of tools/from_debugpy.toml; texts are what is to be used instead."""

    keys: Mapping[str, Key]
    switches: Mapping[str, Switch]
    functions: Mapping[str, str]
    variables: Mapping[str, str]


@cache
def things() -> Things:
    """Read what users of debugpy have."""
    return msgspec.toml.decode(THINGS.read_bytes(), type=Things)


def verdict_of(key: str, request: Request) -> Verdict:
    """Say what becomes of a key.

    Raises:
        SystemExit: the adapter would report it as unknown.

    """
    if key in REMARKS:
        return Verdict.REMARKED
    if key in FIELDS[request]:
        return Verdict.RENAMED if key in OLDER_KEYS else Verdict.SAME
    if key in EDITOR_KEYS:
        return Verdict.FOR_THE_EDITOR
    if key in NOT_NEEDED:
        return Verdict.UNUSED
    raise SystemExit(f"{key}: dapkit.python.adapter.configuration.keys has no word about it")


def key_rows() -> Iterator[str]:
    """Yield the table of keys."""
    yield from ("| key | of | what becomes of it |", "| --- | --- | --- |")
    for name, key in things().keys.items():
        texts = {request: _key_text(name, key, verdict_of(name, request)) for request in key.requests}
        if len(set(texts.values())) == 1:
            yield f"| `{name}` | {', '.join(texts)} | {next(iter(texts.values()))} |"
        else:
            yield from (f"| `{name}` | {request} | {text} |" for request, text in texts.items())


def _key_text(name: str, key: Key, verdict: Verdict) -> str:
    note = f"; {key.note}" if key.note else ""
    match verdict:
        case Verdict.RENAMED:
            instead = OLDER_KEYS[name]
            text = f"still works; today it is `{instead}`" if " " not in instead else f"still works; today {instead}"
            return text + note
        case Verdict.REMARKED:
            return f"not done. The console says: *{REMARKS[name]}*{note}"
        case Verdict.SAME | Verdict.UNUSED | Verdict.FOR_THE_EDITOR:
            return f"{verdict.value}{note}"


def flag_rows() -> Iterator[str]:
    """Yield the table of flags of `debugOptions`."""
    fields = dict(zip(PythonLaunch.__struct_fields__, PythonLaunch.__struct_encode_fields__, strict=True))
    yield from ("| flag of `debugOptions` | the same as |", "| --- | --- |")
    yield from (f"| `{flag}` | `{fields[name]}: true` |" for flag, name in FLAGS.items())
    yield "| any other | no effect |"


def switch_rows() -> Iterator[str]:
    """Yield the table of words of the command line."""
    yield from ("| `python -m debugpy` | `python -m dapkit` | |", "| --- | --- | --- |")
    for name, switch in things().switches.items():
        try:
            read(switch.example.split())
        except WrongCommandLine as error:
            yield f"| `{name}` | refused: *{error}* | {switch.note} |"
        else:
            yield f"| `{name}` | the same | {switch.note} |"


def function_rows() -> Iterator[str]:
    """Yield the table of functions."""
    yield from ("| debugpy | dapkit | |", "| --- | --- | --- |")
    for name, note in things().functions.items():
        here = f"`dapkit.{name}`" if hasattr(dapkit, name) else "no such function"
        yield f"| `debugpy.{name}` | {here} | {note} |"


def variable_rows() -> Iterator[str]:
    """Yield the table of variables."""
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    yield from ("| variable | what becomes of it |", "| --- | --- |")
    for name, instead in things().variables.items():
        effect = "the same" if f'"{name}"' in sources else "no effect"
        yield f"| `{name}` | {effect}{f': {instead}' if instead else ''} |"


TABLES: Final = {
    "keys": key_rows,
    "flags": flag_rows,
    "switches": switch_rows,
    "functions": function_rows,
    "variables": variable_rows,
}


def main() -> int:
    """Write or check the page."""
    description = "Write the tables of the page for people who come from debugpy."
    return run(description, lambda: {PAGE: with_tables(PAGE, TABLES)})


if __name__ == "__main__":
    sys.exit(main())
