"""What the debugger's engine costs the debugged program: `python benchmarks/engine.py [PYTHON...]`.

Each ratio is the median time of a workload under the engine over the median without a debugger,
runs interleaved; the time is that of the processor, so that a busy machine disturbs it less.
Without arguments it measures the interpreters 3.12 and 3.13 at hand.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from e2e.debuggee.peer import Message, Peer, interpreters

ROUNDS = 5

WORKLOADS = """\
import json, sys, time
def never():
    return 1  # ELSEWHERE
def fib(n):
    if n < 2:
        return n
    if n < 0:
        n = 0  # HOT fib
    return fib(n - 1) + fib(n - 2)
def loops(n=700):
    t = 0
    for i in range(n):
        for j in range(n):
            t += i ^ j
            if t < 0:
                t = 0  # HOT loops
    return t
def nbody(steps=40000):
    x, y, z, vx, vy, vz = 1.0, 0.5, 0.2, 0.1, 0.2, 0.3
    for _ in range(steps):
        d = (x * x + y * y + z * z + 1e-9) ** -1.5
        if d < 0:
            d = 0.0  # HOT nbody
        vx -= x * d * 0.01
        vy -= y * d * 0.01
        vz -= z * d * 0.01
        x += vx * 0.01
        y += vy * 0.01
        z += vz * 0.01
    return x
def jsons(n=60):
    o = {f"k{i}": [i, i * 2.5, str(i), {"a": None}] for i in range(200)}
    t = 0
    for _ in range(n):
        s = json.dumps(o)
        t += len(s)
        if t < 0:
            t = 0  # HOT json
        json.loads(s)
    return t
def words(n=60000):
    d = {}
    for i in range(n):
        w = "w" + str(i % 997)
        d[w] = d.get(w, 0) + 1
        u = w.upper().replace("W", "v").strip()
        if u is None:
            u = ""  # HOT words
        d[u] = len(u)
    return len(d)
def calls(n=300000):
    def f(a, b=2):
        return a + b
    t = 0
    for i in range(n):
        t = f(i)
        if t < 0:
            t = 0  # HOT calls
    return t
def mega(n=1000000):
    t = 0
    for i in range(n):
        t = t + i  # MEGA
    return t
def messages(n=10000):
    t = 0
    for i in range(n):
        t = t + i  # LOG
    return t
def raises(n=100000):
    t = 0
    for i in range(n):
        try:
            raise ValueError(i)
        except ValueError:
            t += 1
    return t
WORK = {"fib": lambda: fib(24), "loops": loops, "nbody": nbody, "json": jsons, "words": words, "calls": calls,
        "mega": mega, "messages": messages, "raises": raises}
clock = time.perf_counter if sys.argv[1] == "messages" else time.thread_time
start = clock()
WORK[sys.argv[1]]()
print(clock() - start)
"""

STEPS = """\
import time
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
def main():
    a = 0
    while True:
        a += 1
        b = a
        c = fib(22)
fib(22)
start = time.perf_counter()
fib(22)
took = time.perf_counter() - start
main()
"""


def line_of(mark: str, text: str = WORKLOADS) -> int:
    """Return the line that a comment marks."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith(mark))


def plain(python: str, folder: Path, name: str) -> float:
    """Run a workload without a debugger."""
    done = subprocess.run([python, "prog.py", name], cwd=folder, capture_output=True, text=True, check=True)
    return float(done.stdout)


def debugged(python: str, folder: Path, name: str, breakpoints: list[Message], filters: list[str]) -> float:
    """Run a workload under the engine."""
    with Peer(python, folder, "--program", "prog.py", "--", name) as peer:
        peer.configure(breakpoints=breakpoints, filters=filters)
        _, output, errors = peer.finish()
        if not output:
            raise RuntimeError(errors)
        return float(output)


def ratio(python: str, folder: Path, name: str, breakpoints: list[Message], filters: list[str]) -> tuple[float, float]:
    """Return the ratio of medians, and the median of the debugged runs."""
    with_us, without = [], []
    for _ in range(ROUNDS):
        without.append(plain(python, folder, name))
        with_us.append(debugged(python, folder, name, breakpoints, filters))
    middle = statistics.median(with_us)
    return middle / statistics.median(without), middle


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def stepping(python: str, folder: Path) -> dict[str, str]:
    """Measure steps and refreshes."""
    (folder / "prog.py").write_text(STEPS)
    with Peer(python, folder, "--program", "prog.py") as peer:
        peer.configure(lines=[line_of("b = a", STEPS)])
        peer.stopped("breakpoint")
        peer.ask("setBreakpoints", source={"path": str(folder / "prog.py")}, breakpoints=[])
        took = float(peer.ask("evaluate", expression="took")["result"])
        rounds: dict[str, list[float]] = {"next": [], "fib": [], "refresh": []}

        def refresh() -> None:
            peer.step()
            peer.locals()

        for _ in range(60):
            rounds["next"].append(timed(lambda: (peer.ask("next", threadId=1), peer.stopped())))
            rounds["fib"].append(timed(lambda: (peer.ask("next", threadId=1), peer.stopped())))
            rounds["next"].append(timed(lambda: (peer.ask("next", threadId=1), peer.stopped())))
            rounds["refresh"].append(timed(refresh))
        middle = {name: statistics.median(values) for name, values in rounds.items()}
    return {
        "next over fib(22), ratio": f"{(middle['fib'] - middle['next']) / took:.2f}",
        "next, round trip": f"{middle['next'] * 1e3:.2f} ms",
        "next, stackTrace, scopes, variables": f"{middle['refresh'] * 1e3:.2f} ms",
    }


def starting(python: str, folder: Path) -> dict[str, str]:
    """Measure the start, and what the engine adds to the process."""
    (folder / "prog.py").write_text("x = 1\ny = open('/proc/self/status').read()\nprint(y)\n")
    first, bare, rss = [], [], []
    for _ in range(2 * ROUNDS):
        start = time.perf_counter()
        with Peer(python, folder, "--program", "prog.py") as peer:
            peer.configure(lines=[3])
            peer.stopped("breakpoint")
            first.append(time.perf_counter() - start)
            rss.append(memory(peer.value("y", context="clipboard").replace("\\n", "\n").replace("\\t", " ")))
        start = time.perf_counter()
        done = subprocess.run([python, "prog.py"], cwd=folder, capture_output=True, text=True, check=True)
        bare.append((time.perf_counter() - start, memory(done.stdout)))
    return {
        "start to first stop": f"{statistics.median(first) * 1e3:.0f} ms",
        "the program alone, start to end": f"{statistics.median(run for run, _ in bare) * 1e3:.0f} ms",
        "memory added": f"{(statistics.median(rss) - statistics.median(size for _, size in bare)) / 1024:.1f} MB",
    }


def memory(status: str) -> int:
    """Return the kilobytes of resident memory in /proc/PID/status."""
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def measure(python: str) -> dict[str, str]:
    """Measure everything in one interpreter."""
    figures: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "prog.py").write_text(WORKLOADS)
        elsewhere = [{"line": line_of("# ELSEWHERE")}]
        for work in ("fib", "loops", "nbody", "json", "words", "calls"):
            figures[f"no breakpoint: {work}"] = f"{ratio(python, folder, work, [], [])[0]:.2f}"
            figures[f"breakpoint elsewhere: {work}"] = f"{ratio(python, folder, work, elsewhere, [])[0]:.2f}"
            hot = [{"line": line_of(f"# HOT {work}")}]
            figures[f"unreached line of hot function: {work}"] = f"{ratio(python, folder, work, hot, [])[0]:.2f}"
        mega = line_of("# MEGA")
        for title, more in (
            ("condition i == -1, 1M times", {"condition": "i == -1"}),
            ("condition with a call, 1M times", {"condition": "abs(i) == -1"}),
            ("hit condition == 2000000, 1M times", {"hitCondition": "== 2000000"}),
        ):
            figures[title] = f"{ratio(python, folder, 'mega', [{'line': mega, **more}], [])[0]:.2f}"
        two = [{"line": mega, "condition": "i == -1"}, *elsewhere]
        figures["the same with a second breakpoint"] = f"{ratio(python, folder, 'mega', two, [])[0]:.2f}"
        log = [{"line": line_of("# LOG"), "logMessage": "i={i} t={t}"}]
        figures["log message, each delivered"] = f"{ratio(python, folder, 'messages', log, [])[1] * 100:.1f} us"
        figures["exceptions caught, filter uncaught"] = f"{ratio(python, folder, 'raises', [], ['uncaught'])[0]:.2f}"
        figures.update(stepping(python, folder))
        figures.update(starting(python, folder))
    return figures


def main() -> None:
    """Print a table, one column for each interpreter."""
    pythons = sys.argv[1:] or interpreters()
    titles = [
        subprocess.run([one, "-V"], capture_output=True, text=True, check=True).stdout.split()[1] for one in pythons
    ]
    columns = [measure(one) for one in pythons]
    print(f"{'':42}" + "".join(f"{title:>10}" for title in titles))
    for row in columns[0]:
        print(f"{row:42}" + "".join(f"{column[row]:>10}" for column in columns))


if __name__ == "__main__":
    main()
