"""Write docs/reference/works-with.md: which editors and frameworks are tested, what works, what does not, and why.

    python tools/works_with_table.py            write the page
    python tools/works_with_table.py --check    fail if it says anything else

What works is what tests claim, each by a mark: nothing is run here, since a test that fails, or is skipped, fails CI.

    @pytest.mark.works_with("Django", "breakpoints in views")
    @pytest.mark.limit_of("gevent", "steps into another greenlet", "a step stays in its greenlet")

Editors and frameworks have a table each in tests/works_with.toml, which has their version and the limits that no test
shows.
"""

import contextlib
import io
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec
import pytest

import bootstrap
from made_files import ROOT, run

PAGE = ROOT / "docs/reference/works-with.md"
SUBJECTS = ROOT / "tests/works_with.toml"
TESTS = ROOT / "tests"
LOCK = ROOT / "uv.lock"
WORKS, LIMIT = "works_with", "limit_of"
INTRODUCTION = """\
# Editors and frameworks

This page is made by `python tools/works_with_table.py` from marks of tests and from `tests/works_with.toml`. What works
was seen in tests with the real editor or framework, in the versions that are named. *Tried* means by hand, elsewhere.
"""

type Kind = Literal["editor", "framework", "library"]
TITLES: Final[Mapping[Kind, str]] = {"editor": "Editors", "framework": "Frameworks", "library": "Libraries"}


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What does not work, and why."""

    what: str
    why: str


class Subject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An editor or a framework, by its table in tests/works_with.toml.

    Attributes:
        kind: the section of the page.
        package: the distribution whose version uv.lock has.
        version: the version, where no lock file has it.
        page: a page about it, relative to docs/reference.
        tried: what was seen to work by hand, where no test can.
        untested: why no test runs it.
        limits: what does not work, where no test shows it.

    """

    kind: Kind
    package: str | None = None
    version: str | None = None
    page: str | None = None
    tried: tuple[str, ...] = ()
    untested: str | None = None
    limits: tuple[Limit, ...] = ()


class Claim(NamedTuple):
    """What one test shows with the versions of Python that it runs."""

    subject: str
    what: str
    pythons: tuple[str, ...]


class Shown(NamedTuple):
    """A limit, and the editor or framework that it is of."""

    subject: str
    limit: Limit


class Collector:
    """A plug-in of pytest that keeps what the marks of tests say."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.limits: list[Shown] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Read the marks, in the order of files and lines."""
        for item in sorted(session.items, key=lambda item: (item.location[0], item.location[1] or 0)):
            for mark in reversed(list(item.iter_markers(WORKS))):
                subject, what = mark.args
                self.claims.append(Claim(subject, what, _pythons(item)))
            for mark in reversed(list(item.iter_markers(LIMIT))):
                subject, what, why = mark.args
                self.limits.append(Shown(subject, Limit(what, why)))


def _pythons(item: pytest.Item) -> tuple[str, ...]:
    """Return the versions of Python that programs of a test run on: those that it is given, or that of the tests."""
    matters = item.get_closest_marker("each_python") is not None and "python" in getattr(item, "fixturenames", ())
    return tuple(sorted(bootstrap.VERSIONS)) if matters else bootstrap.VERSIONS[:1]


def subjects() -> dict[str, Subject]:
    """Return the editors and frameworks, in the order of the page."""
    return msgspec.toml.decode(SUBJECTS.read_bytes(), type=dict[str, Subject])


def collected() -> Collector:
    """Return what the tests claim."""
    files = [str(path) for path in sorted(TESTS.rglob("test_*.py")) if _has_marks(path.read_text(encoding="utf-8"))]
    collector = Collector()
    options = ("--collect-only", "-p", "no:cacheprovider", "--each-adapter", "-c", str(ROOT / "pyproject.toml"))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        failed = bool(files) and pytest.main([*options, *files], plugins=[collector]) != pytest.ExitCode.OK
    if failed:
        raise SystemExit(said.getvalue())
    return collector


def _has_marks(text: str) -> bool:
    return f"mark.{WORKS}(" in text or f"mark.{LIMIT}(" in text


def locked_versions() -> dict[str, str]:
    """Return the versions of distributions that the tests run with."""
    versions: defaultdict[str, list[str]] = defaultdict(list)
    for package in tomllib.loads(LOCK.read_text(encoding="utf-8"))["package"]:
        if "version" in package:
            versions[package["name"]].append(package["version"])
    return {name: ", ".join(several) for name, several in versions.items()}


def page(known: Mapping[str, Subject], claims: Iterable[Claim], limits: Iterable[Shown]) -> str:
    """Return the page.

    Raises:
        SystemExit: a mark is about something that is not known, or nothing is said of something that is.

    """
    by_subject: defaultdict[str, defaultdict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for claim in claims:
        by_subject[claim.subject][claim.pythons].append(claim.what)
    shown = list(dict.fromkeys(limits))
    unknown = (set(by_subject) | {limit.subject for limit in shown}) - known.keys()
    if unknown:
        raise SystemExit(f"{SUBJECTS.relative_to(ROOT)} lacks {', '.join(sorted(unknown))}, which marks of tests name")
    versions = locked_versions()
    lines = [INTRODUCTION]
    for kind, title in TITLES.items():
        of_kind = {name: subject for name, subject in known.items() if subject.kind == kind}
        if not of_kind:
            continue
        lines += [f"## {title}", "", "| | version | what works | Python |", "| --- | --- | --- | --- |"]
        for name, subject in of_kind.items():
            lines += _rows(name, subject, _version(name, subject, versions), by_subject[name])
        why = [(name, limit) for name, subject in of_kind.items() for limit in subject.limits]
        why += [(limit.subject, limit.limit) for limit in shown if limit.subject in of_kind]
        if why:
            lines += ["", "What does not work:", "", "| with | what | why |", "| --- | --- | --- |"]
            lines += [f"| {name} | {limit.what} | {limit.why} |" for name, limit in why]
        lines.append("")
    return "\n".join(lines)


def _rows(name: str, subject: Subject, version: str, claims: Mapping[tuple[str, ...], list[str]]) -> Iterator[str]:
    title = f"[{name}]({subject.page})" if subject.page else name
    if not (claims or subject.tried or subject.untested):
        raise SystemExit(f"{SUBJECTS.relative_to(ROOT)} has {name}, of which no test says anything: name it `untested`")
    for pythons, what in claims.items():
        yield f"| {title} | {version} | {'; '.join(dict.fromkeys(what))} | {', '.join(pythons)} |"
    if subject.tried:
        yield f"| {title} | {version} | *tried*: {'; '.join(subject.tried)} | |"
    if subject.untested:
        yield f"| {title} | {version} | *not tested*: {subject.untested} | |"


def _version(name: str, subject: Subject, locked: Mapping[str, str]) -> str:
    if subject.package is None:
        return subject.version or ""
    if subject.package not in locked:
        raise SystemExit(f"{name}: uv.lock has no {subject.package}")
    return locked[subject.package]


def whole_page() -> str:
    """Return the page with what tests claim now."""
    found = collected()
    return page(subjects(), found.claims, found.limits)


def main() -> int:
    """Write the page, or check it."""
    return run("Write docs/reference/works-with.md.", lambda: {PAGE: whole_page()})


if __name__ == "__main__":
    sys.exit(main())
