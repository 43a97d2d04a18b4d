"""Our debugger and debugpy side by side: `make bench`, or `python benchmarks/debuggers.py --help`.

Every figure comes from the same run and the same interpreter, by our own client for
both; repetitions of the two and of the program alone alternate, so that a busy
machine disturbs all of them alike. A figure that is over its
goal is reported, and makes no run fail: this measures, tests decide. Four interpreters
take some twenty minutes on a quiet machine, `--quick` a third of that.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio

from sidebyside import caught, crowd, footprint, slowdown, waiting
from sidebyside.contest import ENVIRONMENT, Contest
from sidebyside.report import document, other_parts
from sidebyside.table import Row, as_text

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.12", "3.13", "3.14", "3.15")
JIT = "+jit"
"""Behind a version: its programs run with the interpreter's just-in-time compiler on."""
FREE_THREADED = ("3.13t", "3.14t", "3.15t")
"""Versions for programs alone: the debugger runs on our own interpreter, and debugpy is left out."""
FREE_THREADED_CASES = ("threads", "elsewhere", "conditions", "exceptions")
CHOICES = (*VERSIONS, f"3.15{JIT}", *FREE_THREADED)
ROUNDS = 5

type Case = Callable[[Contest], Awaitable[list[Row]]]

CASES: dict[str, Case] = {
    "free": slowdown.free,
    "elsewhere": slowdown.elsewhere,
    "threads": slowdown.threads,
    "hot": slowdown.hot,
    "conditions": slowdown.conditions,
    "messages": waiting.messages,
    "exceptions": slowdown.exceptions,
    "caught": caught.caught,
    "suites": caught.suites,
    "data": slowdown.data,
    "steps": waiting.steps,
    "pauses": waiting.pauses,
    "start": waiting.start,
    "pages": waiting.pages,
    "crowd": crowd.crowd,
    "footprint": footprint.footprint,
}


def python_of(version: str) -> str:
    """Return an interpreter with both debuggers: ours, or that of the environment `.venv-VERSION`.

    A free-threaded one has none of them, and is where tools/free_threaded.sh puts it.
    """
    if version in FREE_THREADED:
        return str(ROOT / ".tools" / "python" / version / "bin" / f"python{version}")
    if sys.version.startswith(f"{version}."):
        return sys.executable
    environment = f".venv-{version}"
    python = ROOT / environment / "bin" / "python"
    if not python.exists():
        command = ["tools/bootstrap.sh", "--python", version, "--environment", environment]
        subprocess.run(command, cwd=ROOT, check=True)
    return str(python)


async def measure(contest: Contest, names: Sequence[str]) -> list[Row]:
    """Measure cases on one interpreter, telling on stderr how far it is."""
    rows: list[Row] = []
    for name in names:
        begun = time.monotonic()
        rows += await CASES[name](contest)
        print(f"  {name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    return rows


def full_version(python: str) -> str:
    """Return the version of an interpreter with all its digits, and a t if it is free-threaded."""
    code = "import platform, sys; print(platform.python_version() + sys.abiflags)"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def contest_on(version: str, rounds: int) -> tuple[Contest, str]:
    """Return the debuggers on one of CHOICES, and what that is called in a table."""
    plain = version.removesuffix(JIT)
    python = python_of(plain)
    title = full_version(python)
    if version in FREE_THREADED:
        return Contest(sys.executable, rounds, program_python=python), title
    if plain == version:
        return Contest(python, rounds), title
    environment = {"PYTHON_JIT": "1"}
    code = "import sys; sys.exit(not sys._jit.is_enabled())"
    if subprocess.run([python, "-c", code], env=ENVIRONMENT | environment, check=False).returncode:
        raise SystemExit(f"Python {title} was built without a just-in-time compiler")
    return Contest(python, rounds, tuple(environment.items())), f"{title}, with the JIT"


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--python", action="append", metavar="VERSION", choices=CHOICES, help=f"only this of {', '.join(CHOICES)}"
    )
    parser.add_argument("--case", action="append", metavar="NAME", choices=list(CASES), help=f"of {', '.join(CASES)}")
    rounds = parser.add_mutually_exclusive_group()
    rounds.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help="repetitions (default: %(default)s)")
    rounds.add_argument(
        "--quick", action="store_const", dest="rounds", const=1, help="no repetitions: for a first look"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a page of the documentation, too")
    return parser.parse_args()


def keep(tables: dict[str, list[Row]], chosen: argparse.Namespace) -> None:
    """Write what was measured so far to the files that were asked for."""
    if chosen.json is not None:
        content = {version: [asdict(row) | {"met": row.met} for row in rows] for version, rows in tables.items()}
        chosen.json.write_text(json.dumps(content, indent=1) + "\n")
    if chosen.write is not None:
        page = document(tables, day=datetime.now(UTC).date(), rounds=chosen.rounds)
        chosen.write.write_text(page + other_parts(chosen.write))


def main() -> None:
    """Measure and print, one table for each interpreter."""
    chosen = options()
    tables: dict[str, list[Row]] = {}
    for version in chosen.python or VERSIONS:
        contest, title = contest_on(version, chosen.rounds)
        print(f"measuring on Python {title}", file=sys.stderr, flush=True)
        cases = FREE_THREADED_CASES if version in FREE_THREADED else tuple(CASES)
        tables[title] = anyio.run(partial(measure, contest, chosen.case or cases))
        print(f"Python {title}, {platform.machine()}\n{as_text(tables[title])}\n", flush=True)
        keep(tables, chosen)  # after each interpreter: a run takes long, and may be cut short


if __name__ == "__main__":
    main()
