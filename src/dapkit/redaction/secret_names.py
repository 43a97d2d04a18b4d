"""Names that mark their values as secret, and shapes that only secrets have.

A name is read as words: dbPassword, DB_PASSWORD and db.password are "db password".

| secret                                               | unless                                                    |
| ---------------------------------------------------- | --------------------------------------------------------- |
| a name with a word of SECRET_WORDS, or with two      | its last word is one of ABOUT: password_length is not     |
| words of SECRET_PAIRS side by side                   | a password                                                |
| an upper-case name, a variable of the environment or | the word before it is one of HARMLESS: PRIMARY_KEY; or    |
| an option whose last word is one of SETTING_ENDS     | it is the only word: KEY, but --token is secret           |
| a name that ends with "token", where its value looks | the word before it is one of HARMLESS: next_token         |
| random                                               |                                                           |

All other names are not: key, token_t, keyboard, KeyError.
"""

import enum
import re
from functools import lru_cache
from itertools import pairwise

SECRET_WORDS = frozenset(
    [
        *("password", "passwd", "passphrase", "passcode", "secret", "credential", "authorization"),
        *("passwords", "passphrases", "passcodes", "secrets", "credentials"),
    ]
)
SECRET_PAIRS = frozenset(
    [
        ("pass", "phrase"),  # myPassPhrase
        *((kind, "key") for kind in ("api", "access", "private", "signing", "encryption", "account")),
        *((kind, "token") for kind in ("api", "access", "auth", "refresh", "bearer", "session", "id")),
    ]
)
SETTING_ENDS = frozenset(["token", "key", "auth", "pat", "pass", "pwd"])
ABOUT = frozenset(
    [
        *("type", "types", "name", "names", "field", "fields", "label", "hint", "prompt", "input", "error", "errors"),
        *("url", "uri", "path", "file", "filename", "dir", "folder", "env", "var", "version", "class", "form"),
        *("length", "len", "size", "count", "min", "max", "ttl", "age", "timeout", "expiry", "expires", "policy"),
        *("hasher", "hashers", "validator", "validators", "regex", "pattern", "manager", "provider", "store"),
    ]
)
HARMLESS = frozenset(
    [
        *("next", "prev", "previous", "current", "last", "first", "start", "end", "page", "continuation", "cancel"),
        *("cancellation", "sync", "primary", "foreign", "unique", "partition", "sort", "group", "public", "cache"),
        *("row", "index", "lookup", "composite", "natural", "surrogate", "hot", "host", "registry", "map", "dict"),
    ]
)

_JOINED = SECRET_WORDS | {"".join(pair) for pair in SECRET_PAIRS}
_JOINED_ENDS = ("password", "passwd", "passphrase")  # PGPASSWORD
_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[a-z]+")


SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bgh[oprsu]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}"
    r"|\bglpat-[A-Za-z0-9_\-]{20,}"
    r"|\bsk-[A-Za-z0-9_\-]{20,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9\-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_\-]{35}"
    r"|\bpypi-[A-Za-z0-9_\-]{40,}|\bnpm_[A-Za-z0-9]{36}\b"
    r"|\beyJ[A-Za-z0-9_\-]{8,4096}+\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}"
    r"|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"
    r"|(?<=\b[Bb]earer )[A-Za-z0-9._~+/\-]{8,}=*"
    r"|(?<=\b[Aa]uthorization: Basic )[A-Za-z0-9+/]{8,}=*",
    re.DOTALL,
)
"""Texts of a shape that only tokens, keys and passwords have."""


class Secrecy(enum.Enum):
    """The verdict of a name about its value."""

    NONE = "it is not secret"
    RANDOM = "it is secret if it looks random"
    ALL = "it is secret"


@lru_cache(maxsize=4096)
def secrecy_of(name: str, *, setting: bool = False) -> Secrecy:
    """Return the verdict of a name; a setting is a variable of the environment, or an option of a command.

    >>> secrecy_of("dbPassword").name, secrecy_of("primary_key").name, secrecy_of("GITHUB_TOKEN").name
    ('ALL', 'NONE', 'ALL')
    """
    words = _WORD.findall(_CASES.sub("_", name).lower())
    if not words:
        return Secrecy.NONE
    secret = any(word in _JOINED or word.endswith(_JOINED_ENDS) for word in words)
    if secret or any(pair in SECRET_PAIRS for pair in pairwise(words)):
        return Secrecy.NONE if words[-1] in ABOUT else Secrecy.ALL
    if words[-2:-1] and words[-2] in HARMLESS:
        return Secrecy.NONE
    if setting and words == ["token"]:
        return Secrecy.ALL
    if (setting or name.isupper()) and len(words) > 1 and words[-1] in SETTING_ENDS:
        return Secrecy.ALL
    return Secrecy.RANDOM if words[-1] in ("token", "pw") else Secrecy.NONE
