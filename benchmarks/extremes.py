"""Very many, very long and very deep: what each costs, and whether memory stays as it is.

By the real adapter, over a client that does nothing but write and read, so that its own time hardly counts. Figures
are those of the clock. `--stops 1000000` takes a session through as many stops as a day of work has, and longer.
"""

import argparse
import time
from collections.abc import Callable

from sidebyside.bare_client import BareClient, session, show

STOPS = 20_000
MANY = 100_000
THREADS = 2_000


def timed(what: str, call: Callable[[], object]) -> None:
    """Print how long a call takes."""
    begin = time.perf_counter()
    call()
    show(what, (time.perf_counter() - begin) * 1000)


LONG = "".join(
    f"def f{number}(a, b=1):\n    x = a + b\n    y = [q * 2 for q in range(3)]\n    if x > 3 and y:\n"
    "        x = len(str(x)); z = 4\n    for k in range(2):\n        x += max(k, min(x, 5))\n    return dict(a=x,\n"
    "                b=y)\n\n"
    for number in range(MANY // 10)
)


def breakpoints() -> None:
    """Set very many breakpoints, and look meanwhile."""
    with session() as client:
        client.launch("x = 1\n" * MANY, 1)
        for title, more in {
            "plain": {},
            "with a condition each": {"condition": "x == 2"},
            "with a log message each": {"logMessage": "x is {x}"},
        }.items():
            wanted = [{"line": line, **more} for line in range(1, MANY + 1)]
            begin = time.perf_counter()
            many = client.send("setBreakpoints", source=client.file_source, breakpoints=wanted)
            client.answer(client.send("threads"))
            show(f"threads, asked after 100,000 breakpoints {title}", (time.perf_counter() - begin) * 1000)
            client.answer(many)
            show(f"100,000 breakpoints in one request, {title}", (time.perf_counter() - begin) * 1000)


FUNCTIONS = 2_000
CALLED = (
    "".join(f"def f{number}():\n    return {number}\n" for number in range(FUNCTIONS))
    + "import asyncio, http.client\n"
    + "".join(f"f{number}()\n" for number in range(FUNCTIONS))
    + "x = 1\n"
)


def functions() -> None:
    """Set very many function breakpoints in a program that is about to define them."""
    with session() as client:
        client.launch("x = 0\n" + CALLED, 1)
        client.set_breakpoints(len(CALLED.splitlines()) + 1)
        wanted = [{"name": f"f{number}", "condition": "False"} for number in range(FUNCTIONS)]
        timed("2,000 function breakpoints", lambda: client.ask("setFunctionBreakpoints", breakpoints=wanted))
        timed("the functions are defined and called, and modules of 4,000 more", lambda: client.step("continue"))


def module() -> None:
    """Look at a module of 100,000 lines."""
    with session() as client:
        client.launch(LONG + "n = 1\n" * 20, MANY + 1)
        source = client.file_source
        columns = [{"line": 10 * number + 7, "column": 14} for number in range(0, MANY // 10, 10)]
        timed(
            "a module of 100,000 lines: 1,000 breakpoints with columns",
            lambda: client.ask("setBreakpoints", source=source, breakpoints=columns),
        )
        timed("breakpointLocations of one line", lambda: client.ask("breakpointLocations", source=source, line=77))
        timed(
            "breakpointLocations of all lines",
            lambda: client.ask("breakpointLocations", source=source, line=1, endLine=MANY),
        )
        timed("gotoTargets", lambda: client.ask("gotoTargets", source=source, line=MANY + 5))
        timed("next", client.step)
        show("memory of the program", client.memory()[1], "MB")


def deep() -> None:
    """Stop on a deep stack."""
    text = (
        f"import sys\nsys.setrecursionlimit({MANY + 1_000})\ndef down(left):\n    if left == 0:\n        a = 1\n"
        f"{'        a = 2\n' * 200}        return a\n    return down(left - 1)\ndown({MANY})\n"
    )
    with session() as client:
        client.launch(text, 5)
        stack = {"threadId": 1, "levels": 20}
        timed("a stack of 100,000 calls: 20 frames, the first time", lambda: client.ask("stackTrace", **stack))
        for _ in range(10):
            client.step()
        timed("next", client.step)
        timed("20 frames at the next stop", lambda: client.ask("stackTrace", **stack))
        timed("20 frames at the bottom", lambda: client.ask("stackTrace", **stack, startFrame=MANY - 20))


def threads() -> None:
    """Stop very many threads, and some that spin."""
    text = (
        "import threading\nthreading.stack_size(1 << 18)\ngo = threading.Event()\n"
        f"for _ in range({THREADS}):\n    threading.Thread(target=go.wait).start()\nx = 1\nx = 2\nx = 3\ngo.set()\n"
    )
    with session() as client:
        client.launch(text, 6)
        timed("2,000 threads: threads", lambda: client.ask("threads"))
        timed("stackTrace of one", lambda: client.ask("stackTrace", threadId=1_000, levels=20))
        timed("next", client.step)
    spin = "import threading\ndef spin():\n    while True:\n        pass\n"
    with session() as client:
        client.launch(spin + "for _ in range(7):\n    threading.Thread(target=spin, daemon=True).start()\nspin()\n")
        took: list[float] = []
        for _ in range(30):
            time.sleep(0.1)  # for threads to spin
            begin = time.perf_counter()
            client.send("pause", threadId=1)
            client.event("stopped")
            took.append((time.perf_counter() - begin) * 1000)
            client.ask("continue", threadId=1)
        took.sort()
        show("8 threads that spin: pause until stopped, median of 30", took[15])
        show("the slowest but one", took[-2])


STEPPED = """
class Box:
    def __init__(self, n):
        self.n = n
def work(n):
    box = Box(n)
    rows = [box, str(n) * 3, {"n": n}]
    return len(rows)
n = 0
while True:
    n += 1
    work(n)
"""


def stops(count: int) -> None:
    """Go through very many stops, and look at each twentieth."""
    with session() as client:
        client.launch(STEPPED, 10)
        client.set_breakpoints()
        begin = time.perf_counter()
        for number in range(count):
            client.step("stepIn" if number % 3 == 0 else "next")
            if number % 20 == 0:
                look(client)
            if number in (1_000, *(count * tenth // 10 - 1 for tenth in range(1, 11))):
                adapter, program = client.memory()
                show(f"memory after {number + 1:,} stops: the adapter", adapter, "MB")
                show(f"memory after {number + 1:,} stops: the program", program, "MB")
        show("stops a second, looked at each twentieth", count / (time.perf_counter() - begin), "")


def look(client: BareClient) -> None:
    """Do what an editor does at a stop, and evaluate something."""
    [frame, *_] = client.ask("stackTrace", threadId=1, levels=20)["stackFrames"]
    [scope, *_] = client.ask("scopes", frameId=frame["id"])["scopes"]
    for variable in client.ask("variables", variablesReference=scope["variablesReference"])["variables"]:
        if variable["variablesReference"]:
            client.ask("variables", variablesReference=variable["variablesReference"])
    client.ask("evaluate", expression="[n] * 5", frameId=frame["id"], context="repl")
    client.ask("threads")


LOGGED = "n = 0\nwhile n < {count}:\n    n += 1\nprint('end')\n"


def messages(count: int) -> None:
    """Log very many messages to a client that reads slowly."""
    with session() as client:
        client.launch(LOGGED.format(count=count), 1)
        wanted = [{"line": 3, "logMessage": "n is {n}"}]
        client.ask("setBreakpoints", source=client.file_source, breakpoints=wanted)
        client.send("continue", threadId=1)
        time.sleep(5)  # reads nothing meanwhile
        adapter, program = client.memory()
        show("memory while a client reads nothing of a flood of log messages: the adapter", adapter, "MB")
        show("the same: the program", program, "MB")
        begin = time.perf_counter()
        client.until(lambda message: message.get("event") == "output" and "end" in message["body"]["output"])
        show(f"log messages, {count:,} of them, each", (time.perf_counter() - begin) * 1e6 / count, "us")
        adapter, program = client.memory()
        show("memory after them: the adapter", adapter, "MB")
        client.event("terminated")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stops", type=int, default=STOPS, metavar="N", help="how many stops (default: %(default)s)")
    cases: dict[str, Callable[[int], None]] = {
        "breakpoints": lambda _: breakpoints(),
        "functions": lambda _: functions(),
        "module": lambda _: module(),
        "deep": lambda _: deep(),
        "threads": lambda _: threads(),
        "messages": lambda count: messages(max(count, 100_000)),
        "stops": stops,
    }
    parser.add_argument("--case", action="append", choices=list(cases), help="only this")
    chosen, _ = parser.parse_known_args()
    for name in chosen.case or cases:
        cases[name](chosen.stops)


if __name__ == "__main__":
    main()
