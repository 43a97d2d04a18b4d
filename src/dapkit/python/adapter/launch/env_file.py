r"""Files of environment variables, as `envFile` names them.

    # a comment
    export NAME=value        # `export` and the comment are dropped
    NAME='taken as it is'
    NAME="with \n and ${OTHER}"

Later lines may refer to earlier ones, and to the environment. Other lines are skipped and reported.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dapkit import limits
from dapkit.system.trusted_files import read_file

_LINE = re.compile(
    r"""
    \s* (?:export\s+)? (?P<name>[A-Za-z_][\w.]*) \s* = [^\S\n]*
    (?: '(?P<single>[^']*)'
      | "(?P<double>(?:[^"\\]|\\.)*)"
      | (?P<bare>[^\s'"\#][^\n]*?|)
    )
    [^\S\n]* (?:(?<=\s)\#.*|(?<=['"=])\#.*)? """,
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"\s*(#.*)?")
_REFERENCE = re.compile(r"(?<!\\)\$\{(\w+)(?::-([^}]*))?\}")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class EnvFile:
    """The contents of a file.

    Attributes:
        variables: by name.
        problems: unreadable lines, one sentence for each.

    """

    variables: Mapping[str, str]
    problems: tuple[str, ...] = ()


def read_env_file(path: Path, environment: Mapping[str, str]) -> EnvFile:
    """Read a file; one that is not there has no variables, since configurations name it in case there is one."""
    try:
        text = read_file(path, limits.CONFIGURATION_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return EnvFile({}, (f"envFile {path} does not exist",))
    except (OSError, UnicodeDecodeError) as error:
        return EnvFile({}, (f"envFile {path} cannot be read: {error}",))
    return parse(text, environment, name=str(path))


def parse(text: str, environment: Mapping[str, str], *, name: str = "envFile") -> EnvFile:
    """Read the text of such a file; `name` is its name in problems."""
    variables: dict[str, str] = {}
    problems: list[str] = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if _BLANK.fullmatch(line):
            continue
        whole = line
        while (match := _LINE.fullmatch(whole)) is None and _is_open(whole):
            following = next(lines, None)
            if following is None:
                break
            whole += "\n" + following[1]
        if match is None:
            problems.append(f"line {number} of {name} is not NAME=value: {line.strip()[:40]!r}")
            continue
        variables[match["name"]] = _value(match, {**environment, **variables})
    return EnvFile(variables, tuple(problems))


def _is_open(line: str) -> bool:
    """Return whether a quote that begins a value is not closed yet."""
    begin = re.match(r"\s*(?:export\s+)?[\w.]+\s*=\s*(['\"])", line)
    return begin is not None and len(re.findall(r"(?<!\\)" + begin[1], line)) == 1


def _value(line: re.Match[str], variables: Mapping[str, str]) -> str:
    if line["single"] is not None:
        return line["single"]
    if line["double"] is not None:
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), _filled_in(line["double"], variables))
    return _filled_in(line["bare"] or "", variables).replace("\\$", "$")


def _filled_in(text: str, variables: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: variables.get(match[1]) or match[2] or "", text)
