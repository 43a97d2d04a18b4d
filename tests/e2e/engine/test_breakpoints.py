"""Breakpoints: where they end up, when they stop, and what they say."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = [pytest.mark.row("setBreakpoints"), pytest.mark.each_python]

LOOP = """
    def work(n):
        total = 0
        for i in range(n):
            total += i
        return total

    # a comment
    print(work(10))
"""


def test_line_without_code_moves_to_the_next_that_has_some_and_says_so(start: Start) -> None:
    peer = start(LOOP)
    [placed] = peer.configure(lines=[7])
    assert (placed["verified"], placed["line"]) == (True, 8)
    assert placed["message"] == "line 7 has no code; moved to line 8, the next that has"
    peer.stopped("breakpoint")
    assert peer.at() == ("<module>", 8)


@pytest.mark.thorough
@pytest.mark.timeout(180)
def test_as_many_breakpoints_as_a_large_file_has_lines_are_set_and_hit(start: Start) -> None:
    count = 25_000
    functions = "".join(f"def f{number}():\n    return {number}\n" for number in range(count // 2))
    peer = start(functions + "f0()\nf12499()\nprint('end')\n")
    lines = [2 * number for number in range(1, count // 2)]  # in all functions but the last
    placed = peer.configure(lines=[*lines, count, count + 2])
    assert {breakpoint["verified"] for breakpoint in placed} == {True}
    hits = []
    for _ in range(3):
        peer.stopped("breakpoint")
        hits.append(peer.at())
        peer.go()
    assert hits == [("f0", 2), ("<module>", count + 2), ("f12499", count)]


def test_line_beyond_the_end_is_not_verified(start: Start) -> None:
    [placed] = start(LOOP).configure(lines=[99])
    assert (placed["verified"], placed["reason"]) == (False, "failed")
    assert "no code at or after line 99" in placed["message"]
    assert "last line with code is 8" in placed["message"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("breakpoint", "said"),
    [
        ({"condition": "i ="}, "condition 'i =': invalid syntax (column 3)"),
        ({"condition": "await x"}, "'await' outside function"),
        ({"hitCondition": "often"}, "hit condition 'often': expected a number"),
        ({"logMessage": "i is {i"}, "never closed"),
        ({"logMessage": "i is {i +}"}, "log message"),
        ({"line": "four"}, "breakpoint line is 'four'"),
    ],
)
def test_mistake_in_a_breakpoint_is_told_on_it(start: Start, breakpoint: Message, said: str) -> None:
    [placed] = start(LOOP).configure(breakpoints=[{"line": 4, **breakpoint}])
    assert placed["verified"] is False
    assert said in placed["message"]


def test_file_that_is_no_python_or_missing_is_told(start: Start, tmp_path: Path) -> None:
    peer = start(LOOP)
    (tmp_path / "broken.py").write_text("x = (\n")
    for name, said in (("broken.py", "is not valid Python in line 1"), ("gone.py", "cannot be read")):
        body = peer.ask("setBreakpoints", source={"path": str(tmp_path / name)}, breakpoints=[{"line": 1}])
        assert body["breakpoints"][0]["verified"] is False
        assert said in body["breakpoints"][0]["message"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, 'is not valid Python in line 1: invalid syntax; a breakpoint in a template needs "jinja": true'),
        ({"jinja": True}, "no template of that name has been compiled yet; the breakpoint waits for it"),
    ],
)
def test_breakpoint_in_a_template_says_what_it_needs(
    start: Start, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    peer = start(LOOP)
    peer.configure(**options, lines=[4])
    (tmp_path / "shop.html").write_text("<p>{{ price }}</p>\n")
    body = peer.ask("setBreakpoints", source={"path": str(tmp_path / "shop.html")}, breakpoints=[{"line": 1}])
    assert body["breakpoints"][0]["verified"] is False
    assert said in body["breakpoints"][0]["message"]
    missing = peer.ask("setBreakpoints", source={"path": str(tmp_path / "none.html")}, breakpoints=[{"line": 1}])
    assert "cannot be read" in missing["breakpoints"][0]["message"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("breakpoint", "values"),
    [
        ({"condition": "i == 7"}, [7]),
        ({"condition": "i > 6 and total % 2"}, [7, 9][:1]),
        ({"condition": "any(k == i for k in (2, 5))"}, [2, 5]),
        ({"condition": "undefined_yet == 3 if i > 100 else i == 4"}, [4]),
        ({"condition": "len(str(total)) == 2 and (twice := i * 2) == 16"}, [8]),
        ({"hitCondition": "5"}, [4]),
        ({"hitCondition": ">= 9"}, [8, 9]),
        ({"hitCondition": "% 4"}, [3, 7]),
        ({"hitCondition": "< 3"}, [0, 1]),
        ({"condition": "i % 2", "hitCondition": "== 2"}, [3]),
    ],
)
def test_conditions_and_hit_conditions_choose_the_hits(start: Start, breakpoint: Message, values: list[int]) -> None:
    peer = start(LOOP)
    peer.configure(breakpoints=[{"line": 4, **breakpoint}])
    for value in values:
        peer.stopped("breakpoint")
        assert peer.value("i") == str(value)
        peer.go()
    assert peer.finish()[:2] == (0, "45\n")


def test_condition_that_raises_counts_as_false_and_is_reported_once(start: Start) -> None:
    peer = start(LOOP)
    peer.configure(
        breakpoints=[
            {"line": 4, "condition": "missing > 1", "hitCondition": "1"},
            {"line": 4, "condition": "i == 9 or {}[i]"},
        ]
    )
    peer.stopped("breakpoint")
    assert peer.value("i") == "9"
    peer.go()
    assert peer.finish()[0] == 0
    reported = [event["body"] for event in peer.events() if event["event"] == "output"]
    assert [(body["category"], body["line"]) for body in reported] == [("stderr", 4)] * 2
    assert (
        "prog.py:4 raised NameError: name 'missing' is not defined, which counts as false: missing > 1"
        in (reported[0]["output"])
    )
    assert "KeyError: 0" in reported[1]["output"]
    changed = [event["body"]["breakpoint"] for event in peer.events() if event["event"] == "breakpoint"]
    assert [(each["verified"], each["message"]) for each in changed] == [
        (True, "its condition raised NameError: name 'missing' is not defined, which counts as false"),
        (True, "its condition raised KeyError: 0, which counts as false"),
    ]


def test_log_messages_are_delivered_and_do_not_stop(start: Start) -> None:
    peer = start(LOOP)
    peer.configure(
        breakpoints=[
            {"line": 4, "logMessage": "{{i}} is {i:>3} {total!r} {nothing}", "condition": "i > 7"},
            {"line": 5, "logMessage": "done"},
        ]
    )
    assert peer.finish()[0] == 0
    texts = [event["body"]["output"] for event in peer.events() if event["event"] == "output"]
    assert texts == [
        "{i} is   8 28 <NameError: name 'nothing' is not defined>\n",
        "{i} is   9 36 <NameError: name 'nothing' is not defined>\n",
        "done\n",
    ]


def test_breakpoint_set_while_a_loop_runs_is_met(start: Start) -> None:
    peer = start(
        """
        import time
        def forever():
            n = 0
            while n >= 0:
                n += 1
                time.sleep(0.001)
        print("on", flush=True)
        forever()
        """
    )
    peer.configure()
    assert peer.process.stdout is not None
    peer.process.stdout.readline()
    path = str(peer.folder / "prog.py")
    assert peer.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 5}])["breakpoints"][0]["verified"]
    peer.stopped("breakpoint")
    assert peer.at() == ("forever", 5)
    peer.ask("setBreakpoints", source={"path": path}, breakpoints=[])
    peer.go()
    assert peer.silent("stopped", 0.3)


def test_no_breakpoint_is_lost_that_is_set_while_its_line_runs(start: Start) -> None:
    peer = start(
        """
        import sys
        def forever(n):
            while n >= 0:
                n += 1
        sys.setswitchinterval(1e-6)  # so that the loop runs between any two steps of the debugger
        forever(0)
        """
    )
    peer.configure()
    path = str(peer.folder / "prog.py")
    for _ in range(10):
        [breakpoint] = peer.ask("setBreakpoints", source={"path": path}, breakpoints=[{"line": 4}])["breakpoints"]
        assert breakpoint["verified"]
        peer.stopped("breakpoint")
        assert peer.at() == ("forever", 4)
        peer.ask("setBreakpoints", source={"path": path}, breakpoints=[])
        del peer.messages[:]
        peer.go()


def test_breakpoints_in_a_file_yet_to_be_imported_and_in_one_imported_long_ago(start: Start, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def f():\n    return 1\n\nclass K:\n    def m(self): return 2\n")
    peer = start(
        """
        import other
        gen = (other.f() for _ in range(2))
        next(gen)
        x = 1
        next(gen)
        other.K().m()
        """
    )
    peer.configure(lines=[4])
    peer.stopped("breakpoint")
    placed = peer.ask(
        "setBreakpoints", source={"path": str(tmp_path / "other.py")}, breakpoints=[{"line": 2}, {"line": 5}]
    )["breakpoints"]
    assert [one["verified"] for one in placed] == [True, True]
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("f", 2)
    peer.go()
    peer.stopped("breakpoint")
    assert peer.at() == ("K.m", 5)
    peer.go()
    assert peer.finish()[0] == 0


def test_functions_on_one_line_stop(start: Start) -> None:
    peer = start(
        """
        def one(): return 1
        two = lambda: one() + 1
        one()
        two()
        two()
        """
    )
    peer.configure(lines=[1, 2])
    places = []
    for _ in range(7):
        peer.stopped("breakpoint")
        places.append(peer.at())
        peer.go()
    lamb = ("<lambda>", 2)
    assert places == [("<module>", 1), ("<module>", 2), ("one", 1), lamb, ("one", 1), lamb, ("one", 1)]
    assert peer.finish()[0] == 0


def test_symbolic_link_and_relative_name_mean_the_same_file(start: Start, tmp_path: Path) -> None:
    peer = start(LOOP)
    link = tmp_path / "alias.py"
    link.symlink_to(tmp_path / "prog.py")
    peer.configure(lines=[5], path=link)
    peer.stopped("breakpoint")
    assert peer.stack()[0]["source"] == {"name": "alias.py", "path": str(link)}


def test_same_line_in_two_files_and_two_breakpoints_on_one_line(start: Start, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def f():\n    x = 1\n    return x\n")
    peer = start("import other\nother.f()\ndef g():\n    return 2\n\ng()\n")
    peer.configure(breakpoints=[{"line": 2}, {"line": 5}, {"line": 6, "logMessage": "six"}])
    peer.ask("setBreakpoints", source={"path": str(tmp_path / "other.py")}, breakpoints=[{"line": 2}])
    seen = []
    for _ in range(3):
        peer.stopped("breakpoint")
        seen.append((peer.stack()[0]["source"]["name"], peer.at()))
        peer.go()
    assert seen == [
        ("prog.py", ("<module>", 2)),
        ("other.py", ("f", 2)),
        ("prog.py", ("<module>", 6)),
    ]
    assert peer.finish()[0] == 0


def test_functions_that_ask_who_calls_them_see_the_frame_in_conditions_and_log_messages(start: Start) -> None:
    peer = start(
        """
        def work(n):
            out = [n]
            if n:
                late = 1
            return out
        for n in range(2):
            work(n)
        class K:
            a = 1
            b = 2
        """
    )
    messages = [
        "{locals()}, {dir()}, {sorted(vars())}",
        "{eval('n + 1')}, {[eval('n') for _ in range(2)]}, {(lambda q: q + n)(1)}, {sum(n for _ in range(3))}",
        "{'n' in globals()}, {'out' in globals()}, {globals() is work.__globals__}, {(lambda: 'out' in globals())()}",
        "{(m := n)}, {[sorted(locals()) for k in range(1)]}",
    ]
    peer.configure(
        breakpoints=[
            {"line": 3, "condition": "n and 'late' in locals()"},
            *({"line": 5, "logMessage": message, "condition": "n"} for message in messages),
            {"line": 5, "condition": "'late' in locals() and 'm' not in locals() and 'm' not in vars()"},
            {"line": 7, "logMessage": "{globals() == locals()} {any('K' in globals() for _ in [1])} {(m := 1)}"},
            {"line": 10, "logMessage": "{'a' in locals()} {'a' in globals()} {(lambda: a)()}"},
        ]
    )
    peer.stopped("breakpoint")
    assert (peer.at(), peer.value("n")) == (("work", 5), "1")
    assert peer.value("any('out' in globals() or n > 1 for _ in [1])") == "False"
    peer.go()
    assert peer.finish()[0] == 0
    written = "".join(event["body"]["output"] for event in peer.events() if event["event"] == "output")
    assert written.splitlines() == [
        "True False 1",
        "True False 1",
        "{'n': 1, 'out': [1], 'late': 1}, ['late', 'n', 'out'], ['late', 'n', 'out']",
        "2, [1, 1], 2, 3",
        "True, False, True, False",
        "1, [['k', 'late', 'n', 'out']]",
        "True False 1",
    ]


def test_line_at_the_end_of_a_statement_of_several_lines_means_where_it_begins(start: Start) -> None:
    peer = start(
        """
        def work(
            n,
        ):
            # a comment
            a = max(
                n,
                2,
            )
            b = {
                "one": 1,
                # a comment
            }
            if (
                a
            ):
                # a comment
                return [
                    b,
                ]
        work(1)
        """
    )
    placed = peer.configure(lines=[3, 4, 8, 11, 12, 15, 16, 19])
    assert [one["line"] for one in placed] == [5, 5, 5, 9, 9, 14, 17, 17]
    assert placed[2]["message"] == "line 8 has no code; moved to line 5, where its statement begins"
    seen: list[int] = []
    while not seen or seen[-1] != 17:
        peer.stopped("breakpoint")
        seen.append(peer.at()[1])
        peer.go()
    assert sorted({*seen}) == [5, 9, 14, 17]


def test_condition_in_the_body_of_a_class_and_with_foreign_globals(start: Start) -> None:
    peer = start(
        """
        class K:
            a = 1
            b = 2
        code = compile("y = x + 1\\nz = y", __file__.replace("prog", "made"), "exec")
        for x in (1, 2, 3):
            exec(code, {"x": x})
        """
    )
    (peer.folder / "made.py").write_text("y = x + 1\nz = y\n")
    peer.configure(breakpoints=[{"line": 3, "condition": "a == 1"}])
    peer.ask(
        "setBreakpoints",
        source={"path": str(peer.folder / "made.py")},
        breakpoints=[{"line": 2, "condition": "y == 3"}],
    )
    peer.stopped("breakpoint")
    assert peer.at() == ("K", 3)
    peer.go()
    peer.stopped("breakpoint")
    assert peer.value("x") == "2"
    peer.go()
    assert peer.finish()[0] == 0


def test_set_breakpoints_without_a_path_is_refused(start: Start) -> None:
    peer = start(LOOP)
    with pytest.raises(Refused, match=r"setBreakpoints needs source\.path"):
        peer.ask("setBreakpoints", source={"adapterData": 3}, breakpoints=[])
    with pytest.raises(Refused, match="there is no source 3; there are 0"):
        peer.ask("setBreakpoints", source={"sourceReference": 3}, breakpoints=[])


def test_all_log_messages_of_a_loop_come_in_order_and_before_the_next_stop(start: Start) -> None:
    peer = start("for i in range(3000):\n    pass\nend = 1\n")
    peer.configure(breakpoints=[{"line": 2, "logMessage": "{i}"}, {"line": 3}])
    peer.stopped("breakpoint")
    stop = next(at for at, message in enumerate(peer.messages) if message.get("event") == "stopped")
    before = [message["body"] for message in peer.messages[:stop] if message.get("event") == "output"]
    assert "".join(body["output"] for body in before).split() == [str(i) for i in range(3000)]
    assert {body["line"] for body in before} == {2}


def test_log_message_comes_while_the_program_is_busy_with_other_things(start: Start) -> None:
    peer = start("import time\nfor i in range(2):\n    i\nwhile True:\n    time.sleep(0.01)\n")
    peer.configure(breakpoints=[{"line": 3, "logMessage": "{i}"}])
    seen = ""
    while "1" not in seen:
        seen += peer.event("output")["output"]
    assert seen == "0\n1\n"


def test_lines_alone_are_taken_as_breakpoints(start: Start) -> None:
    peer = start(LOOP)
    peer.configure(lines=[8])
    source = {"path": str(peer.folder / "prog.py")}
    placed = peer.ask("setBreakpoints", source=source, lines=[4, 5])["breakpoints"]
    assert [(one["verified"], one["line"]) for one in placed] == [(True, 4), (True, 5)]
    with pytest.raises(Refused, match="expected a list of objects"):
        peer.ask("setBreakpoints", source=source, lines=4)


@pytest.mark.row("setBreakpoints")
def test_log_message_is_written_also_where_another_breakpoint_stops(start: Start) -> None:
    peer = start("for n in range(3):\n    x = n\n")
    peer.configure(breakpoints=[{"line": 2, "condition": "n == 1"}, {"line": 2, "logMessage": "n is {n}"}])
    peer.stopped("breakpoint")
    said = [event["body"]["output"] for event in peer.events() if event["event"] == "output"]
    assert "".join(said) == "n is 0\nn is 1\n"
    peer.go()
    assert peer.finish()[0] == 0


TOGETHER = """
    def work(n):
        n += 1
        return n
    for i in range(3):
        work(i)
"""


def hit(peer: EngineClient) -> list[int]:
    ids: list[int] = peer.stopped()["hitBreakpointIds"]
    return ids


def test_all_breakpoints_of_a_line_that_are_hit_are_named_by_one_stop(start: Start) -> None:
    peer = start(TOGETHER)
    placed = peer.configure(
        breakpoints=[
            {"line": 2},
            {"line": 2, "condition": "n == 1"},
            {"line": 2, "hitCondition": "3"},
            {"line": 2, "logMessage": "{n}"},
            {"line": 2, "condition": "n == 5"},
        ]
    )
    always, one, third, _, _ = (placed_one["id"] for placed_one in placed)
    seen = []
    for _ in range(3):
        seen.append(hit(peer))
        peer.go()
    assert seen == [[always], [always, one], [always, third]]
    assert peer.finish()[0] == 0
    assert [event["body"]["output"] for event in peer.events() if event["event"] == "output"] == ["0\n", "1\n", "2\n"]


def test_condition_that_raises_does_not_hinder_the_breakpoints_beside_it(start: Start) -> None:
    peer = start(TOGETHER)
    placed = peer.configure(breakpoints=[{"line": 2}, {"line": 2, "condition": "missing"}])
    assert peer.stopped("breakpoint")["hitBreakpointIds"] == [placed[0]["id"]]
    assert "NameError" in peer.event("output")["output"]


def test_breakpoint_for_once_goes_with_the_stop_that_it_shares(start: Start) -> None:
    peer = start(TOGETHER)
    placed = peer.configure(breakpoints=[{"line": 2}, {"line": 2, "mode": "once"}])
    always, once = (one["id"] for one in placed)
    assert hit(peer) == [always, once]
    assert peer.event("breakpoint")["breakpoint"]["id"] == once
    peer.go()
    assert hit(peer) == [always]


def test_breakpoints_at_a_function_and_at_its_first_line_make_one_stop(start: Start) -> None:
    peer = start(TOGETHER)
    peer.ask("initialize", adapterID="test")
    peer.ask("launch")
    source = {"path": str(peer.folder / "prog.py")}
    names = [{"name": "work"}, {"name": "work", "condition": "n == 1"}]
    named = peer.ask("setFunctionBreakpoints", breakpoints=names)["breakpoints"]
    [line] = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 2, "condition": "n < 2"}])["breakpoints"]
    peer.ask("configurationDone")
    seen = []
    for _ in range(3):
        stop = peer.stopped()
        seen.append((stop["reason"], stop["hitBreakpointIds"]))
        assert peer.at() == ("work", 2)
        peer.go()
    every, second = (one["id"] for one in named)
    assert seen == [
        ("breakpoint", [every, line["id"]]),
        ("breakpoint", [every, second, line["id"]]),
        ("function breakpoint", [every]),
    ]
    assert peer.finish()[0] == 0


STATEMENTS_OF_SEVERAL_LINES = """
    def add(a, b):
        return a + b

    def run():
        one = add(
            1,
            add(
                2,
                3,
            ),
        )
        for number in range(
            2,
        ):
            one += number
        while add(
            one,
            1,
        ) < 10:
            one += 1
        rows = [
            one,
            add(1, 2),
        ]
        return add(
            one,
            2,
        )

    run()
"""


@pytest.mark.parametrize(
    ("line", "hits"),
    [
        ("one = add(", 1),
        ("add(", 1),
        ("for number in range(", 3),  # once for each round, as where it stands in one line
        ("while add(", 3),
        ("rows = [", 1),
        ("return add(", 1),
    ],
)
def test_statement_of_several_lines_is_hit_once_each_time_it_runs(start: Start, line: str, hits: int) -> None:
    number = next(
        number
        for number, text in enumerate(textwrap.dedent(STATEMENTS_OF_SEVERAL_LINES).strip().splitlines(), 1)
        if text.strip().startswith(line)
    )
    peer = start(STATEMENTS_OF_SEVERAL_LINES)
    peer.configure(lines=[number])
    for _ in range(hits):
        assert peer.stopped("breakpoint")
        assert peer.at() == ("run", number)
        peer.go()
    assert peer.finish()[0] == 0
