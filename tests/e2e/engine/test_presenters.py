"""What a project says itself about its values: files of presenters, and `dapkit.present`."""

import os
from pathlib import Path

import pytest

import dapkit
from e2e.engine.conftest import Start
from e2e.engine.engine_client import EngineClient, Message

pytestmark = [pytest.mark.row("scopes, variables"), pytest.mark.each_python]

SOURCES = str(Path(dapkit.__file__).parents[1])

PROGRAM = """
    import sys
    if sys.argv[1:]:
        sys.path.append(sys.argv[1])
        import dapkit
    class Money:
        def __init__(self, amount, currency):
            self.amount, self.currency, self._secret = amount, currency, 1
        def rate(self):
            return asked.append(self) or 1.5
    class Tip(Money):
        pass
    class Route:
        stations = ["A", "B"]
    class Named(dict):
        pass
    class Failing:
        inside = 1
        def __init__(self): self.stored = 2
    class Slow(Failing):
        pass
    class Odd(Failing):
        pass
    if sys.argv[1:]:
        dapkit.present(Money)(lambda money: f"by the program: {money.amount}")
    asked = []
    money, tip, route, named = Money(3, "EUR"), Tip(1, "USD"), Route(), Named(a=1)
    failing, odd = Failing(), Odd()
    monies = [money, tip]
    stop = 1
"""

FILE = """
print("never seen")

def money(value):
    inside = {"amount": value.amount, "doubled": value.amount * 2, "rate()": value.rate}
    return f"{value.amount} {value.currency}", inside

def failing(value):
    raise ValueError("no")

def slow(value):
    while True:
        pass

PRESENTERS = {
    "__main__.Money": money,
    "__main__.Route": lambda route: route.stations,
    "__main__.Named": lambda named: f"{len(named)} names",
    "__main__.Failing": failing,
    "__main__.Slow": slow,
    "__main__.Odd": lambda odd: 5,
}
"""


def at_stop(peer: EngineClient, *files: str) -> EngineClient:
    peer.configure(
        lines=[next(n for n, line in enumerate(PROGRAM.strip().splitlines(), 1) if "stop = 1" in line)],
        presenters=list(files),
    )
    peer.stopped("breakpoint")
    return peer


def children(peer: EngineClient, row: Message) -> dict[str, Message]:
    return {child["name"]: child for child in peer.rows(row["variablesReference"])}


def texts(rows: dict[str, Message]) -> dict[str, str]:
    return {name: row["value"] for name, row in rows.items()}


def test_file_of_the_project_says_how_values_of_its_classes_are_shown(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "presenters.py"
    file.write_text(FILE)
    peer = at_stop(start(PROGRAM), str(file))
    rows = peer.locals()
    assert (rows["money"]["value"], rows["tip"]["value"]) == ("3 EUR", "1 USD")
    assert (rows["monies"]["value"], peer.value("money")) == ("[3 EUR, 1 USD]", "3 EUR")
    money = children(peer, rows["money"])
    assert texts(money) == {"amount": "3", "doubled": "6", "rate()": "", "plain view": ""}
    assert (money["amount"]["evaluateName"], money["rate()"]["evaluateName"]) == ("money.amount", "money.rate()")
    assert "evaluateName" not in money["doubled"]
    assert "readOnly" in money["doubled"]["presentationHint"]["attributes"]
    assert texts(children(peer, money["plain view"])) == {"amount": "3", "currency": "'EUR'", "private variables": ""}
    assert peer.value("asked") == "[]"
    assert money["rate()"]["presentationHint"]["lazy"]
    assert [row["value"] for row in peer.rows(money["rate()"]["variablesReference"])] == ["1.5"]
    assert peer.value("asked") == "[3 EUR]"
    peer.ask("setVariable", variablesReference=rows["money"]["variablesReference"], name="amount", value="4")
    assert peer.value("money") == "4 EUR"
    assert texts(children(peer, rows["route"])) == {"plain view": "", "[0]": "'A'", "[1]": "'B'"}
    assert rows["named"]["value"] == "1 names"
    assert texts(children(peer, rows["named"])) == {"'a'": "1"}

    # What fails is shown as without it, and says why.
    assert rows["failing"]["value"].startswith("<__main__.Failing object at ")
    assert texts(children(peer, rows["failing"])) == {
        "presenter of Failing": "<presenter of Failing raised ValueError: no>",
        "stored": "2",
    }
    # Not among the variables, where it would leave the others little time.
    slow = texts(children(peer, peer.ask("evaluate", expression="Slow()", frameId=peer.stack()[0]["id"])))
    assert (slow["presenter of Slow"], slow["stored"]) == ("<presenter of Slow timed out after 0.5 s>", "2")
    odd = texts(children(peer, rows["odd"]))
    assert "a presenter returns a text, a dict or list of the contents, or both" in odd["presenter of Odd"]
    assert peer.value("'presenters' in sys.modules or 'dapkit_presenters' in sys.modules") == "False"
    peer.go()
    assert peer.finish() == (0, "", "")


def test_program_says_it_itself_and_a_file_that_is_wrong_is_reported(start: Start, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("PRESENTERS = undefined\n")
    (tmp_path / "none.py").write_text("\n")
    (tmp_path / "right.py").write_text(FILE)
    missing = tmp_path / "missing.py"
    files = [str(tmp_path / name) for name in ("wrong.py", "none.py", "missing.py", "right.py")]
    peer = at_stop(start(PROGRAM, SOURCES), *files)
    rows = peer.locals()
    assert (rows["money"]["value"], rows["named"]["value"]) == ("by the program: 3", "1 names")
    assert texts(children(peer, rows["money"])) == {"amount": "3", "currency": "'EUR'", "private variables": ""}
    said = [peer.event("output")["output"] for _ in range(3)]
    wrong = "no presenters were taken from it"
    assert said == [
        f"{files[0]}: {wrong}: NameError: name 'undefined' is not defined\n",
        f"{files[1]}: {wrong}: TypeError: it defines no dict PRESENTERS with functions by the names of classes\n",
        f"{missing}: {wrong}: FileNotFoundError: [Errno 2] {os.strerror(2)}: '{missing}'\n",
    ]
