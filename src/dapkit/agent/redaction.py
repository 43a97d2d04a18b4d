"""Secrets taken out of answers: they go to a model, into logs and into transcripts.

What counts as one: the value of an environment variable, or of a variable of the
program, whose name says that it is secret; and text of a shape that only tokens have.
It is replaced wherever it appears. This makes accidents rare; it is no barrier
against somebody who wants to get at a secret of a program that he may debug.
"""

import re
from collections.abc import Iterable, Mapping

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

_SHORTEST_VALUE = 6
"""Shorter values of the environment are not looked for: `1` or `true` would be everywhere."""

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
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
    re.DOTALL,
)

_ASSIGNED = re.compile(
    r"""(?P<quote>['"]?)(?P<name>[A-Za-z_][\w\-.]*)(?P=quote)(?P<sign>\s*(?::(?!=)|=(?!=))\s*)"""
    r"""(?P<value>'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?|[^\s,;}\])'"]+)"""
)
"""`NAME=value`, `name: value` and `"name": "value"`, as output and values have them."""

_HARMLESS_VALUE = re.compile(r"[+-]?[\d.]+|0x[\da-f]+|none|null|nil|true|false|undefined|.*[()<>].*", re.IGNORECASE)
"""Numbers, addresses, and what is no text: a `token` of a parser is no secret."""


def is_secret_name(name: str) -> bool:
    """Whether a name says that its value is secret.

    >>> is_secret_name("GITHUB_TOKEN"), is_secret_name("monkey"), is_secret_name("tokens")
    (True, False, False)
    """
    bare = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("'\"[]()* "))
    return bool(_SECRET_NAME.search(bare)) and not _HARMLESS_NAME.match(bare)


class Redaction:
    """Takes secrets out of texts and JSON values.

    Args:
        environments: whose secret values are to be found wherever they appear.
        secrets: other values that are.

    """

    def __init__(self, environments: Iterable[Mapping[str, str | None]] = (), secrets: Iterable[str] = ()) -> None:
        values = {
            value
            for environment in environments
            for name, value in environment.items()
            if value is not None and len(value) >= _SHORTEST_VALUE and is_secret_name(name)
        }
        values |= set(filter(None, secrets))
        longest_first = sorted(values, key=lambda value: (-len(value), value))
        self._values = re.compile("|".join(map(re.escape, longest_first))) if values else None

    def text(self, text: str) -> str:
        """Take secrets out of a text."""
        if self._values is not None:
            text = self._values.sub(MASK, text)
        return _ASSIGNED.sub(_assigned, _TOKENS.sub(MASK, text))

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


def _assigned(found: re.Match[str]) -> str:
    if not is_secret_name(found["name"]) or not _is_secret(found["value"]):
        return found[0]
    return f"{found['quote']}{found['name']}{found['quote']}{found['sign']}{_masked(found['value'])}"


def _is_secret(value: str) -> bool:
    """Whether the value of something with a secret name can be a secret."""
    if value[:1] in ("'", '"'):
        return len(value) >= _SHORTEST_VALUE + 2
    return len(value) >= _SHORTEST_VALUE and not _HARMLESS_VALUE.fullmatch(value)


def _masked(value: str) -> str:
    quote = value[0] if value[0] in "'\"" else ""
    return f"{quote}{MASK}{quote}"
