"""What it costs to record six small programs with dapkit, and with retracesoftware beside it, on Python 3.12.

Each program runs alone and by both recorders in turn; a figure is the median of the rounds, in processor time of all
processes of the command. The libraries and retracesoftware are installed into an environment of their own, once.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from recordings import ENVIRONMENT, executed_again, processor_time
from sidebyside.goals import row

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted(Path(__file__).with_name("programs").glob("recorded/with_*.py"))
FOLDER = ROOT / "build" / "beside_retrace"
PYTHON = FOLDER / "bin" / "python"
PACKAGES = (
    "retracesoftware==0.2.30",
    "aiohttp==3.14.5",
    "fastapi==0.165.0",
    "flask==3.1.3",
    "httpx==0.28.1",
    "networkx==3.7",
    "sqlalchemy==2.1.9",
    "sqlglot==30.30.0",
)
ROUNDS = 5
MOST_BYTES = 250_000


def install() -> None:
    """Make the environment, unless it is there."""
    if PYTHON.exists():
        return
    sys.path.append(str(ROOT / "tools"))
    import bootstrap

    interpreter = bootstrap.find_interpreter("3.12")
    if interpreter is None:
        sys.exit("retracesoftware needs Python 3.12, and there is none")
    uv = str(ROOT / ".tools" / "bin" / "uv")
    subprocess.run([uv, "venv", "--quiet", "--python", str(interpreter), str(FOLDER)], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", str(PYTHON), *PACKAGES], check=True)


def compared(program: Path, folder: Path) -> bool:
    """Run a program alone and recorded by both, in turn."""
    name = program.stem.removeprefix("with_")
    ours, theirs = folder / f"{name}.dapkit", folder / f"{name}.retrace"
    commands = {
        "alone": [str(PYTHON), str(program)],
        "retrace": [str(FOLDER / "bin" / "retracepython"), "--recording", str(theirs), str(program)],
        "dapkit": [sys.executable, "-m", "dapkit.cli", "record", "-q", "-o", str(ours), str(PYTHON), str(program)],
    }
    times: dict[str, list[float]] = {recorder: [] for recorder in commands}
    run(commands["alone"])  # leaves bytecode behind
    for _ in range(ROUNDS):
        theirs.unlink(missing_ok=True)
        for recorder, words in commands.items():
            times[recorder].append(processor_time(run, words))
    alone, retrace, dapkit = (statistics.median(seconds) for seconds in times.values())
    row(f"{name}: processor time alone", alone, "s")
    row("  recorded by retracesoftware", retrace, "s")
    met = row("  recorded by dapkit", dapkit, "s", retrace)
    row("  recording of retracesoftware", theirs.stat().st_size / 1000, "kB")
    met &= row("  recording of dapkit", ours.stat().st_size / 1000, "kB", MOST_BYTES / 1000)
    return met & executed_again(ours)


def run(words: list[str]) -> None:
    """Run a command."""
    subprocess.run(words, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = {program.stem.removeprefix("with_"): program for program in PROGRAMS}
    parser.add_argument("--case", action="append", choices=list(names), help="only this")
    chosen, _ = parser.parse_known_args()
    install()
    with tempfile.TemporaryDirectory() as folder:
        met = [compared(names[name], Path(folder)) for name in chosen.case or names]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
