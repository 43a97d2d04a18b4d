"""Completions from the running program: names, attributes, keys, modules, keywords.

No code of the program runs for it: the part before a dot or bracket is looked up like an expression under a mouse
pointer (`hover`), and if that is not possible there are no proposals.

`start` counts from 0, in the whole text. The protocol leaves the base to `columnsStartAt1`, but clients that say 1 take
it as an index from 0 all the same: VS Code (`text.substring(item.start, ...)`), nvim-dap (`complete(offset + start + 1,
...)`), vimspector (`ArgLead[ 0 : start ]`) and dape (compared with the bounds of the word), as debugpy sends it.
"""

import builtins
import os
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Final, cast

from ..connection.framing import Json
from ..interpreter import limits, utf16
from ..interpreter.errors import RequestRefused
from ..interpreter.safe_types import (
    ClassSet,
    is_a,
    is_lazy_import,
    mapping_of,
    mro,
    mro_of,
    namespace,
    plain_text,
    type_name,
)
from ..values.members import KEYWORDS, is_function, members, rank
from ..values.text import render
from .evaluate import Namespaces
from .hover import look_up

_OPENING: Final = {")": "(", "]": "[", "}": "{"}
_KEYS: Final = ClassSet(str, int, bytes, bool, tuple, float)
_QUOTES: Final = ("'", '"')


def complete(text: str, line: int, column: int, namespaces: Namespaces) -> list[Json]:
    """Return proposals for a place in a text; line and column count from 1, columns and `start` in UTF-16 units."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        raise RequestRefused(f"line is {line}, the text has {len(lines)}")
    head = utf16.upto(lines[line - 1], column - 1)
    proposals = _proposals(head, lines[line - 1][len(head) :], namespaces)[: limits.PROPOSALS]
    above = sum(utf16.units(earlier) + 1 for earlier in lines[: line - 1])
    return [{**item, "start": cast("int", item["start"]) + above} for item in proposals]  # from `_item`


def _proposals(head: str, rest: str, namespaces: Namespaces) -> list[Json]:
    """Return proposals for the end of `head`; `rest` is the text after the cursor."""
    typed = _identifier_at_end(head)
    before = head[: len(head) - len(typed)]
    words = head.split()
    if words[:1] == ["import"] or (words[:1] == ["from"] and "import" not in words[1:]):
        return _modules(head)
    if words[:1] == ["from"] and len(words) > 1:
        return _imported_names(words[1], typed, head)
    if (keys := _keys(head, rest, namespaces)) is not None:
        return keys
    if before.endswith("."):
        owner = _expression_at_end(before[:-1])
        return _attributes(owner, typed, head, namespaces) if owner else []
    if _in_text(before):
        return []
    return _names(typed, head, namespaces)


def _item(label: str, typed: str, head: str, *, kind: str, order: str, detail: str = "", text: str = "") -> Json:
    length = utf16.units(typed)
    item: Json = {
        "label": label,
        "type": kind,
        "sortText": f"{order}{label}" if label.startswith(typed) else f"9{order}{label}",
        "start": utf16.units(head) - length,
        "length": length,
    }
    if detail:
        item["detail"] = detail
    if text:
        item["text"] = text
    return item


def _begins(name: str, typed: str) -> bool:
    """Return whether a name begins with the typed text, in capitals or not."""
    return name[: len(typed)].lower() == typed.lower()


# Names and attributes


def _names(typed: str, head: str, namespaces: Namespaces) -> list[Json]:
    items: dict[str, Json] = {}
    for order, names in enumerate((*namespaces.stored(), vars(builtins))):
        for name, value in list(names.items()):
            if type(name) is str and _begins(name, typed) and name.isidentifier() and name not in items:
                items[name] = _item(
                    name,
                    typed,
                    head,
                    kind=_kind(value, "variable"),
                    order=f"{order}{rank(name)}",
                    detail=type_name(value),
                )
    for name in KEYWORDS:
        if _begins(name, typed):
            items.setdefault(name, _item(name, typed, head, kind="keyword", order="3"))
    return _sorted(items)


def _attributes(owner: str, typed: str, head: str, namespaces: Namespaces) -> list[Json]:
    try:
        value = look_up(owner, namespaces)
    except RequestRefused:
        return []
    if is_lazy_import(value):  # its own attributes are not the attributes of the module that it will load
        return []
    items: dict[str, Json] = {}

    def propose(name: object, kind: str, detail: str) -> None:
        if type(name) is str and _begins(name, typed) and name.isidentifier():
            items.setdefault(name, _item(name, typed, head, kind=kind, order=str(rank(name)), detail=detail))

    for row in members(value, ""):
        propose(
            row.name,
            "property" if row.lazy else _kind(row.value, "field"),
            "property" if row.lazy else type_name(row.value),
        )
    holders = mro_of(value) if is_a(value, type) else ()
    for holder in (*holders, *mro(value)):
        for name, member in list(namespace(holder).items()):
            propose(
                name, "property" if type(member) is property else _kind(member, "field", method=True), type_name(member)
            )
    return _sorted(items)


def _kind(value: object, otherwise: str, *, method: bool = False) -> str:
    if is_function(value):
        return "method" if method else "function"
    if is_a(value, type):
        return "class"
    return "module" if type(value) is ModuleType else otherwise


def _sorted(items: dict[str, Json]) -> list[Json]:
    return sorted(items.values(), key=lambda item: str(item["sortText"]))


# Keys


def _keys(head: str, rest: str, namespaces: Namespaces) -> list[Json] | None:
    """Return the keys of a dict whose bracket is open at the end; None if there is no such bracket.

    Text that an editor has closed by itself, and that is after the cursor, is not proposed once more.
    """
    typed = head[_start_of_key(head) :]
    before = head[: len(head) - len(typed)].rstrip()
    if not before.endswith("["):
        return None
    owner = _expression_at_end(before[:-1])
    if not owner or (typed and typed[0] not in _QUOTES and not typed.isalnum()):
        return None
    try:
        value = look_up(owner, namespaces)
    except RequestRefused:
        return None
    kind = mapping_of(value)
    if kind is None:
        return None
    quote = typed[0] if typed[:1] in _QUOTES else ""
    items: dict[str, Json] = {}
    keys: Iterable[object] = kind.keys(value)
    for at, key in enumerate(keys):
        if at >= limits.PROPOSALS:
            break
        if type(key) not in _KEYS:
            continue
        text = render(key, None, limits.KEY_CHARS)
        if quote and type(key) is str and text[0] != quote and quote not in key and "\\" not in text:
            text = quote + text[1:-1] + quote
        if text.startswith(typed):
            closed = text[:-1] if quote and rest.startswith(quote) else text if rest.startswith("]") else text + "]"
            items[text] = _item(text, typed, head, kind="value", order="", text=closed)
    return _sorted(items) if items or quote else None


def _start_of_key(head: str) -> int:
    """Return where a key begins that is being typed at the end: after the last bracket."""
    at = head.rfind("[")
    return at + 1 if at >= 0 and head[at + 1 :].count("]") == 0 else len(head)


# Modules


def _modules(head: str) -> list[Json]:
    typed = head.rsplit(None, 1)[-1].rpartition(",")[2] if head[-1:] not in (" ", ",") else ""
    package, dot, last = typed.rpartition(".")
    names = _submodules(package) if dot else _top_level()
    items = {
        name: _item(name, last, head, kind="module", order=str(rank(name))) for name in names if _begins(name, last)
    }
    return _sorted(items)


def _imported_names(package: str, typed: str, head: str) -> list[Json]:
    items = {name: _item(name, typed, head, kind="module", order="1") for name in _submodules(package)}
    module = sys.modules.get(package)
    if module is not None:
        for name, value in list(namespace(module).items()):
            if type(name) is str and name.isidentifier():
                items[name] = _item(
                    name, typed, head, kind=_kind(value, "variable"), order=str(rank(name)), detail=type_name(value)
                )
    return _sorted({name: item for name, item in items.items() if _begins(name, typed)})


def _top_level() -> set[str]:
    names = {name.partition(".")[0] for name in _texts(sys.modules)} | set(sys.stdlib_module_names)
    return {name for name in names | _in_folders(_texts(sys.path)) if name.isidentifier()}


def _texts(values: Iterable[object]) -> list[str]:
    """Return the texts among the program's entries in a list or dict of the interpreter."""
    return [plain_text(value) for value in list(values) if is_a(value, str)]


def _submodules(package: str) -> set[str]:
    loaded = {name[len(package) + 1 :] for name in _texts(sys.modules) if name.startswith(package + ".")}
    module = sys.modules.get(package)
    folders = namespace(module).get("__path__") if module is not None else None
    if folders is None and module is None:
        inside = package.replace(".", os.sep)
        folders = [os.path.join(folder, inside) for folder in _texts(sys.path)]
    names = _in_folders(_texts(folders)) if type(folders) is list else set()
    return {name.partition(".")[0] for name in loaded} | names


def _in_folders(folders: list[str]) -> set[str]:
    names: set[str] = set()
    for folder in folders:
        try:
            entries = os.listdir(folder or ".")
        except (OSError, ValueError):
            continue  # a zip file, or nothing
        for entry in entries:
            name = entry.partition(".")[0]
            if name.isidentifier() and (entry.endswith((".py", ".so")) or entry == name):
                names.add(name)
    return names - {"__init__", "__pycache__"}


# The text


def _identifier_at_end(text: str) -> str:
    at = len(text)
    while at and (text[at - 1].isidentifier() or text[at - 1].isdigit()):
        at -= 1
    typed = text[at:]
    return typed if not typed or typed.isidentifier() else ""


def _expression_at_end(text: str) -> str:
    """Return the name with its dots and brackets that a text ends with."""
    at = len(text)
    while at:
        last = text[at - 1]
        if last in _OPENING:
            at = _matching(text, at - 1)
            if at < 0:
                return ""
        elif last in _QUOTES:
            at = text.rfind(last, 0, at - 1)
            if at < 0:
                return ""
        elif last == "." or last.isidentifier() or last.isdigit():
            at -= 1
        else:
            break
    return text[at:]


def _matching(text: str, closing: int) -> int:
    """Return where the bracket opens that closes at a position, -1 if nowhere."""
    open_: list[str] = []
    at = closing
    while at >= 0:
        character = text[at]
        if character in _QUOTES:
            at = text.rfind(character, 0, at)
        elif character in _OPENING:
            open_.append(_OPENING[character])
        elif open_ and character == open_[-1]:
            open_.pop()
            if not open_:
                return at
        at -= 1
    return -1


def _in_text(before: str) -> bool:
    """Return whether a quote is open."""
    quote = ""
    for character in before:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
    return bool(quote)
