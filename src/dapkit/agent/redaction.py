"""Secrets taken out of answers: they go to a model, into logs and into transcripts.

What is secret: the value of something whose name says so (see `secret_names`), the values
of the program's environment of which that is true, and text of a shape that only tokens
have. What is looked for depends on what a text is:

    CODE     source, instructions, memory     nothing
    PLAIN    names, messages, exceptions      values of the environment, shapes
    OUTPUT   what the program wrote           the same, and `NAME=value`, `--name value`
    VALUE    values of variables              the same, and members with secret names

This makes accidents rare; it is not a barrier against somebody who wants to get at a
secret of a program that he may debug.
"""

import enum
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dapkit import limits
from dapkit.agent.budget import CUT
from dapkit.protocol import ProtocolObject, changed
from dapkit.secret_names import SHAPES, Secrecy, secrecy_of

MASK = "[redacted]"


class Kind(enum.Enum):
    """What a text is."""

    CODE = enum.auto()
    PLAIN = enum.auto()
    OUTPUT = enum.auto()
    VALUE = enum.auto()


_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("source_lines", "sourceLines", "content", "disassembly", "instructions"), Kind.CODE),
    **dict.fromkeys(("memory_data", "memoryData"), Kind.CODE),
    **dict.fromkeys(("output", "notes"), Kind.OUTPUT),
    **dict.fromkeys(("value", "was", "contents", "result"), Kind.VALUE),
}
"""Fields of results and of JSON by name; what they hold is of their kind, too. All others are PLAIN."""

_NAMED_VALUES = ("value", "was", "contents")
"""Fields whose name is in the fields `name` and `evaluate_name` beside them."""

_LITERAL = r"""'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?"""

_NAMED = re.compile(
    r"""(?P<quote>['"]?)(?<![\w\-.])(?P<name>[A-Za-z_][\w\-.]*)(?P=quote)(?P<sign>\s*(?::(?![:=])|=(?![=>]))\s*)"""
    rf"""(?P<value>{_LITERAL}|[^\s,;}}\])'"]+)"""
)
"""`NAME=value`, `name: value` and `"name": "value"`, as output and values have them."""

_OPTION = re.compile(
    r"""(?<![\w\-])(?P<name>--?[A-Za-z][\w\-]*)(?P<gap>['"]?,?\s+['"]?)(?P<value>[^\s'",;\])}\-][^\s'",;\])}]*)"""
)
"""`--name value` of a command line, also as a list of words."""

_QUERY = re.compile(r"""(?<=[?&;])(?P<name>[\w.\-\[\]]+)=(?P<value>[^&;#\s"'<>]+)""")
"""`name=value` in the query of a URL."""

_OPTION_WORD = re.compile(r"--?[A-Za-z][\w\-]*")
"""`--name`, whose value is the next word of a command line."""

_STRUCTURED = re.compile(r"""0x[\da-f]+\s+["']|[A-Za-z_][\w.:]*[(\[{"']|[(\[{"']""", re.IGNORECASE)
"""How a value begins whose texts are in quotes: a text, a container, a call, an address with the text at it."""

_PUNCTUATION = re.compile(rf"{_LITERAL}|[(\[{{]|[)\]}}]|[,;\n]")

_PATH = re.compile(r"""\(*[A-Za-z_]\w*(?:(?:->|\.|::)\w+|\[(?:\w+|'[^']*'|"[^"]*")\]|\))*""")
"""An expression that names something: variables, attributes, items."""

_NAME_IN_PATH = re.compile(r"[A-Za-z_][\w\-]*")

_LAST_NAME = re.compile(r"""([A-Za-z_][\w\-]*)['"\])\s]*\Z""")
"""The name of an attribute, of an item or of a variable that an expression ends with."""

_HARMLESS_VALUE = re.compile(
    r"[+-]?[\d.]+|0x[\da-f]+|none|null|nil|true|false|undefined|[a-z_]\w*(?:\.[a-z_]\w*)+|.*[()<>].*", re.IGNORECASE
)
"""Numbers, addresses, names of attributes, and values that are not texts."""

_RANDOM = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+/=\-]{20,}")

_CUT = re.compile(re.escape(CUT))


def value_of(expression: str, value: str) -> str:
    """Take the value of an expression out if what it names is secret.

    >>> value_of("config['password']", "'hunter22'"), value_of("len(password)", "8")
    ("'[redacted]'", '8')
    """
    return _masked(value, _secrecy_of_expression(expression.strip()))


def names_secret(expression: str) -> bool:
    """Whether an expression, or the name of a variable, says that all of its value is secret."""
    return _secrecy_of_expression(expression.strip()) is Secrecy.ALL


def secret_value(value: str) -> str:
    """Take out of a value what can be secret in it."""
    return _masked(value, Secrecy.ALL)


def _secrecy_of_expression(expression: str) -> Secrecy:
    """Look at all names of a path, such as `credentials['user']`; of another expression at the last."""
    if _PATH.fullmatch(expression):
        found = {secrecy_of(name) for name in _NAME_IN_PATH.findall(expression)}
    else:
        last = _LAST_NAME.search(expression)
        found = set() if last is None else {secrecy_of(last[1])}
    return next((secrecy for secrecy in (Secrecy.ALL, Secrecy.RANDOM) if secrecy in found), Secrecy.NONE)


class Redaction:
    """Takes secrets out of results and texts.

    Args:
        environments: whose secret values are to be found wherever they appear.
        secrets: other values that are.
        also: what these take out is taken out as well.
        of_code: how code is treated: it is left alone where somebody has to read it, and it is like output in what
            leaves the machine.

    Attributes:
        secrets: the values that are taken out wherever they appear, the longest first.

    """

    def __init__(
        self,
        environments: Iterable[Mapping[str, str | None]] = (),
        secrets: Iterable[str] = (),
        *,
        also: Iterable["Redaction"] = (),
        of_code: Kind = Kind.CODE,
    ) -> None:
        self._of_code = of_code
        values = {
            value
            for environment in environments
            for name, value in environment.items()
            if value is not None
            and len(value) >= limits.SECRET_CHARACTERS
            and secrecy_of(name, setting=True) is Secrecy.ALL
        }
        values |= set(filter(None, secrets))
        values |= {value for other in also for value in other.secrets}
        self.secrets: Sequence[str] = sorted(values, key=lambda value: (-len(value), value))
        self._values = re.compile("|".join(map(re.escape, self.secrets))) if values else None

    def with_code(self) -> "Redaction":
        """Return one that takes secrets out of code as well."""
        return Redaction(also=[self], of_code=Kind.OUTPUT)

    def text(self, text: str, kind: Kind = Kind.PLAIN) -> str:
        """Take secrets out of a text."""
        if kind is Kind.CODE:
            kind = self._of_code
        if kind is Kind.CODE:
            return text
        if self._values is not None:
            text = self._without_beginnings(self._values.sub(MASK, text))
        text = _QUERY.sub(_query_value, SHAPES.sub(MASK, text))
        if kind is Kind.PLAIN:
            return text
        return _OPTION.sub(_option, _without_members(text, structured=kind is Kind.VALUE))

    def _without_beginnings(self, text: str) -> str:
        """Take out the beginning of a secret where a value was cut within it."""
        parts: list[str] = []
        begin = 0
        for found in _CUT.finditer(text):
            part = text[begin : found.start()]
            length = max((_overlap(part, value) for value in self.secrets), default=0)
            parts += [part[:-length] + MASK if length else part, CUT]
            begin = found.end()
        return "".join([*parts, text[begin:]])

    def result[T: ProtocolObject](self, result: T) -> T:
        """Take secrets out of all that an answer holds."""
        return self._object(result, Kind.PLAIN)

    def json(self, value: object) -> object:
        """Take secrets out of a JSON value, by the keys that it has."""
        return self._held(value, Kind.PLAIN)

    def _object[T: ProtocolObject](self, held: T, kind: Kind) -> T:
        secrecy = _secrecy_of_row(held)
        changes: dict[str, object] = {}
        for name in held.__struct_fields__:
            old: object = getattr(held, name)
            if secrecy is not Secrecy.NONE and name in _NAMED_VALUES and isinstance(old, str):
                old = _masked(old, secrecy)
            changes[name] = self._held(old, _KINDS.get(name, kind))
        return changed(held, **changes)

    def _held(self, held: object, kind: Kind) -> object:
        if kind is Kind.CODE:
            kind = self._of_code
        match held:
            case _ if kind is Kind.CODE:
                return held
            case str():
                return self.text(held, kind)
            case ProtocolObject():
                return self._object(held, kind)
            case list() | tuple():
                return [self._held(item, kind) for item in _without_values_of_options(held)]
            case dict():
                return self._json(held, kind)
        return held

    def _json(self, held: Mapping[str, object], kind: Kind) -> dict[str, object]:
        """Take secrets out of a JSON object, such as what an adapter answered to a request of the caller's own."""
        named = held.get("name")
        result: dict[str, object] = {}
        for key, member in held.items():
            name = named if key in _NAMED_VALUES and isinstance(named, str) else key
            masked = _masked(member, secrecy_of(name)) if isinstance(member, str) else member
            result[key] = self._held(masked, _KINDS.get(key, kind))
        return result


def _secrecy_of_row(held: ProtocolObject) -> Secrecy:
    """Say what the names of a variable say: its own, and the path to it."""
    name, path = getattr(held, "name", None), getattr(held, "evaluate_name", None)
    if isinstance(path, str) and (secrecy := _secrecy_of_expression(path)) is not Secrecy.NONE:
        return secrecy
    return secrecy_of(name) if isinstance(name, str) else Secrecy.NONE


def _overlap(text: str, value: str) -> int:
    """Return how much of the beginning of a value a text ends with, if it is long enough to be recognised."""
    sizes = range(len(value), limits.SECRET_PART_CHARACTERS - 1, -1)
    return next((size for size in sizes if text.endswith(value[:size])), 0)


def _query_value(found: re.Match[str]) -> str:
    masked = _masked(found["value"], secrecy_of(found["name"].strip("[]"), setting=True))
    return f"{found['name']}={masked}"


def _without_values_of_options(words: Sequence[object]) -> Iterator[object]:
    """Take out of a command line what follows an option with a secret name."""
    secrecy = Secrecy.NONE
    for word in words:
        if not isinstance(word, str):
            secrecy = Secrecy.NONE
            yield word
        elif _OPTION_WORD.fullmatch(word):
            secrecy = secrecy_of(word.lstrip("-"), setting=True)
            yield word
        else:
            yield _masked(word, secrecy)
            secrecy = Secrecy.NONE


def _option(found: re.Match[str]) -> str:
    masked = _masked(found["value"], secrecy_of(found["name"].lstrip("-"), setting=True))
    return f"{found['name']}{found['gap']}{masked}"


def _without_members(text: str, *, structured: bool) -> str:
    """Take out what follows secret names; of values with a structure, all of what the name stands for."""
    parts: list[str] = []
    begin = 0
    while (found := _NAMED.search(text, begin)) is not None:
        secrecy = secrecy_of(found["name"])
        start, end = found.span("value")
        if secrecy is Secrecy.NONE:
            end = start
        elif structured and _STRUCTURED.match(text, start):
            end = _end_of_member(text, start)
        parts += [text[begin:start], _masked(text[start:end], secrecy)]
        begin = end
    return "".join([*parts, text[begin:]])


def _end_of_member(text: str, start: int) -> int:
    """Find the end of a member's value: what separates it from the next, or closes what it is in."""
    depth = 0
    for found in _PUNCTUATION.finditer(text, start):
        if found[0] in "([{":
            depth += 1
        elif found[0] in ")]}":
            if not depth:
                return found.start()
            depth -= 1
        elif found[0] in ",;\n" and not depth:
            return found.start()
    return len(text)


def _masked(value: str, secrecy: Secrecy) -> str:
    """Take out of a value what can be secret in it: its texts in quotes, or all of one without quotes."""
    if secrecy is Secrecy.NONE:
        return value
    if _STRUCTURED.match(value):
        return re.sub(_LITERAL, lambda found: _masked_literal(found[0], secrecy), value)
    if len(value) < limits.SECRET_CHARACTERS or _HARMLESS_VALUE.fullmatch(value):
        return value
    return MASK if secrecy is Secrecy.ALL or _RANDOM.fullmatch(value) else value


def _masked_literal(literal: str, secrecy: Secrecy) -> str:
    inner = literal.strip(literal[0])
    secret = len(inner) >= limits.SECRET_CHARACTERS and (secrecy is Secrecy.ALL or _RANDOM.fullmatch(inner))
    return f"{literal[0]}{MASK}{literal[0]}" if secret else literal
