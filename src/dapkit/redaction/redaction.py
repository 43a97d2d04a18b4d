"""Secrets taken out of answers: they go to a model, into logs and into transcripts.

Secret are: the value of a variable with a secret name (see `secret_names`), such values of the program's environment,
and text of a shape that only tokens have. The kind of a text decides which secrets are removed from it:

    CODE        source, instructions, memory     nothing
    PLAIN       names, messages, exceptions      values of the environment, shapes
    EXPRESSION  the caller's input        the same
    OUTPUT      the program's output           the same, and `NAME=value`, `--name value`
    VALUE       values of variables              the same, and members with secret names

In texts that leave the machine, such as transcripts, all kinds but VALUE are treated like OUTPUT, without the literals
that follow secret names; and values that were found to be secret anywhere in the session are removed everywhere.

This makes accidents rare; it is not a barrier against a user who wants to read a secret of a program that he may debug.
"""

import enum
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dapkit.protocol import ProtocolObject, changed
from dapkit.redaction.secret_names import SHAPES, Secrecy, secrecy_of

MASK = "[redacted]"
CUT = "..."
"""The end of a value that was shortened."""

SECRET_CHARACTERS = 6
"""Shortest value that counts as a secret; shorter ones, such as `1` or `true`, would be found everywhere."""

SECRET_MOST = 4096
"""Longest value that is remembered as a secret."""

SECRETS_FOUND = 200
"""Values of a session that are remembered as secrets because their variables have secret names."""

SECRET_PART_CHARACTERS = 4
"""Shortest beginning of a secret that is recognised where a value was cut."""


class TextKind(enum.Enum):
    """The kind of a text."""

    CODE = enum.auto()
    PLAIN = enum.auto()
    EXPRESSION = enum.auto()
    OUTPUT = enum.auto()
    VALUE = enum.auto()


_KINDS: Mapping[str, TextKind] = {
    **dict.fromkeys(("source_lines", "sourceLines", "content", "disassembly", "instructions"), TextKind.CODE),
    **dict.fromkeys(("memory_data", "memoryData"), TextKind.CODE),
    **dict.fromkeys(("expression", "condition", "hit_condition", "hitCondition"), TextKind.EXPRESSION),
    **dict.fromkeys(("log_message", "logMessage", "input"), TextKind.EXPRESSION),
    **dict.fromkeys(("output", "notes"), TextKind.OUTPUT),
    **dict.fromkeys(("value", "was", "contents", "result"), TextKind.VALUE),
}
"""Fields of results and of JSON by name; their contents are of their kind, too. All others are PLAIN."""

_NAMED_VALUES = ("value", "was", "contents")
"""Fields whose name is in the fields `name` and `evaluate_name` beside them."""

_LITERAL = r"""'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?"""

_NAMED = re.compile(
    r"""(?P<quote>['"]?)(?<![\w\-.])(?P<name>[A-Za-z_][\w\-.]*)(?P=quote)(?P<sign>\s*(?::(?![:=])|=(?![=>]))\s*)"""
    rf"""(?P<value>{_LITERAL}|[^\s,;}}\])'"]+)"""
)
"""`NAME=value`, `name: value` and `"name": "value"`, as output and values have them."""

_PAIR = re.compile(
    rf"""(?P<begin>\(\s*['"](?P<first>[A-Za-z_][\w\-.]*)['"],\s*)(?P<second>{_LITERAL})(?=\s*(?:\)|\Z))"""
    rf"""|(?P<row>['"](?:name|key)['"]:\s*['"](?P<named>[A-Za-z_][\w\-.]*)['"],\s*['"]value['"]:\s*)(?P<held>{_LITERAL})"""
    r"""|(?P<tag><(?P<element>[A-Za-z_][\w\-.]*)>)(?P<content>[^<>\n]+)(?=</(?P=element)>)"""
)
"""`("name", value)`, `{"name": "name", "value": value}` and `<name>value</name>`."""

_OPTION = re.compile(
    r"""(?<![\w\-])(?P<name>--?[A-Za-z][\w\-]*)(?P<gap>['"]?,?\s+['"]?)(?P<value>[^\s'",;\])}\-][^\s'",;\])}]*)"""
)
"""`--name value` of a command line, also as a list of words."""

_ASSIGNED_OPTION = re.compile(
    rf"""(?<![\w\-])(?P<name>--?[A-Za-z][\w\-]*)(?P<gap>=)(?P<value>{_LITERAL}|[^\s,;\]}})'"]+)"""
)
"""`--name=value`."""

_QUERY = re.compile(r"""(?<=[?&;])(?P<name>[\w.\-\[\]]+)(?P<gap>=)(?P<value>[^&;#\s"'<>]+)""")
"""`name=value` in the query of a URL."""

_OPTION_WORD = re.compile(r"--?[A-Za-z][\w\-]*")
"""`--name`, whose value is the next word of a command line."""

_STRUCTURED = re.compile(r"""0x[\da-f]+\s+["']|[A-Za-z_][\w.:]*[(\[{"']|[(\[{"']""", re.IGNORECASE)
"""How a value begins whose texts are in quotes: a text, a container, a call, an address with the text at it."""

_CODE_TOKEN = re.compile(rf"(?P<literal>{_LITERAL})|(?P<word>[A-Za-z_]\w*)|(?P<end>[;\n])|(?P<comma>,)")

_NAME = re.compile(r"[A-Za-z_][\w\-.]*")

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
    """Remove the value of an expression if its name is secret.

    >>> value_of("config['password']", "'hunter22'"), value_of("len(password)", "8")
    ("'[redacted]'", '8')
    """
    return _masked(value, _secrecy_of_expression(expression.strip()))


def names_secret(expression: str) -> bool:
    """Whether an expression, or the name of a variable, says that all of its value is secret."""
    return _secrecy_of_expression(expression.strip()) is Secrecy.ALL


def secret_value(value: str) -> str:
    """Remove the secrets in a value."""
    return _masked(value, Secrecy.ALL)


def _secrecy_of_expression(expression: str) -> Secrecy:
    """Look at all names of a path, such as `credentials['user']`; of another expression at the last."""
    if _PATH.fullmatch(expression):
        secrecies = {secrecy_of(name) for name in _NAME_IN_PATH.findall(expression)}
    else:
        last = _LAST_NAME.search(expression)
        secrecies = set() if last is None else {secrecy_of(last[1])}
    return next((secrecy for secrecy in (Secrecy.ALL, Secrecy.RANDOM) if secrecy in secrecies), Secrecy.NONE)


class Redaction:
    """Takes secrets out of results and texts.

    Args:
        environments: whose secret values are to be found wherever they appear.
        secrets: other values that are.
        also: further redactors, whose secrets are removed as well.
        of_code: the treatment of code: it is unchanged where a user must read it, and it is treated like output in
            texts that leave the machine.

    Attributes:
        secrets: the values that are taken out wherever they appear, the longest first.
        found: values that were taken out because of their names, at most `SECRETS_FOUND`; `with_code` takes them
            out wherever they appear.

    """

    def __init__(
        self,
        environments: Iterable[Mapping[str, str | None]] = (),
        secrets: Iterable[str] = (),
        *,
        also: Iterable["Redaction"] = (),
        of_code: TextKind = TextKind.CODE,
    ) -> None:
        self._of_code = of_code
        self.found: set[str] = set()
        values = {
            value
            for environment in environments
            for name, value in environment.items()
            if value is not None and len(value) >= SECRET_CHARACTERS and secrecy_of(name, setting=True) is Secrecy.ALL
        }
        values |= set(filter(None, secrets))
        values |= {value for other in also for value in other.secrets}
        self.secrets: Sequence[str] = sorted(values, key=lambda value: (-len(value), value))
        self._values = re.compile("|".join(map(re.escape, self.secrets))) if values else None

    def with_code(self) -> "Redaction":
        """Return a redactor that removes secrets from code as well, and that knows all secrets found so far."""
        redaction = Redaction(secrets=self.found, also=[self], of_code=TextKind.OUTPUT)
        redaction.found = self.found
        return redaction

    def text(self, text: str, kind: TextKind = TextKind.PLAIN) -> str:
        """Take secrets out of a text."""
        if self._of_code is not TextKind.CODE:
            redacted = self._without_values(text, kind if kind is TextKind.VALUE else self._of_code)
            return redacted if kind is TextKind.VALUE else _without_literals(redacted)
        return text if kind is TextKind.CODE else self._without_values(text, kind)

    def _without_values(self, text: str, kind: TextKind) -> str:
        """Remove the secrets in a text of a kind other than CODE."""
        if self._values is not None:
            text = self._without_beginnings(self._values.sub(MASK, text))
        text = _QUERY.sub(self._option, SHAPES.sub(MASK, text))
        if kind in (TextKind.PLAIN, TextKind.EXPRESSION):
            return text
        if "-" in text:
            text = _OPTION.sub(self._option, _ASSIGNED_OPTION.sub(self._option, text))
        return self._without_members(_PAIR.sub(self._paired, text), structured=kind is TextKind.VALUE)

    def _paired(self, match: re.Match[str]) -> str:
        """Take out the second of a pair whose first is a secret name."""
        begin = match["begin"] or match["row"] or match["tag"]
        name = match["first"] or match["named"] or match["element"]
        return begin + self._masked(match["second"] or match["held"] or match["content"], secrecy_of(name))

    def without_found(self, value: object) -> object:
        """Remove values from JSON that were found to be secret after it was made; keys stay."""
        return _without(value, sorted(self.found, key=len, reverse=True))

    def _without_beginnings(self, text: str) -> str:
        """Take out the beginning of a secret where a value was cut within it."""
        parts: list[str] = []
        begin = 0
        for match in _CUT.finditer(text):
            part = text[begin : match.start()]
            length = max((_overlap(part, value) for value in self.secrets), default=0)
            parts += [part[:-length] + MASK if length else part, CUT]
            begin = match.end()
        return "".join([*parts, text[begin:]])

    def result[T: ProtocolObject](self, result: T) -> T:
        """Take secrets out of all that an answer holds."""
        return self._object(result, TextKind.PLAIN)

    def json(self, value: object, kind: TextKind = TextKind.PLAIN) -> object:
        """Remove secrets from a JSON value, by its keys; parts without a key have the given kind."""
        return self._held(value, kind)

    def _object[T: ProtocolObject](self, value: T, kind: TextKind) -> T:
        secrecy = _secrecy_of_row(value)
        changes: dict[str, object] = {}
        for name in value.__struct_fields__:
            old: object = getattr(value, name)
            if secrecy is not Secrecy.NONE and name in _NAMED_VALUES and isinstance(old, str):
                old = self._masked(old, secrecy)
            changes[name] = self._held(old, _KINDS.get(name, kind))
        return changed(value, **changes)

    def _held(self, value: object, kind: TextKind) -> object:
        match value:
            case _ if kind is TextKind.CODE and self._of_code is TextKind.CODE:
                return value
            case str():
                return self.text(value, kind)
            case ProtocolObject():
                return self._object(value, kind)
            case list() | tuple():
                return [self._held(item, kind) for item in self._without_values_of_options(value)]
            case dict():
                return self._json(value, kind)
        return value

    def _json(self, value: Mapping[str, object], kind: TextKind) -> dict[str, object]:
        """Remove secrets from a JSON object, such as an adapter's response to a request of the caller's own."""
        name = value.get("name", value.get("expression"))
        result: dict[str, object] = {}
        for key, member in value.items():
            masked = member
            if isinstance(member, str):
                by_name = key in _NAMED_VALUES and isinstance(name, str)
                secrecy = _secrecy_of_expression(str(name)) if by_name else secrecy_of(key)
                masked = self._masked(member, secrecy)
            result[key] = self._held(masked, _KINDS.get(key, kind))
        return result

    def _masked(self, value: str, secrecy: Secrecy) -> str:
        """Remove the secrets in a value, and remember them."""
        masked = _masked(value, secrecy)
        if masked != value:
            self._remember(value)
        return masked

    def _remember(self, value: str) -> None:
        """Remember a value, or the texts in quotes that it has, unless one is a secret name itself."""
        texts = [match[0] for match in re.finditer(_LITERAL, value)] if _STRUCTURED.match(value) else [value]
        for text in texts:
            inner = text.strip(text[0]) if text[0] in "'\"" else text
            names = inner.replace("_", "").isalpha() and _secrecy_of_name(inner) is not Secrecy.NONE
            whole = MASK not in inner and not inner.endswith(CUT) and not names
            fits = SECRET_CHARACTERS <= len(inner) <= SECRET_MOST
            if whole and fits and len(self.found) < SECRETS_FOUND:
                self.found.add(inner)

    def _option(self, match: re.Match[str]) -> str:
        """Take out the value of an option of a command line, or of a name in a query."""
        masked = self._masked(match["value"], secrecy_of(match["name"].strip("-[]"), setting=True))
        return f"{match['name']}{match['gap']}{masked}"

    def _without_values_of_options(self, words: Sequence[object]) -> Iterator[object]:
        """Remove from a command line the word after an option with a secret name."""
        secrecy = Secrecy.NONE
        for word in words:
            if not isinstance(word, str):
                secrecy = Secrecy.NONE
                yield word
            elif _OPTION_WORD.fullmatch(word):
                secrecy = secrecy_of(word.lstrip("-"), setting=True)
                yield word
            else:
                yield self._masked(word, secrecy)
                secrecy = Secrecy.NONE

    def _without_members(self, text: str, *, structured: bool) -> str:
        """Remove the texts after secret names; of values with a structure, the whole value of the name."""
        parts: list[str] = []
        begin = 0
        while (match := _NAMED.search(text, begin)) is not None:
            secrecy = secrecy_of(match["name"])
            start, end = match.span("value")
            if secrecy is Secrecy.NONE or match["value"] == match["name"].rpartition(".")[2]:  # password=password
                end = start
            elif structured and _STRUCTURED.match(text, start):
                end = _end_of_member(text, start)
            value = text[start:end]
            is_name = value.isidentifier() and value.isalpha()  # as in `login(password=typed)`
            parts += [text[begin:start], _masked(value, secrecy) if is_name else self._masked(value, secrecy)]
            begin = end
        return "".join([*parts, text[begin:]])


def _secrecy_of_row(row: ProtocolObject) -> Secrecy:
    """Return the verdict of a variable's names: its own, and the path to it."""
    name, path = getattr(row, "name", None), getattr(row, "evaluate_name", None)
    if isinstance(path, str) and (secrecy := _secrecy_of_expression(path)) is not Secrecy.NONE:
        return secrecy
    return secrecy_of(name) if isinstance(name, str) else Secrecy.NONE


def _overlap(text: str, value: str) -> int:
    """Return how much of the beginning of a value a text ends with, if it is long enough to be recognised."""
    sizes = range(len(value), SECRET_PART_CHARACTERS - 1, -1)
    return next((size for size in sizes if text.endswith(value[:size])), 0)


def _without_literals(code: str) -> str:
    """Take out of code the literals that follow a secret name in the same statement, or as the next argument."""
    if "'" not in code and '"' not in code:
        return code
    secrecy, in_pair, parts, begin = Secrecy.NONE, False, list[str](), 0
    for match in _CODE_TOKEN.finditer(code):
        token = match[0]
        name_secrecy = _secrecy_of_name(token.strip(token[0]) if match.lastgroup == "literal" else token)
        match match.lastgroup:
            case "literal" | "word" if name_secrecy is not Secrecy.NONE:
                secrecy, in_pair = name_secrecy, match.lastgroup == "literal"
            case "literal":
                parts += [code[begin : match.start()], _masked_literal(token, secrecy)]
                begin, in_pair = match.end(), False
            case "word":
                in_pair = False
            case "comma" if in_pair:
                in_pair = False
            case _:
                secrecy = Secrecy.NONE
    return "".join([*parts, code[begin:]])


def _secrecy_of_name(name: str) -> Secrecy:
    """Return the verdict of a text as a name in code; nothing if it is not a name."""
    return secrecy_of(name, setting=name.isupper()) if _NAME.fullmatch(name) else Secrecy.NONE


def _without(value: object, secrets: Sequence[str]) -> object:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, MASK)
            return value
        case list():
            return [_without(item, secrets) for item in value]
        case dict():
            return {key: _without(item, secrets) for key, item in value.items()}
    return value


def _end_of_member(text: str, start: int) -> int:
    """Find the end of a member's value: the separator before the next, or the closing bracket."""
    depth = 0
    for match in _PUNCTUATION.finditer(text, start):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            if not depth:
                return match.start()
            depth -= 1
        elif match[0] in ",;\n" and not depth:
            return match.start()
    return len(text)


def _masked(value: str, secrecy: Secrecy) -> str:
    """Remove the possible secrets in a value: its texts in quotes, or all of one without quotes."""
    if secrecy is Secrecy.NONE or value == MASK:
        return value
    if _STRUCTURED.match(value):
        return re.sub(_LITERAL, lambda match: _masked_literal(match[0], secrecy), value)
    if len(value) < SECRET_CHARACTERS or _HARMLESS_VALUE.fullmatch(value):
        return value
    return MASK if secrecy is Secrecy.ALL or _RANDOM.fullmatch(value) else value


def _masked_literal(literal: str, secrecy: Secrecy) -> str:
    if secrecy is Secrecy.NONE:
        return literal
    inner = literal.strip(literal[0])
    secret = len(inner) >= SECRET_CHARACTERS and (secrecy is Secrecy.ALL or _RANDOM.fullmatch(inner))
    return f"{literal[0]}{MASK}{literal[0]}" if secret else literal
