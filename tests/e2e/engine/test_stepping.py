"""Steps: over, into and out of calls, generators, coroutines, exceptions and ends."""

import pytest

from e2e.engine.conftest import Start

pytestmark = [pytest.mark.row("next, stepIn, stepOut"), pytest.mark.each_python]

CALLS = """
    def inner(n):
        a = n + 1
        return a
    def outer(n):
        b = inner(n) + inner(n)
        return b
    def main():
        x = outer(1)
        y = outer(2)
        return x + y
    print(main())
"""


def test_next_goes_over_calls_and_ends_in_the_caller(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[5])
    peer.stopped("breakpoint")
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    places = [peer.step() for _ in range(5)]
    assert places == [("outer", 6), ("main", 8), ("main", 9), ("main", 10), ("<module>", 11)]
    peer.ask("next", threadId=1)
    assert peer.finish() == (0, "10\n", "")


def test_step_in_and_out(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[8])
    peer.stopped("breakpoint")
    assert peer.step("stepIn") == ("outer", 5)
    assert peer.step("stepIn") == ("inner", 2)
    assert peer.step("stepOut") == ("outer", 5)
    assert peer.step("stepIn") == ("inner", 2)  # the second call of the line
    assert peer.step("stepOut") == ("outer", 5)
    assert peer.step("stepOut") == ("main", 8)
    assert [(name, row["value"]) for name, row in peer.locals().items()] == [("(return) outer", "4")]
    assert peer.step() == ("main", 9)


def test_stop_on_entry_is_at_the_first_line(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(stopOnEntry=True)
    peer.stopped("entry")
    assert peer.at() == ("<module>", 1)
    assert peer.step() == ("<module>", 4)


def test_breakpoint_within_a_call_that_is_stepped_over_stops_there(start: Start) -> None:
    peer = start(CALLS)
    peer.configure(lines=[8, 3])
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1)
    peer.stopped("breakpoint")
    assert peer.at() == ("inner", 3)


def test_recursion_is_stepped_frame_by_frame(start: Start) -> None:
    peer = start(
        """
        def fact(n):
            if n < 2:
                return 1
            m = fact(n - 1)
            return n * m
        print(fact(4))
        """
    )
    peer.configure(breakpoints=[{"line": 4, "condition": "n == 3"}])
    peer.stopped("breakpoint")
    assert peer.step() == ("fact", 5)
    assert peer.value("n") == "3"
    assert peer.step() == ("fact", 4)
    assert peer.value("n") == "4"
    assert peer.step() == ("fact", 5)
    assert peer.value("m") == "6"


def test_step_over_the_last_line_of_the_module_ends_the_program(start: Start) -> None:
    peer = start("x = 1\nprint(x)\n")
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1)
    assert peer.finish() == (0, "1\n", "")


def test_next_over_a_yield_goes_to_the_consumer(start: Start) -> None:
    peer = start(
        """
        def numbers():
            yield 1
            yield 2
        total = 0
        for n in numbers():
            total += n
        print(total)
        """
    )
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    assert peer.step() == ("<module>", 5)
    assert peer.step() == ("<module>", 6)
    assert peer.step() == ("<module>", 5)
    assert peer.step("stepIn") == ("numbers", 3)
    assert peer.step("stepOut") == ("<module>", 5)


def test_next_over_an_await_stays_in_the_coroutine(start: Start) -> None:
    peer = start(
        """
        import asyncio
        async def other(log):
            for i in range(5):
                log.append(i)
                await asyncio.sleep(0)
        async def work(log):
            await asyncio.sleep(0.01)
            x = await child()
            return x
        async def child():
            await asyncio.sleep(0)
            return 7
        async def numbers():
            yield 1
            await asyncio.sleep(0)
            yield 2
        async def main():
            log = []
            a = asyncio.create_task(other(log))
            r = await work(log)
            async for n in numbers():
                r += n
            await a
            return r
        print(asyncio.run(main()))
        """
    )
    peer.configure(lines=[7])
    peer.stopped("breakpoint")
    assert peer.step() == ("work", 8)
    assert peer.step("stepIn") == ("child", 11)
    assert peer.step() == ("child", 12)
    assert peer.step() == ("work", 8)
    assert peer.step() == ("work", 9)
    assert peer.step() == ("main", 20)
    assert peer.step() == ("main", 21)
    assert peer.step("stepIn") == ("numbers", 14)
    assert peer.step() == ("main", 21)
    assert peer.step() == ("main", 22)
    assert peer.step() == ("main", 21)
    assert peer.step() == ("main", 22)
    assert peer.step() == ("main", 21)
    assert peer.step() == ("main", 23)
    peer.go()
    assert peer.finish() == (0, "10\n", "")


def test_exception_in_a_callee_ends_the_step_at_the_handler(start: Start) -> None:
    peer = start(
        """
        def fail():
            raise ValueError(1)
        def middle():
            fail()
            print("never")
        def main():
            try:
                middle()
            except ValueError:
                print("caught")
            return 1
        main()
        """
    )
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    assert peer.step() == ("main", 9)
    assert peer.step() == ("main", 10)
    assert peer.step() == ("main", 11)
    peer.go()
    assert peer.finish() == (0, "caught\n", "")


def test_exception_from_the_stepped_frame_itself_ends_at_its_handler(start: Start) -> None:
    peer = start(
        """
        def main():
            try:
                int("x")
            except ValueError:
                return 1
        main()
        print("end")
        """
    )
    peer.configure(lines=[3])
    peer.stopped("breakpoint")
    assert peer.step() == ("main", 4)
    assert peer.step() == ("main", 5)
    assert peer.step() == ("<module>", 6)
    assert peer.step() == ("<module>", 7)


LIBRARY = """
    import json, functools
    class Odd:
        pass
    def default(value):
        return 1
    def key(n):
        return -n
    text = json.dumps([Odd()], default=default)
    order = sorted([1, 2], key=key)
    print(text, order)
"""


def test_step_in_skips_library_code_and_enters_what_it_calls(start: Start) -> None:
    peer = start(LIBRARY)
    peer.configure(lines=[8])
    peer.stopped("breakpoint")
    assert peer.step("stepIn") == ("default", 5)
    assert peer.step("stepIn") == ("<module>", 9)
    assert peer.step("stepIn") == ("key", 7)
    assert peer.step("stepOut") == ("<module>", 9)


def test_step_in_enters_library_code_without_just_my_code(start: Start) -> None:
    peer = start(LIBRARY)
    peer.configure(lines=[8], justMyCode=False)
    peer.stopped("breakpoint")
    name, _ = peer.step("stepIn")
    assert name == "dumps"
    assert "presentationHint" not in peer.stack()[0]  # an editor folds frames that are subtle


def test_step_into_functions_on_one_line(start: Start) -> None:
    peer = start(
        """
        def one(): return 1
        def two(): return one() + 1
        for _ in range(2):
            two()
        """
    )
    peer.configure(lines=[4])
    for _ in range(2):
        peer.stopped("breakpoint")
        assert peer.step("stepIn") == ("two", 2)
        assert peer.step("stepIn") == ("one", 1)
        assert peer.step("stepIn") == ("two", 2)
        assert peer.step("stepOut") == ("<module>", 4)
        peer.go()
    assert peer.finish()[0] == 0


def test_step_of_a_thread_that_ends_lets_the_program_go_on(start: Start) -> None:
    peer = start(
        """
        import threading
        def work():
            x = 1
        t = threading.Thread(target=work)
        t.start()
        t.join()
        print("end")
        """
    )
    peer.configure(lines=[3])
    thread = peer.stopped("breakpoint")["threadId"]
    assert thread == 2
    assert peer.at(2) == ("work", 3)
    peer.ask("next", threadId=2)
    assert peer.finish() == (0, "end\n", "")


AWAITED = """
    import asyncio
    async def child(n):
        await asyncio.sleep(0.01)
        x = n
        return x
    async def parent():
        log = asyncio.create_task(noise())
        a = await asyncio.create_task(child(1))
        b = await asyncio.gather(child(2), log)
        return a, b
    async def noise():
        for _ in range(20):
            await asyncio.sleep(0.001)
    async def main():
        return await asyncio.create_task(parent())
    print(asyncio.run(main()))
"""


@pytest.mark.row("stepOut")
def test_step_out_of_a_task_goes_to_the_coroutine_that_awaits_it(start: Start) -> None:
    peer = start(AWAITED)
    peer.configure(breakpoints=[{"line": 4, "condition": "n == 1"}])
    peer.stopped("breakpoint")
    assert peer.step("stepOut") == ("parent", 9)
    assert peer.value("a") == "1"
    assert peer.step("next") == ("parent", 10)
    peer.ask("next", threadId=1)
    assert peer.finish()[:2] == (0, "(1, [2, None])\n")


@pytest.mark.row("next")
def test_next_over_the_end_of_a_gathered_task_goes_to_who_gathers(start: Start) -> None:
    peer = start(AWAITED)
    peer.configure(breakpoints=[{"line": 5, "condition": "n == 2"}])
    peer.stopped("breakpoint")
    assert peer.step("next") == ("parent", 10)


@pytest.mark.row("next")
def test_async_for_and_with_are_stepped_in_the_logical_flow(start: Start) -> None:
    peer = start(
        """
        import asyncio, contextlib
        async def noise():
            while True:
                await asyncio.sleep(0)
        async def numbers():
            for n in range(2):
                await asyncio.sleep(0.001)
                yield n
        @contextlib.asynccontextmanager
        async def managed():
            await asyncio.sleep(0.001)
            yield 7
            await asyncio.sleep(0.001)
        async def main():
            t = asyncio.create_task(noise())
            async with managed() as m:
                async for n in numbers():
                    m += n
            t.cancel()
        asyncio.run(main())
        """
    )
    peer.configure(lines=[16])
    peer.stopped("breakpoint")
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    lines = [peer.step()[1] for _ in range(7)]
    assert lines == [17, 18, 17, 18, 17, 16, 19]


@pytest.mark.thorough
@pytest.mark.parametrize("of_folder", [False, True], ids=["no rule", "a rule for the folder"])
def test_step_into_an_import_leads_to_the_first_line_of_the_module(start: Start, *, of_folder: bool) -> None:
    peer = start("x = 1\nimport own\ny = 2\n")
    (peer.folder / "own.py").write_text("z = 3\nw = 4\n")
    rules = [{"path": str(peer.folder), "include": True}] if of_folder else []
    peer.configure(lines=[2], justMyCode=False, rules=rules)
    peer.stopped("breakpoint")
    assert peer.step("stepIn") == ("<module>", 1)
    assert peer.stack()[0]["source"]["name"] == "own.py"
    assert peer.step("stepOut") == ("<module>", 3)


@pytest.mark.thorough
@pytest.mark.row("launch")
@pytest.mark.parametrize(
    ("rules", "just_my_code", "places"),
    [
        ([], True, ["f", "g"]),
        ([{"path": "own.py", "include": False}], True, ["f"]),
        ([{"path": "own.py", "include": False}], False, ["f"]),
        ([{"module": "own", "include": False}], True, ["f"]),
        ([{"path": "*/nowhere/*", "include": False}], True, ["f", "g"]),
        ([{"module": "o?n", "include": True}, {"path": "own.py", "include": False}], True, ["f", "g"]),
    ],
)
def test_rules_say_whose_code_is_stepped_into(
    start: Start, rules: list[dict[str, object]], *, just_my_code: bool, places: list[str]
) -> None:
    peer = start("import own\ndef f(): pass\nf(); own.g()\nx = 1\n")
    (peer.folder / "own.py").write_text("def g():\n    pass\n")
    peer.configure(lines=[3], rules=rules, justMyCode=just_my_code)
    peer.stopped("breakpoint")
    seen: list[str] = []
    while (place := peer.step("stepIn")) != ("<module>", 4) and len(seen) < 9:
        seen.append(place[0])
    assert list(dict.fromkeys(name for name in seen if name != "<module>")) == places


def test_loop_beside_another_statement_of_the_line_is_stepped_over_at_full_speed(start: Start) -> None:
    peer = start(
        """
        from time import thread_time
        many = range(30_000)
        begin = thread_time()
        a = [abs(n) for n in many]; b = thread_time()
        c = thread_time(); d = [abs(n) for n in many]; e = thread_time()
        print("end")
        """
    )
    peer.configure(lines=[5])
    peer.stopped("breakpoint")
    peer.step()  # the loop
    peer.step()
    peer.step()
    plain, stepped = (float(peer.value(text)) for text in ("b - begin", "e - c"))
    assert stepped < 10 * plain + 0.05


def test_step_into_library_code_does_not_end_in_what_a_library_executes_from_a_text(start: Start) -> None:
    peer = start(
        """
        from urllib.parse import urlsplit
        split = urlsplit("http://host/path")
        exec("def typed():\\n    return 1")
        typed()
        print("end")
        """
    )
    peer.configure(lines=[2])
    peer.stopped("breakpoint")
    assert peer.step("stepIn") == ("<module>", 3)  # a named tuple is made by a lambda of `collections`
    peer.step("next")
    assert peer.step("stepIn") == ("typed", 2)
