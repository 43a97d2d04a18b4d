"""Helix debugs a program with the configuration of its page: keys are typed, and its screen is read."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from e2e.editors.conftest import configuration, editor
from e2e.editors.transcripts import Transcript
from e2e.python.listening_program import Listening
from screens import Terminal, terminal

ESCAPE = "\x1b"
MENU = "Debug (experimental)"


class Helix:
    """Helix with a file open."""

    def __init__(self, screen: Terminal) -> None:
        self.screen = screen

    def debug(self, key: str) -> None:
        """Press a key of the menu for debugging."""
        self.screen.type(" G")
        self.screen.wait(MENU)
        self.screen.type(key)

    def close_menu(self) -> None:
        """Leave the menu, and what covers it; an escape has to arrive alone, else it is the key Alt."""
        while MENU in self.screen.text:
            self.screen.type(ESCAPE)
            self.screen.wait_for_a_change()

    def command(self, text: str) -> None:
        """Give a command."""
        self.screen.type(f":{text}\r")


@pytest.fixture
def helix(shop: Path, editor_env: Mapping[str, str], transcript: Transcript) -> Iterator[Helix]:
    """Helix with the configuration of its page, but that the adapter writes a transcript."""
    text = configuration("helix.md", "toml")
    folder = Path(editor_env["XDG_CONFIG_HOME"]) / "helix"
    folder.mkdir(parents=True)
    changed = text.replace('"dapkit.python"', f'"dapkit.python", "--transcript", "{transcript.file}"')
    (folder / "languages.toml").write_text(changed)
    with terminal([editor("hx"), shop.name], shop.parent, editor_env) as screen:
        screen.wait("def total")
        yield Helix(screen)


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.works_with("Helix", "breakpoints, stack, variables, steps, evaluation, the end of the program")
def test_helix_stops_shows_steps_evaluates_and_ends(helix: Helix, transcript: Transcript) -> None:
    screen = helix.screen
    screen.type("4gg")
    helix.debug("b")
    helix.close_menu()
    helix.debug("l")
    screen.wait("> This file")
    screen.type("\r")
    screen.wait("program:")
    screen.type("shop.py\r")
    screen.wait("Thread 1 stopped because of breakpoint")
    helix.close_menu()
    helix.debug("v")
    shown = screen.wait("Locals")
    assert all(row in shown for row in ("prices: list = [1, 2, 3]", "result: int = 0", "price: int = 1"))
    helix.close_menu()
    helix.command("debug-eval result + 40 + 2")
    screen.wait("42")
    helix.debug("n")
    screen.wait("Thread 1 stopped because of step")
    helix.close_menu()
    helix.debug("v")
    screen.wait("result: int = 1")
    helix.close_menu()
    screen.type("4gg")
    helix.debug("b")
    helix.close_menu()
    helix.debug("c")
    screen.wait("Terminated debugging session and disconnected debugger.")
    helix.close_menu()
    assert transcript.failed == []
    assert transcript.unanswered == []
    assert "".join(event["output"] for event in transcript.events("output")) == "sum 6\ndone\n"

    # Once more, with an editor that is left in the middle of it.
    helix.debug("b")
    helix.close_menu()
    helix.command("debug-start 'This file' shop.py")
    screen.wait("Thread 1 stopped because of breakpoint")
    helix.command("q")
    assert screen.wait_for_the_end() == 0


@pytest.mark.timeout(300)
@pytest.mark.works_with("Helix", "attaching to a program that listens")
def test_helix_attaches_to_a_program_that_listens(helix: Helix, waiting: Listening, transcript: Transcript) -> None:
    screen = helix.screen
    helix.command(f"open {waiting.file.name}")
    screen.wait("dapkit.listen()")
    screen.type("5gg")
    helix.debug("b")
    helix.close_menu()
    helix.command(f"debug-start 'Listening program' {waiting.port}")
    screen.wait("Thread 1 stopped because of breakpoint")
    helix.command("debug-eval count + 1")
    screen.wait("42")
    helix.debug("t")
    assert waiting.line() == "went on 41"
    assert waiting.process.wait() == 0
    helix.close_menu()
    assert transcript.failed == []
    helix.command("q")
    assert screen.wait_for_the_end() == 0
