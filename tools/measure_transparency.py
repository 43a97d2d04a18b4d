"""Does a debugger change what programs do? `make transparency`, or `python tools/measure_transparency.py --help`.

Tests of the interpreter's own run plain, then under our adapter in each mode, and what becomes of each test is
compared. Fails if on a version more than three tests change in a mode that `tools/transparency/explained.toml` does
not explain, or if a program hangs or ends.

    make transparency                                   a few modules, in each mode, on each version
    make transparency ARGS='test_io test_pdb'           these
    make transparency ARGS=--all                        all modules that the tool knows, which takes an hour
    make transparency ARGS=--packages                   the tests of packages from the registry, by pytest
    make transparency ARGS='--debugpy --mode nothing'   debugpy, for comparison
"""

import argparse
import dataclasses
import json
import os
import signal
import sys
import time
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio

from dapkit.protocol import from_json_value
from transparency import packages
from transparency.debugged import DEBUGPY, OURS, Debugger
from transparency.explained import unexplained
from transparency.modes import MODES, USUAL
from transparency.page import as_text, document, without_corpus
from transparency.subjects import BUILD, Subject, interpreter, module_subject, modules
from transparency.trial import Base, Verdict, base, verdict

VERSIONS = ("3.12", "3.13", "3.14", "3.15")
MOST_CHANGES = 3
"""So many unexplained changes in a mode on a version are accepted."""
LONGEST = ("travel", "steps")
"""The modes that take longest."""
FEW_SECONDS, ALL_SECONDS = 2.0, 6.0
"""How many seconds of tests are taken of each subject: the fastest ones."""


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "subject", nargs="*", help="test modules, such as test_io, or with --packages names of packages"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="all modules that are listed in modules.toml")
    which.add_argument("--packages", action="store_true", help="tests of packages")
    parser.add_argument("--version", action="append", choices=VERSIONS, help="only on this version of Python")
    parser.add_argument("--mode", action="append", choices=list(MODES), help="only in this mode")
    parser.add_argument("--seconds", type=float, help="how many seconds of tests are taken of each subject")
    parser.add_argument(
        "--jobs", type=int, default=len(os.sched_getaffinity(0)), help="programs at a time; twice as many debugged"
    )
    parser.add_argument("--debugpy", action="store_true", help="measure debugpy")
    parser.add_argument("--adapter-python", metavar="PYTHON", help="measure the dapkit that is installed there")
    parser.add_argument("--label", help="name of the folder of the results, below build/transparency/")
    parser.add_argument(
        "--write", metavar="FILE", type=Path, help="write a page from all results of the label, measured now or before"
    )
    return parser.parse_args()


def subjects(chosen: argparse.Namespace) -> list[Subject]:
    """Return whose tests are to be run."""
    found: list[Subject] = []
    for version in chosen.version or VERSIONS:
        if interpreter(version) is None:
            print(f"left out Python {version}: no interpreter of it that has the tests of the standard library")
        elif chosen.packages:
            found += packages.subjects(version, chosen.subject)
        else:
            names = chosen.subject or modules("all" if chosen.all else "few")
            made = [module_subject(name.removeprefix("test.").removesuffix(".py"), version) for name in names]
            found += [subject for subject in made if subject is not None]
    return found


async def measure(chosen: argparse.Namespace, debugger: Debugger, folder: Path) -> list[Verdict]:
    """Measure all subjects in each mode, a few at a time.

    The plain runs come first, one for each job: by their times the tests are chosen. A debugged program and
    its debugger wait for each other, so there are two for each job then; what takes longest begins.
    """
    found: list[Verdict] = []
    thorough = bool(chosen.all or chosen.packages or chosen.subject)
    plain, debugged = anyio.Semaphore(chosen.jobs), anyio.Semaphore(2 * chosen.jobs)
    modes = sorted(chosen.mode or USUAL, key=lambda mode: mode not in LONGEST)

    async def look(subject: Subject) -> None:
        async with plain:
            seconds = chosen.seconds or (ALL_SECONDS if thorough else FEW_SECONDS)
            known = await base(subject, seconds, thorough=thorough)
        say(known)
        if known.run.outcomes:
            bases.append(known)

    async def measure_in(mode: str, known: Base, folder_is_free: anyio.Lock) -> None:
        async with folder_is_free if known.subject.folder is not None else nullcontext(), debugged:
            result = await verdict(known, debugger, mode)
        found.append(result)
        keep(result, folder)
        report(result)

    bases: list[Base] = []
    async with anyio.create_task_group() as tasks:
        for subject in subjects(chosen):
            tasks.start_soon(look, subject)
    folders = {known.subject: anyio.Lock() for known in bases}
    async with anyio.create_task_group() as tasks:
        for mode in modes:
            for known in bases:
                tasks.start_soon(measure_in, mode, known, folders[known.subject])
    return found


def say(known: Base) -> None:
    """Print what a plain run has shown."""
    tests = f"{len(known.run.outcomes)} tests, {known.left_out} left out, {known.run.seconds:.1f} s"
    print(f"{known.subject.version} {known.subject.name}: {tests}", *known.remarks, flush=True)


def report(verdict: Verdict) -> None:
    """Print what was found in a mode."""
    counts = f"{len(verdict.changed)} changed, {len(verdict.confirmed)} confirmed"
    cost = f"{verdict.stops} stops, {verdict.seconds} s"
    print(f"{verdict.version} {verdict.subject} {verdict.mode}: {counts} ({cost})")
    if verdict.jumps:
        print(f"    {verdict.jumps} jumps, {sum(verdict.refused.values())} refused")
    for reason, count in sorted(verdict.refused.items()):
        print(f"        {count}: {reason}")
    for name, outcome in verdict.changed.items():
        print(f"    {outcome.outcome}: {name}{'' if name in verdict.confirmed else ' (not when alone)'}")
    if verdict.remarks:
        print(f"    remarks: {verdict.remarks[0][-300:]!r}")
    if verdict.errors:
        print(f"    an error of the debugger: {verdict.errors[-1000:]}")
    sys.stdout.flush()


def keep(verdict: Verdict, folder: Path) -> None:
    """Write all that was found, for the search of the causes."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{verdict.version} {verdict.subject} {verdict.mode}.json"
    file.write_text(json.dumps(dataclasses.asdict(verdict), indent=1), encoding="utf-8")


def kept(folder: Path) -> list[Verdict]:
    """Return all that was found, in this run and before it."""
    files = sorted(folder.glob("*.json"))
    return [from_json_value(Verdict, json.loads(file.read_text(encoding="utf-8"))) for file in files]


def debugger_of(chosen: argparse.Namespace) -> Debugger:
    """Return what is measured."""
    if chosen.debugpy:
        return DEBUGPY
    if chosen.adapter_python is None:
        return OURS
    return dataclasses.replace(OURS, name="other", command=(chosen.adapter_python, *OURS.command[1:]))


def main() -> int:
    """Measure, print the table, and return what the process ends with."""
    chosen = options()
    for number in (signal.SIGINT, signal.SIGQUIT):  # a shell ignores them for what it starts in the background
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    debugger = debugger_of(chosen)
    folder = BUILD / (chosen.label or debugger.name)
    begun = time.monotonic()
    found = anyio.run(partial(measure, chosen, debugger, folder))
    print(f"\n{as_text(found)}\n{time.monotonic() - begun:.0f} s")
    if chosen.write is not None:
        _, corpus = without_corpus(chosen.write.read_text(encoding="utf-8") if chosen.write.exists() else "")
        page = document(kept(folder), day=datetime.now(UTC).date())
        chosen.write.write_text(f"{page}\n{corpus}" if corpus else page, encoding="utf-8")
    failures = unexplained(found, MOST_CHANGES)
    if not found:
        failures.append("nothing was measured")
    for failure in failures:
        print(failure, file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
