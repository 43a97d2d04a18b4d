"""What becomes of tests: what programs wrote down of it, and what of it differs from a plain run.

begun      the program has begun the test, and not ended it
outcome    passed, failed, error, skipped, xfailed or xpassed
changed    another outcome than plain, or none
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

GOOD = frozenset({"passed", "skipped", "xfailed"})
"""Outcomes of tests that can show a change."""

EXIT_CODE = "(exit code)"
"""What stands for a test where the tests are the same, and the exit code of the program is not."""


@dataclass(frozen=True)
class Outcome:
    """What became of one test."""

    outcome: str
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Run:
    """What became of one run of a program.

    Attributes:
        outcomes: by the names of tests.
        hung: whether it had to be ended.
        begun: the test that was begun last, if it did not end.
        done: whether the program came to its end by itself, after its last test.
        exit_code: None where nobody knows it.
        stops: how often the debugger stopped it.
        jumps: how many requests asked for another moment of it.
        refused: how many of those failed, by the reason.
        refusals: what some of them said.
        remarks: what else is worth knowing: stacks where it hung, what it printed where it ended.
        errors: what the debugger logged as an error of its own.

    """

    outcomes: Mapping[str, Outcome]
    hung: bool = False
    begun: str | None = None
    done: bool = True
    exit_code: int | None = 0
    seconds: float = 0.0
    stops: int = 0
    jumps: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    refusals: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    errors: str = ""


@dataclass
class Records:
    """What a program wrote down."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    begun: str | None = None
    done: bool = False


def read_records(file: Path) -> Records:
    """Read what a program wrote down; it may have ended in the middle of a line, or before the first."""
    records = Records()
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        match record:
            case {"begun": str(name)}:
                records.begun = name
            case {"test": str(name), "outcome": str(outcome), "text": str(text), "seconds": seconds}:
                before = records.outcomes.get(name)
                if before is None or before.outcome in GOOD:  # the worst, where a test runs repeatedly
                    records.outcomes[name] = Outcome(outcome, text, seconds)
                records.begun = None if records.begun == name else records.begun
            case {"done": True}:
                records.done = True
    return records


def fastest(run: Run, seconds: float) -> list[str]:
    """Return the tests of a run that can show a change, the fastest ones, which take so many seconds together."""
    chosen, total = [], 0.0
    for name, outcome in sorted(run.outcomes.items(), key=lambda item: item[1].seconds):
        total += outcome.seconds
        if outcome.outcome in GOOD and total <= seconds:
            chosen.append(name)
    return chosen


def steady(runs: Iterable[Run]) -> Run:
    """Return the last of several plain runs, without the tests that differed between them."""
    *earlier, last = runs
    same = {
        name: outcome
        for name, outcome in last.outcomes.items()
        if outcome.outcome in GOOD
        and all(name in run.outcomes and run.outcomes[name].outcome == outcome.outcome for run in earlier)
    }
    codes = {run.exit_code for run in (*earlier, last)}
    return Run(same, exit_code=last.exit_code if len(codes) == 1 else None, seconds=last.seconds)


def changes(plain: Run, run: Run) -> dict[str, Outcome]:
    """Return what is different from a plain run, by the names of tests."""
    found = {
        name: run.outcomes.get(name, Outcome("no outcome"))
        for name, outcome in plain.outcomes.items()
        if name not in run.outcomes or run.outcomes[name].outcome != outcome.outcome
    }
    found |= {  # what stands around tests
        name: outcome
        for name, outcome in run.outcomes.items()
        if name not in plain.outcomes and outcome.outcome not in GOOD
    }
    if not found and run.done and None not in {plain.exit_code, run.exit_code} and plain.exit_code != run.exit_code:
        found[EXIT_CODE] = Outcome(str(run.exit_code), f"{plain.exit_code} without a debugger")
    return found
