"""The fenced blocks of README and the pages, and what a test does with each.

A block has a rule: that of its place in RULES, or the one of its language. What
cannot be tested is a reason there, so that nothing is left out silently.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

ROOT = Path(__file__).parents[3]

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}|:{3,})(?P<language>[^`\n]*)$")


class Check(Enum):
    """What is done with a block."""

    JSON = auto()  # it is JSON, one value or one a line
    WIRE = auto()  # a word, and a message of the protocol in JSON
    PROMPT = auto()  # a session at the prompt of Python, which doctest repeats
    CONSOLE = auto()  # commands and what they print
    COMMANDS = auto()  # commands that exist, with options that exist
    DEFINITIONS = auto()  # a file of adapters, without a mistake
    SETTINGS = auto()  # a file of settings, without a mistake
    ERRORS = auto()  # a tree of classes
    PROGRAM = auto()  # a program to debug, or one of the tutorial: it compiles, other tests run it
    TESTS = auto()  # tests of the adapter of the tutorial, which pass
    TOML = auto()  # a file in TOML of another program


@dataclass(frozen=True)
class Typed:
    """Python that mypy checks, below lines that give it what the page has introduced, and that may be run.

    Attributes:
        above: what stands above it; a last line that ends with a colon has the block as its body.
        files: what it is run beside, by name; None: it is not run.
        prints: what it prints then; None: it does not matter.
        name: the file that the page calls it, which other blocks find.

    """

    above: str = ""
    files: dict[str, str] | None = None
    prints: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """A block that no test looks at."""

    because: str


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str
    language: str
    number: int
    line: int
    text: str = field(repr=False)

    @property
    def rule(self) -> "Check | Typed | LeftOut | None":
        """What is done with it; None if there is no rule for it."""
        here = RULES.get((self.page, self.language))
        if here is not None:
            return here[self.number] if self.number < len(here) else None
        return DIRECTIVES if self.language.startswith("{") else LANGUAGES.get(self.language)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


COMMAND_LINES = LeftOut("command lines of programs of the reader, whose like other tests give")
DRAWING = LeftOut("a drawing")
BY_ITS_EDITOR = LeftOut("the tests of tests/e2e/editors give it to the editor")
DIRECTIVES = LeftOut("a directive of Sphinx, which `make docs` carries out")

LANGUAGES: dict[str, Check | Typed | LeftOut] = {
    "json": Check.JSON,
    "pycon": Check.PROMPT,
    "console": Check.CONSOLE,
    "sh": Check.COMMANDS,
    "rust": LeftOut("for Zed, which the tests do not have"),
    "lua": LeftOut("for Neovim, which the tests do not have"),
    "elisp": LeftOut("for Emacs, which the tests do not have"),
}

APP = """\
def price(items):
    total = 0
    for item in items:
        total += item["price"] * item.get("qty", 1)
    return total


print("start")
print(price([{"price": 3}, {"price": 4, "qty": 2}]))
"""
ADDING = {"program.py": "total = 0\nfor number in range(3):\n    total += number\nprint(total)\n"}
SHOP = {"shop.py": "def price(total):\n    return total\n\n\nprice(3)\nprice(-4)\n"}

CLIENT = "from dapkit.client import *\nfrom dapkit.protocol import *\n\n\n"
IN_SESSION = CLIENT + "async def fragment(session: Session, stop: Stopped) -> None:\n"
IN_ADAPTER = """\
from pathlib import Path

from dapkit.adapter import *
from dapkit.protocol import LaunchRequestArguments


class MyAdapter(Adapter[LaunchRequestArguments, NoAttach]):
    async def launch(self, args: LaunchRequestArguments) -> None: ...


"""
IN_PROXY = """\
from dapkit.endpoint import Role
from dapkit.protocol import AnyMessage
from dapkit.proxy import pass_messages
from dapkit.transport import spawn, stdio


def louder(message: AnyMessage, _sender: Role) -> AnyMessage:
    return message


async def fragment() -> None:
"""
IN_CATALOG = """\
from pathlib import Path

from dapkit.catalog import Catalog
from dapkit.client import Session


async def fragment(folder: Path, catalog: Catalog) -> None:
"""

RULES: dict[tuple[str, str], tuple[Check | Typed | LeftOut, ...]] = {
    ("ARCHITECTURE.md", "text"): (DRAWING,),
    ("README.md", "python"): (
        Check.PROGRAM,
        Typed(files={"app.py": APP}, prints="3\n"),
        Typed(),
    ),
    ("docs/explanation/conversation.md", "text"): (DRAWING,),
    ("docs/explanation/engine.md", "text"): (
        DRAWING,
        DRAWING,
        LeftOut("lines of a log, whose numbers are of one run"),
    ),
    ("docs/how-to/go-back-in-time.md", "python"): (Check.PROGRAM,),
    ("docs/how-to/debug-remote-programs.md", "text"): (
        LeftOut("a container, as tests of remote programs make one without Docker"),
        LeftOut("variables, which tests of the module set"),
        LeftOut("a certificate, as tests of remote programs have one, and a command that they give"),
        COMMAND_LINES,
    ),
    ("docs/how-to/debug-remote-programs.md", "json"): (Check.JSON, Check.JSON, Check.JSON),
    ("docs/how-to/debug-remote-programs.md", "python"): (Check.PROGRAM,),
    ("docs/how-to/debug-from-an-agent.md", "python"): (Check.PROGRAM,),
    ("docs/how-to/find-who-a-job-waits-for.md", "text"): (
        LeftOut("like the answer of the demo, which a test runs"),
        LeftOut("of PyTorch, like the answers in tests/e2e/cluster/test_collectives.py"),
        COMMAND_LINES,
        COMMAND_LINES,
    ),
    ("docs/how-to/find-who-a-job-waits-for.md", "python"): (LeftOut("of PyTorch, which is too large for the tests"),),
    ("docs/how-to/debug-ray-actors.md", "text"): (LeftOut("of a cluster like that of tests/e2e/cluster/test_ray.py"),),
    ("docs/how-to/debug-dask-tasks.md", "text"): (LeftOut("of a cluster like that of tests/e2e/cluster/test_dask.py"),),
    ("docs/how-to/debug-ranks.md", "text"): (LeftOut("of a job that the tests do not have"),),
    ("docs/how-to/debug-from-an-agent.md", "text"): (LeftOut("of a program that the tests do not have"),) * 2,
    ("docs/how-to/drive-a-debugger.md", "python"): (Typed(IN_SESSION),) * 7,
    ("docs/how-to/stand-between.md", "python"): (Typed(IN_PROXY),),
    ("docs/how-to/editors/dape.md", "elisp"): (BY_ITS_EDITOR,) * 3,
    ("docs/how-to/editors/helix.md", "toml"): (BY_ITS_EDITOR,),
    ("docs/how-to/editors/zed.md", "toml"): (Check.TOML,),
    ("docs/how-to/put-an-adapter-in-an-editor.md", "python"): (Typed(files={"package.json": "{}"}, prints=""),),
    ("docs/how-to/put-an-adapter-in-an-editor.md", "toml"): (Check.DEFINITIONS, Check.TOML),
    ("docs/how-to/run-a-blocking-engine.md", "python"): (
        Typed(name="blocking.py"),
        Typed(),
        Typed(files={}, prints="<answer>\n0\n1\n2\n\n"),
    ),
    ("docs/how-to/show-your-values.md", "python"): (Check.PROGRAM, Check.PROGRAM),
    ("docs/how-to/show-your-values.md", "toml"): (Check.TOML,),
    ("docs/how-to/test-an-adapter.md", "python"): (Check.TESTS, Check.TESTS),
    ("docs/reference/adapter.md", "python"): (Typed(IN_ADAPTER),),
    ("docs/reference/adapter.md", "text"): (Check.ERRORS,),
    ("docs/reference/agent.md", "python"): (Typed(),),
    ("docs/reference/catalog.md", "python"): (Typed("async def fragment() -> None:\n", ADDING), Typed(IN_CATALOG)),
    ("docs/reference/catalog.md", "toml"): (Check.DEFINITIONS, Check.DEFINITIONS),
    ("docs/reference/client.md", "text"): (Check.ERRORS,),
    ("docs/reference/diagnostics.md", "python"): (Typed(),),
    ("docs/reference/hub.md", "python"): (Typed(),),
    ("docs/reference/hub.md", "text"): (DRAWING,),
    ("docs/reference/python.md", "python"): (Typed(CLIENT + "async def fragment() -> None:\n", ADDING, ""),),
    ("docs/reference/python/attach.md", "python"): (Typed(),),
    ("docs/reference/python/attach.md", "text"): (COMMAND_LINES, COMMAND_LINES, Check.WIRE),
    ("docs/reference/python/templates.md", "text"): (
        LeftOut("a template with a mark, whose like tests of templates stop in"),
    ),
    ("docs/how-to/debug-a-failed-ci-run.md", "yaml"): (
        LeftOut(
            "a step of GitHub Actions; tests/e2e/python/test_recorded_processes.py runs the commands of the action"
        ),
    ),
    ("docs/how-to/record-a-program.md", "text"): (
        LeftOut("variables with which tests/e2e/python/test_recorded_processes.py runs programs"),
    ),
    ("docs/reference/python/recordings.md", "text"): (
        LeftOut("variables with which tests/e2e/python/test_recorded_processes.py runs programs"),
        LeftOut("a line that tests/e2e/python/test_pytest_plugin.py reads"),
    ),
    ("docs/reference/python/time-travel.md", "text"): (
        LeftOut("a picture, whose like is in tests/unit/agent/golden"),
        LeftOut("an answer, whose like is in tests/unit/agent/golden"),
        LeftOut("an answer, whose like is in tests/unit/agent/golden"),
    ),
    ("docs/reference/sessions.md", "python"): (Typed(files=SHOP, prints="-4\n"),),
    ("docs/reference/sessions.md", "text"): (LeftOut("a message, which tests of references expect"),),
    ("docs/reference/settings.md", "toml"): (Check.SETTINGS,),
    ("docs/tutorial/write-an-adapter.md", "toml"): (Check.DEFINITIONS,),
    ("docs/tutorial/write-an-adapter.md", "python"): (
        Typed(),
        Check.PROGRAM,
        Typed(name="countdown.py"),
        Check.PROGRAM,
    ),
}


def all_blocks() -> list[Block]:
    """Return the blocks of README and the other pages beside it, and of all pages of the documentation."""
    pages = [*ROOT.glob("*.md"), *(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)]
    return [block for page in sorted(pages) for block in _blocks(page)]


def _blocks(page: Path) -> Iterator[Block]:
    name, counts = page.relative_to(ROOT).as_posix(), dict[str, int]()
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for line, text in lines:
        begin = _FENCE.match(text)
        if begin is None:
            continue
        inside = []
        for _, text_inside in lines:
            if text_inside.strip() == begin["fence"]:
                break
            inside.append(text_inside.removeprefix(begin["indent"]))
        language = begin["language"].strip().partition(" ")[0]
        number = counts[language] = counts.get(language, -1) + 1
        yield Block(name, language, number, line, "\n".join([*inside, ""]))
