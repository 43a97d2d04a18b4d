"""Is time travel right on programs that use other people's packages? `make travel-corpus`, which takes half an hour.

Each program of `tests/e2e/python/travel/packages` runs on each Python, plain, live with time travel, and recorded:

    live       moments are noted on its way, by breakpoints; then the client goes to them in random order, also by a
               step back, and compares the stack, the variables, the values and the output
    recorded   it is executed again to its end, and its output compared with its own; then each moment of a random
               order is compared with the same moment of a run from the beginning
    why        at the end of the recording, the line that gave each variable its value is asked for, and compared with
               the log of a forward run
    cost       the processor time of the recorded run in plain runs, and the size of its file

What differs is a wrong answer. A moment that could not be shown, which is said, is a divergence.

    make travel-corpus ARGS='--version 3.13 numpy flask'    these programs, on this version
    make travel-corpus ARGS='--write'                       and the table in docs/reference/transparency-travel.md
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.to_thread

import bootstrap

sys.path.append(str(bootstrap.ROOT / "tests"))

from dapkit.client import Ended
from dapkit.endpoint import RequestFailed
from dapkit.protocol import DapkitError, OutputEvent, from_json_value
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.forward_run import ForwardRun, timeline
from e2e.python.why_answers import logged, watched, wrong_answers
from transparency.page import CORPUS, without_corpus

HERE = Path(__file__).parent / "travel_corpus"
PROGRAMS = sorted((bootstrap.ROOT / "tests/e2e/python/travel/packages").glob("with_*.py"))
BUILD = bootstrap.ROOT / "build" / "travel-corpus"
PAGE = bootstrap.ROOT / "docs/reference/transparency-travel.md"
MOVES = 20
LIMIT_SECONDS = 600.0
ROUNDS = 3
"""Runs of a program, plain and recorded in turn, whose median is its cost."""


@dataclass
class Result:
    """What was found for a program on a version of Python."""

    program: str
    version: str
    live_moves: int = 0
    recorded_moves: int = 0
    whys: int = 0
    diverged: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    cost: float = 0.0
    size: int = 0


def environment(version: str) -> Path:
    """Return an interpreter that has the packages; the environment is made once for each list of them."""
    wanted = HERE / "requirements.txt"
    folder = BUILD / "packages" / version
    mark = folder / "requirements.txt"
    python = folder / "bin" / "python"
    if not mark.exists() or mark.read_bytes() != wanted.read_bytes():
        interpreter = bootstrap.find_interpreter(version)
        if interpreter is None:
            sys.exit(f"measure_travel: there is no Python {version}")
        uv = str(bootstrap.UV)
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", str(interpreter), str(folder)], check=True)
        install = [uv, "pip", "install", "--quiet", "--only-binary", ":all:", "--python", str(python)]
        subprocess.run([*install, "--requirement", str(wanted)], check=True)
        shutil.copy(wanted, mark)
    return python


async def measured(program: Path, version: str, python: Path, moves: int) -> Result:
    """Measure a program on a version."""
    name = program.stem.removeprefix("with_")
    result = Result(name, version)
    with tempfile.TemporaryDirectory(prefix="dapkit-corpus-") as text:
        folder = Path(text)
        copy = Path(shutil.copy(program, folder))
        try:
            with anyio.fail_after(LIMIT_SECONDS):
                output = await anyio.to_thread.run_sync(_recorded, result, copy, python)
                await _live(result, copy, python, moves, output)
                expected = await anyio.to_thread.run_sync(logged, str(python), copy, watched(copy))
                await _replayed(result, folder / "run.dapkit", moves, output, expected)
        except (DapkitError, TimeoutError, AssertionError) as error:
            result.wrong.append(f"{type(error).__name__}: {error}"[:500])
    return result


def _recorded(result: Result, program: Path, python: Path) -> str:
    """Run a program plain and recorded; return its output."""
    recording = program.parent / "run.dapkit"
    plain = [str(python), program.name]
    record = [sys.executable, "-m", "dapkit.cli", "record", "-q", "-o", str(recording), *plain]
    outputs: set[str] = set()
    costs = []
    for _ in range(ROUNDS):
        seconds = []
        for command in (plain, record):
            output, used = _run(command, program.parent)
            outputs.add(_comparable(output))
            seconds.append(used)
        costs.append(seconds[1] / seconds[0])
    if len(outputs) != 1:
        result.wrong.append(f"the output differs: {sorted(outputs)!r:.400}")
    result.cost = round(sorted(costs)[ROUNDS // 2], 2)
    result.size = recording.stat().st_size
    return outputs.pop()


def _run(command: list[str], folder: Path) -> tuple[str, float]:
    """Return the output of a command, and the seconds of processor time that it took."""
    script = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "sys.stdout.buffer.write(done.stdout)\n"
        "print(used.ru_utime + used.ru_stime, file=sys.stderr)\n"
        "sys.exit(done.returncode)"
    )
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "DAPKIT", "VIRTUAL"))}
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, *command],
        cwd=folder,
        env={**variables, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=True,
    )
    return done.stdout, float(done.stderr.split()[-1])


def _comparable(output: str) -> str:
    """Return an output without addresses, and without what the processor's speed decides."""
    return re.sub(r"0x[0-9a-f]+", "0x", output).strip()


async def _live(result: Result, program: Path, python: Path, moves: int, output: str) -> None:
    chance = random.Random(f"{result.program} {result.version}")  # noqa: S311 - no secret
    async with adapter_client(program.parent) as driver:
        await driver.session.break_on_exceptions()
        launch = {"program": str(program), "python": [str(python)], "timeTravel": True, "stopOnEntry": True}
        await driver.launch(**launch, env={"PYTHONHASHSEED": "0"}, console="internalConsole")
        await driver.session.next_stop()
        run = ForwardRun(driver, [program], chance)
        await run.run(moves)
        if ended := re.findall(r"the history ends .*", _remarks(driver)):
            result.ended += ended
        for _ in range(0 if ended else moves):
            result.live_moves += 1
            try:
                result.wrong += await run.jump()
            except RequestFailed as error:
                result.diverged.append(error.text[:300])
        await _to_its_end(driver)
        if _comparable(_stdout(driver)) != output:
            result.wrong.append(f"live output: {_stdout(driver)!r:.300}, not {output!r:.300}")


async def _to_its_end(driver: AdapterClient) -> None:
    while not isinstance(await driver.session.resume(deadline=LIMIT_SECONDS), Ended):
        pass


def _remarks(driver: AdapterClient) -> str:
    """Return what the adapter has said besides the program's output."""
    return "".join(event.output for event in driver.told(OutputEvent) if event.category in {"console", "important"})


def _stdout(driver: AdapterClient) -> str:
    return "".join(event.output for event in driver.told(OutputEvent) if event.category == "stdout")


async def _replayed(result: Result, recording: Path, moves: int, output: str, changed_by: dict[str, int]) -> None:
    chance = random.Random(f"recorded {result.program} {result.version}")  # noqa: S311 - no secret
    async with adapter_client(recording.parent) as driver:
        await driver.session.break_on_exceptions()
        await driver.session.launch({"replay": str(recording), "cwd": str(recording.parent)})
        await driver.session.next_stop()  # at the end
        remarks = _remarks(driver)
        if diverged := re.findall(r"diverged: .*", remarks):
            result.diverged += diverged[:1]
        elif "has ended with exit code" not in remarks:
            result.ended.append(remarks.strip()[:300])
        elif _comparable(_stdout(driver)) != output:
            result.wrong.append(f"output of the replay: {_stdout(driver)!r:.300}, not {output!r:.300}")
        if not result.ended and not result.diverged:
            result.whys = len(changed_by)
            program = recording.parent / f"with_{result.program}.py"
            for name, (line, answer) in (await wrong_answers(driver, program, changed_by)).items():
                result.wrong.append(f"why {name}: {answer}, not line {line}"[:300])
        about = await timeline(driver)
        run = ForwardRun(driver, [], chance)
        for _ in range(moves):
            result.recorded_moves += 1
            clock = chance.randint(about.beginning, about.live)
            try:
                was = await run.travel(clock, from_beginning=True)
                result.wrong += was.differences(await run.travel(clock))
            except RequestFailed as error:
                result.diverged.append(error.text[:300])


def _findings(rows: list[Result]) -> list[list[list[str]]]:
    return [[row.diverged for row in rows], [row.wrong for row in rows], [row.ended for row in rows]]


_INTRODUCTION = """Measured on {day} by `make travel-corpus`: {count} programs, each with another package, on the
Pythons of the table. A client goes to 20 moments that were seen as the program ran, and to 20 of its recording.
*Diverged* moments could not be shown, which was said; *wrong* ones were not as they had been; where the history
*ends*, the reason is said: a library has begun a thread of its own. *Origins* are the lines that `why` names at the end
of the recording for the variables of the program, each compared with the program's own log. The cost is the processor
time of a recorded run in plain ones, the median of three and the highest of the versions; the size is the largest of
the recordings."""


def table(results: list[Result]) -> str:
    """Write the results as a section of the page: a row for each program, all versions together."""
    lines = [
        CORPUS,
        "",
        "## Programs with packages",
        "",
        _INTRODUCTION.format(day=datetime.now(UTC).date(), count=len(PROGRAMS)),
        "",
        "| program | Pythons | live moves | recorded moves | origins | diverged | wrong | ends | cost | size |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in sorted({result.program for result in results}):
        rows = [result for result in results if result.program == name]
        numbers = [(row.live_moves, row.recorded_moves, row.whys) for row in rows]
        moves = " | ".join(str(sum(column)) for column in zip(*numbers, strict=True))
        errors = " | ".join(str(sum(map(len, each))) for each in _findings(rows))
        cost = f"{max(row.cost for row in rows):.2f} | {max(row.size for row in rows) // 1000} kB"
        lines.append(f"| {name} | {', '.join(row.version for row in rows)} | {moves} | {errors} | {cost} |")
    return "\n".join(lines)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names such as flask; all by default")
    parser.add_argument("--version", action="append", choices=bootstrap.VERSIONS, help="only on this version of Python")
    parser.add_argument("--moves", type=int, default=MOVES, help=f"of each kind, by default {MOVES}")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="programs at a time")
    parser.add_argument("--write", action="store_true", help="write the table from all results, also of earlier runs")
    return parser.parse_args()


async def main() -> int:
    """Measure, print each result, and return what the process ends with."""
    chosen = options()
    results: list[Result] = []
    limit = anyio.Semaphore(chosen.jobs)
    pythons = {version: environment(version) for version in chosen.version or bootstrap.VERSIONS}
    programs = [path for path in PROGRAMS if not chosen.program or path.stem.removeprefix("with_") in chosen.program]

    async def one(program: Path, version: str) -> None:
        async with limit:
            begun = time.monotonic()
            result = await measured(program, version, pythons[version], chosen.moves)
        results.append(result)
        file = BUILD / f"{version} {result.program}.json"
        file.write_text(json.dumps(asdict(result), indent=1), encoding="utf-8")
        counts = f"{result.whys} origins, {len(result.diverged)} diverged, {len(result.wrong)} wrong"
        cost = f"recording costs {result.cost}, {result.size // 1000} kB"
        print(f"{version} {result.program}: {counts}, {cost} ({time.monotonic() - begun:.0f} s)", flush=True)
        for text in [*result.diverged, *result.wrong, *result.ended]:
            print(f"    {text}", flush=True)

    async with anyio.create_task_group() as tasks:
        for program in programs:
            for version in pythons:
                tasks.start_soon(one, program, version)
    if chosen.write:
        kept = [from_json_value(Result, json.loads(file.read_text("utf-8"))) for file in sorted(BUILD.glob("*.json"))]
        page, _ = without_corpus(PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(f"{page.rstrip()}\n\n{table(kept)}\n", encoding="utf-8")
    return int(not results or any(result.diverged or result.wrong for result in results))


if __name__ == "__main__":
    sys.exit(anyio.run(main))
