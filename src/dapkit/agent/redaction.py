"""Secrets taken out of answers: they go to a model, into logs and into transcripts.

What counts as one: the value of an environment variable, or of a variable of the
program, whose name says that it is secret; and text of a shape that only tokens have.
It is replaced wherever it appears. This makes accidents rare; it is not a barrier
against somebody who wants to get at a secret of a program that he may debug.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from dapkit import limits
from dapkit.agent.budget import CUT

MASK = "[redacted]"

_SECRET_NAME = re.compile(
    r"(?:^|[_\-.\s])(?:api_?key|access_?key|private_?key|secret_?key|key|token|secret|password|passwd|passphrase|"
    r"credentials?|auth)(?:$|[_\-.\s\d])"
    r"|(?:key|token|secret|password|passwd|passphrase|credentials?)$"
    r"|apikey|accesskey|privatekey|secretkey|password",
    re.IGNORECASE,
)
_HARMLESS_NAME = re.compile(
    r"^(?:key|keys|.*monkey|.*hotkey|.*keyboard.*|token_?(?:type|count|s)|.*_keys)$", re.IGNORECASE
)

_TOKENS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bgh[oprsu]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}"
    r"|\bglpat-[A-Za-z0-9_\-]{20,}"
    r"|\bsk-[A-Za-z0-9_\-]{20,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_\-]{35}"
    r"|\bpypi-[A-Za-z0-9_\-]{40,}|\bnpm_[A-Za-z0-9]{36}\b"
    r"|\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"
    r"|(?<=\b[Bb]earer )[A-Za-z0-9._~+/\-]{8,}=*"
    r"|(?<=\b[Aa]uthorization: Basic )[A-Za-z0-9+/]{8,}=*",
    re.DOTALL,
)

_ASSIGNED = re.compile(
    r"""(?P<quote>['"]?)(?P<name>[A-Za-z_][\w\-.]*)(?P=quote)(?P<sign>\s*(?::(?!=)|=(?!=))\s*)"""
    r"""(?P<value>'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?|[^\s,;}\])'"]+)"""
)
"""`NAME=value`, `name: value` and `"name": "value"`, as output and values have them."""

_OPTION = re.compile(
    r"""(?<![\w\-])(?P<name>--?[A-Za-z][\w\-]*)(?P<gap>['"]?,?\s+['"]?)(?P<value>[^\s'",;\])}\-][^\s'",;\])}]*)"""
)
"""`--name value` of a command line, also as a list of words."""

_LAST_NAME = re.compile(r"""([A-Za-z_][\w\-]*)['"\])\s]*\Z""")
"""The name of an attribute, of an item or of a variable that an expression ends with."""

_CUT = re.compile(re.escape(CUT))

_HARMLESS_VALUE = re.compile(r"[+-]?[\d.]+|0x[\da-f]+|none|null|nil|true|false|undefined|.*[()<>].*", re.IGNORECASE)
"""Numbers, addresses, and values that are not texts: a `token` of a parser is not a secret."""


def is_secret_name(name: str) -> bool:
    """Whether a name says that its value is secret.

    >>> is_secret_name("GITHUB_TOKEN"), is_secret_name("monkey"), is_secret_name("tokens")
    (True, False, False)
    """
    bare = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("'\"[]()* "))
    return bool(_SECRET_NAME.search(bare)) and not _HARMLESS_NAME.match(bare)


def value_of(expression: str, value: str) -> str:
    """Take the value of an expression out if the last name in it says that it is secret.

    >>> value_of("config['password']", "'hunter22'"), value_of("len(password)", "8")
    ("'[redacted]'", '8')
    """
    name = _LAST_NAME.search(expression)
    return _masked(value) if name is not None and is_secret_name(name[1]) and _is_secret(value) else value


class Redaction:
    """Takes secrets out of texts and JSON values.

    Args:
        environments: whose secret values are to be found wherever they appear.
        secrets: other values that are.
        also: what these take out is taken out as well.

    Attributes:
        secrets: the values that are taken out wherever they appear, the longest first.

    """

    def __init__(
        self,
        environments: Iterable[Mapping[str, str | None]] = (),
        secrets: Iterable[str] = (),
        *,
        also: Iterable["Redaction"] = (),
    ) -> None:
        values = {
            value
            for environment in environments
            for name, value in environment.items()
            if value is not None and len(value) >= limits.SECRET_CHARACTERS and is_secret_name(name)
        }
        values |= set(filter(None, secrets))
        values |= {value for other in also for value in other.secrets}
        self.secrets: Sequence[str] = sorted(values, key=lambda value: (-len(value), value))
        self._values = re.compile("|".join(map(re.escape, self.secrets))) if values else None

    def text(self, text: str) -> str:
        """Take secrets out of a text."""
        if self._values is not None:
            text = self._without_beginnings(self._values.sub(MASK, text))
        return _OPTION.sub(_option, _ASSIGNED.sub(_assigned, _TOKENS.sub(MASK, text)))

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

    def value(self, value: object) -> object:
        """Take secrets out of a JSON value, such as the details of an answer."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(member) for member in value]
            case dict():
                named = value.get("name")
                return {
                    key: self._member(named if key in ("value", "was") and isinstance(named, str) else key, member)
                    for key, member in value.items()
                }
        return value

    def _member(self, name: str, member: object) -> object:
        if isinstance(member, str) and is_secret_name(name) and _is_secret(member):
            return _masked(member)
        return self.value(member)


def _overlap(text: str, value: str) -> int:
    """Return how much of the beginning of a value a text ends with, if it is long enough to be recognised."""
    sizes = range(len(value), limits.SECRET_PART_CHARACTERS - 1, -1)
    return next((size for size in sizes if text.endswith(value[:size])), 0)


def _option(found: re.Match[str]) -> str:
    if not is_secret_name(found["name"].lstrip("-")) or not _is_secret(found["value"]):
        return found[0]
    return f"{found['name']}{found['gap']}{MASK}"


def _assigned(found: re.Match[str]) -> str:
    if not is_secret_name(found["name"]) or not _is_secret(found["value"]):
        return found[0]
    return f"{found['quote']}{found['name']}{found['quote']}{found['sign']}{_masked(found['value'])}"


def _is_secret(value: str) -> bool:
    """Whether the value of something with a secret name can be a secret."""
    if value[:1] in ("'", '"'):
        return len(value) >= limits.SECRET_CHARACTERS + 2
    return len(value) >= limits.SECRET_CHARACTERS and not _HARMLESS_VALUE.fullmatch(value)


def _masked(value: str) -> str:
    quote = value[0] if value[0] in "'\"" else ""
    return f"{quote}{MASK}{quote}"
