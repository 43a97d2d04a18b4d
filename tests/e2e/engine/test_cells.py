"""Steps through texts that a library runs one after the other: cells of notebooks, inputs of consoles, doctests."""

from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient

pytestmark = [pytest.mark.row("next, stepIn, stepOut"), pytest.mark.each_python]

SHELL = """
import ast, linecache

# As IPython does it: each statement is a code object of its own, run by a coroutine of its own.
async def run_code(code, names):
    exec(code, names)

async def run_nodes(nodes, name, names):
    try:
        for node in nodes:
            await run_code(compile(ast.Module([node], []), name, "exec"), names)
    except ZeroDivisionError:
        pass

def run_cell(text, name, names):
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    try:
        run_nodes(ast.parse(text).body, name, names).send(None)
    except StopIteration:
        pass
"""
CELLS = '''
    import sys
    sys.path.insert(0, "site-packages")
    import shell
    names = {}
    first = """a = 1
    def double(n):
        return 2 * n
    b = double(
        a)
    for i in range(1):
        c = i
    d = b
    """
    shell.run_cell(first, "/tmp/cells/1.py", names)    # line 14
    shell.run_cell("e = 1\\ng = e", "<ipython-input-2>", names)
    shell.run_cell("h = 1\\n1 / 0\\nk = 1", "<ipython-input-3>", names)
    print("end")
'''.replace('"""a = 1\n    ', '"""a = 1\n').replace("\n    ", "\n")


@pytest.fixture
def in_cell(start: Start, tmp_path: Path) -> EngineClient:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "shell.py").write_text(SHELL, encoding="utf-8")
    peer = start(CELLS)
    peer.configure(lines=[14])
    peer.stopped("breakpoint")
    assert step(peer, "stepIn") == ("1.py", 1)
    return peer


def step(peer: EngineClient, command: str = "next") -> tuple[str, int]:
    peer.step(command)
    top = peer.stack()[0]
    return top["source"]["name"], top["line"]


def test_step_over_goes_through_the_statements_of_a_cell_and_back_to_the_program(in_cell: EngineClient) -> None:
    peer = in_cell
    assert [step(peer) for _ in range(8)] == [("1.py", line) for line in (2, 4, 5, 4, 6, 7, 6, 8)]
    source = peer.stack()[0]["source"]
    assert peer.ask("source", source=source, sourceReference=0)["content"].splitlines()[7] == "d = b"
    assert step(peer) == ("prog.py", 15)
    assert step(peer) == ("prog.py", 16)
    assert step(peer, "stepIn") == ("<ipython-input-3>", 1)
    assert step(peer) == ("<ipython-input-3>", 2)
    assert step(peer) == ("prog.py", 17)
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


def test_step_in_and_out_of_a_function_of_a_cell_leads_back_into_the_cell(in_cell: EngineClient) -> None:
    peer = in_cell
    assert [step(peer, "stepIn") for _ in range(4)] == [("1.py", line) for line in (2, 4, 5, 4)]
    assert step(peer, "stepIn") == ("1.py", 3)
    assert step(peer, "stepOut") == ("1.py", 4)
    assert step(peer, "stepIn") == ("1.py", 6)
    assert step(peer, "stepOut") == ("prog.py", 15)
    peer.go()
    assert peer.finish()[:2] == (0, "end\n")


INPUTS = '''
    import code, doctest
    def add(a, b):
        """
        >>> x = add(1, 2)
        >>> for i in range(1):
        ...     y = x
        """
        return a + b
    doctest.run_docstring_examples(add, globals(), name="add")
    inputs = iter(["k = 1", "k + 1"])
    class Console(code.InteractiveConsole):
        def raw_input(self, prompt):
            return next(inputs)
        def write(self, text): pass
    try: Console().interact(banner="", exitmsg="")
    except StopIteration: pass
    print("end")
'''


def test_steps_go_from_one_example_and_one_input_of_a_console_to_the_next(start: Start) -> None:
    peer = start(INPUTS)
    peer.configure(lines=[9, 15])
    peer.stopped("breakpoint")
    assert step(peer, "stepIn") == ("<doctest add[0]>", 1)
    source = peer.stack()[0]["source"]
    assert peer.ask("source", source=source, sourceReference=0)["content"] == "x = add(1, 2)\n"
    assert [step(peer) for _ in range(3)] == [("<doctest add[1]>", 1), ("<doctest add[1]>", 2), ("<doctest add[1]>", 1)]
    peer.go()
    peer.stopped("breakpoint")
    places = [step(peer, "stepIn") for _ in range(4)]
    assert places == [("prog.py", 13), ("<console>", 1), ("prog.py", 13), ("<console>", 1)]
    source = peer.stack()[0]["source"]
    assert peer.ask("source", source=source, sourceReference=0)["content"] == "k + 1"
    peer.go()
    assert peer.finish()[0] == 0
