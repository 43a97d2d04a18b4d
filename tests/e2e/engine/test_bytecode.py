"""Instructions: disassembly, breakpoints at them, and steps smaller than a line."""

import subprocess

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message, Refused

pytestmark = pytest.mark.each_python

ADD = """
def add(a, b):
    c = a + b
    return c

def main():
    x = add(1, 2); y = add(x, 3)
    for i in range(3): x += i
    return y

main()
main()
"""


def pointer(peer: EngineClient) -> int:
    return int(peer.stack()[0]["instructionPointerReference"], 16)


def shown(peer: EngineClient, reference: int | str, count: int, **more: object) -> list[Message]:
    text = reference if isinstance(reference, str) else hex(reference)
    rows: list[Message] = peer.ask(
        "disassemble", memoryReference=text, instructionCount=count, resolveSymbols=True, **more
    )["instructions"]
    return rows


def start_of_code(peer: EngineClient) -> int:
    """Return the address of RESUME, which comes before the instruction that the function stands at."""
    [resume] = shown(peer, pointer(peer), 1, instructionOffset=-1)
    return int(resume["address"], 16)


@pytest.mark.row("setInstructionBreakpoints, disassemble")
def test_disassembly_shows_what_dis_shows_with_lines_columns_and_symbols(start: Start, python: str) -> None:
    peer = start(ADD)
    peer.configure(lines=[2])
    peer.stopped()
    rows = shown(peer, pointer(peer), 30, instructionOffset=-1)
    assert rows[0]["symbol"] == "add"
    assert rows[0]["instruction"].split()[0] == "RESUME"
    assert rows[0]["location"] == {"name": "prog.py", "path": str(peer.folder / "prog.py")}
    valid = [row for row in rows if "presentationHint" not in row]
    listing = """import dis, sys
code = compile(open(sys.argv[1]).read(), "x", "exec").co_consts[0]
for one in dis.get_instructions(code): print(one.offset, one.opname)"""
    command = [python, "-c", listing, str(peer.folder / "prog.py")]
    wanted = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    begin = int(rows[0]["address"], 16)
    assert [f"{int(row['address'], 16) - begin} {row['instruction'].split()[0]}" for row in valid] == wanted
    total = sum(len(row["instructionBytes"].split()) for row in valid)
    assert int(rows[len(valid)]["address"], 16) == begin + total
    assert len(rows) == 30
    adding = next(row for row in valid if row["instruction"].startswith("BINARY_OP"))
    assert adding["instruction"].endswith("(+)")
    assert (adding["line"], adding["column"], adding["endLine"], adding["endColumn"]) == (2, 9, 2, 14)


@pytest.mark.row("setInstructionBreakpoints, disassemble")
def test_places_without_bytecode_are_marked_and_counted_on_both_sides(start: Start) -> None:
    peer = start(ADD)
    peer.configure(lines=[2])
    peer.stopped()
    begin = start_of_code(peer)
    rows = shown(peer, begin, 4, instructionOffset=-3)
    assert [int(row["address"], 16) - begin for row in rows] == [-6, -4, -2, 0]
    assert [row.get("presentationHint") for row in rows] == ["invalid"] * 3 + [None]
    after = shown(peer, begin, 3, instructionOffset=1000)
    assert [row["presentationHint"] for row in after] == ["invalid"] * 3
    first = pointer(peer)
    assert shown(peer, begin, 1, offset=first - begin)[0]["address"] == hex(first)
    nowhere = shown(peer, 0x10, 2)
    assert [(row["address"], row["presentationHint"]) for row in nowhere] == [("0x10", "invalid"), ("0x12", "invalid")]
    assert shown(peer, begin, 0) == []
    with pytest.raises(Refused, match="memoryReference is 'add', expected an address"):
        shown(peer, "add", 1)


@pytest.mark.row("setInstructionBreakpoints, disassemble")
def test_addresses_are_the_same_at_every_stop_and_name_breakpoints(start: Start) -> None:
    peer = start(ADD)
    peer.configure(lines=[2])
    peer.stopped()
    first = pointer(peer)
    rows = shown(peer, first, 8)
    store = next(row for row in rows if row["instruction"].startswith("STORE_FAST"))
    wishes: list[Message] = [
        {"instructionReference": hex(first), "offset": int(store["address"], 16) - first, "condition": "a == 3"},
        {"instructionReference": hex(start_of_code(peer))},
        {"instructionReference": store["address"], "hitCondition": "99"},
        {"instructionReference": "0x10"},
        {"instructionReference": "add"},
        {"instructionReference": hex(int(store["address"], 16) - 1)},
    ]
    placed = peer.ask("setInstructionBreakpoints", breakpoints=wishes)["breakpoints"]
    assert [one["verified"] for one in placed] == [True, True, True, False, False, False]
    assert placed[0]["instructionReference"] == store["address"]
    assert (placed[1]["instructionReference"], "moved" in placed[1]["message"]) == (hex(first), True)
    assert "there is no bytecode at 0x10" in placed[3]["message"]
    assert "is inside an instruction, which begins at" in placed[5]["message"]
    peer.ask("setInstructionBreakpoints", breakpoints=wishes[:1])
    peer.ask("setBreakpoints", source={"path": str(peer.folder / "prog.py")}, breakpoints=[])
    peer.go()
    body = peer.stopped("instruction breakpoint")
    assert len(body["hitBreakpointIds"]) == 1
    assert (pointer(peer), peer.value("a"), "c" in peer.locals()) == (int(store["address"], 16), "3", False)
    peer.ask("setInstructionBreakpoints", breakpoints=[])
    peer.go()
    assert peer.finish()[0] == 0


@pytest.mark.row("next, stepIn, stepOut")
def test_steps_by_instruction_visit_every_instruction_once(start: Start) -> None:
    peer = start(ADD)
    peer.configure(lines=[2])
    peer.stopped()
    rows = [row for row in shown(peer, pointer(peer), 40) if "presentationHint" not in row]
    visited = [pointer(peer)]
    while peer.at()[0] == "add":
        peer.ask("next", threadId=1, granularity="instruction")
        peer.stopped("step")
        visited.append(pointer(peer))
    assert visited[:-1] == [int(row["address"], 16) for row in rows]
    assert peer.at() == ("main", 6)


@pytest.mark.row("next, stepIn, stepOut")
def test_step_by_instruction_goes_into_calls_or_over_them(start: Start) -> None:
    peer = start(ADD)
    peer.configure(lines=[6])
    peer.stopped()
    while True:
        [row] = shown(peer, pointer(peer), 1)
        if row["instruction"].startswith("CALL"):
            break
        peer.ask("next", threadId=1, granularity="instruction")
        peer.stopped("step")
    before = peer.at()
    peer.ask("stepIn", threadId=1, granularity="instruction")
    peer.stopped("step")
    assert (before, peer.at()) == (("main", 6), ("add", 2))
    peer.ask("stepOut", threadId=1, granularity="instruction")
    peer.stopped("step")
    assert peer.at() == ("main", 6)
    peer.ask("next", threadId=1, granularity="instruction")
    peer.stopped("step")
    assert shown(peer, pointer(peer), 1)[0]["instruction"].startswith("STORE_FAST")


@pytest.mark.row("next, stepIn, stepOut")
def test_step_by_statement_stops_at_each_of_a_line_and_step_by_line_does_not(start: Start) -> None:
    peer = start(ADD)
    peer.configure(lines=[6])
    peer.stopped()
    peer.ask("next", threadId=1, granularity="statement")
    peer.stopped("step")
    assert (peer.at(), "y" in peer.locals(), peer.value("x")) == (("main", 6), False, "3")
    assert peer.step() == ("main", 7)
    sums = []
    while peer.at() == ("main", 7):
        sums.append(peer.value("x"))
        peer.step()
    assert sums == ["3", "3", "3", "4"]
    peer.go()
    peer.stopped("breakpoint")
    peer.ask("next", threadId=1, granularity="line")
    peer.stopped("step")
    assert peer.at() == ("main", 7)
    peer.ask("next", threadId=1, granularity="line")
    peer.stopped("step")
    assert peer.at() == ("main", 8)
    with pytest.raises(Refused, match="granularity 'word' is unknown"):
        peer.ask("next", threadId=1, granularity="word")


@pytest.mark.row("stackTrace")
def test_frames_show_their_instruction_and_callers_the_columns_of_the_call(start: Start) -> None:
    peer = start("def f(x):\n    return 1 // x\n\né = f(1) + f(0)\n")
    peer.configure(lines=[2], filters=["uncaught"])
    peer.stopped()
    top, caller = peer.stack()
    assert (top["column"], "endColumn" in top) == (1, False)
    assert (caller["line"], caller["column"], caller["endLine"], caller["endColumn"]) == (4, 5, 4, 9)
    assert shown(peer, caller["instructionPointerReference"], 1)[0]["instruction"].startswith("CALL")
    peer.go()
    peer.stopped("breakpoint")
    assert peer.stack()[1]["column"] == 12
    peer.go()
    peer.stopped("exception")
    raising = peer.stack()[0]
    assert (raising["column"], raising["endColumn"]) == (12, 18)
