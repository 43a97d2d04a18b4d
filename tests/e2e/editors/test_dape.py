"""Emacs debugs a program by dape, with the configuration of its page: keys are typed, and its screen is read."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from e2e.editors.conftest import configuration, editor
from e2e.editors.transcripts import Message, Transcript
from e2e.python.listening_program import Listening
from screens import Terminal, terminal

WORKERS = """
    import multiprocessing

    def double(number):
        doubled = 2 * number
        print("doubled", doubled)

    if __name__ == "__main__":
        worker = multiprocessing.get_context("spawn").Process(target=double, args=[21])
        worker.start()
        worker.join()
"""
PREFIX = "\x18\x01"
"""What dape's keys begin with: C-x C-a."""


@pytest.fixture
def emacs(shop: Path, tmp_path: Path, editor_env: Mapping[str, str], transcript: Transcript) -> Iterator[Terminal]:
    """Emacs with the configuration of the page, but that the adapter writes a transcript."""
    init = tmp_path / "init.el"
    text = "".join(configuration("dape.md", "elisp", number) for number in range(3))
    init.write_text(text.replace('"dapkit.python"', f'"dapkit.python" "--transcript" "{transcript.file}"'))
    command: list[str | Path] = [editor("emacs"), "-Q", "--no-window-system", "--load", str(init), shop.name]
    with terminal(command, shop.parent, editor_env) as screen:
        screen.wait("(Python ElDoc)")
        yield screen


def go_to_line(screen: Terminal, number: int) -> None:
    screen.type(f"\x1bgg{number}\r")
    screen.wait_until(lambda: f" L{number} " in screen.text, f"the cursor is not in line {number}")


def leave(screen: Terminal) -> None:
    """End Emacs, which C-x C-c does with a question as long as an adapter is about to end."""
    screen.type("\x1b:(kill-emacs)\r")
    assert screen.wait_for_the_end() == 0


def refused(transcript: Transcript) -> list[Message]:
    """Return what was refused, but for what dape asks for in a moment, at a stop that has been left meanwhile.

    What it has asked and not waited for when it leaves is `cancelled`.
    """
    return [
        message
        for message in transcript.failed
        if message["command"] not in {"scopes", "variables", "stackTrace"} and message["message"] != "cancelled"
    ]


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.works_with("dape", "breakpoints, stack, variables, steps, evaluation, a terminal, the end of the program")
def test_dape_stops_shows_steps_evaluates_and_ends(emacs: Terminal, transcript: Transcript) -> None:
    go_to_line(emacs, 4)
    emacs.type(f"{PREFIX}b")
    emacs.wait("B         result += price")
    emacs.type(f"{PREFIX}d")
    emacs.wait("Run adapter:")
    emacs.type("dapkit\r")
    emacs.wait("[dape:MainThread stopped/breakpoint]")
    for shown in ("+ prices [1, 2, 3]", "  result 0 ", "=>total of shop.py:4", "2 <module> of shop.py:8", "B =>"):
        emacs.wait(shown)
    emacs.wait("y Excep Uncaught Exceptions")
    emacs.type(f"{PREFIX}x")
    emacs.wait("Evaluate:")
    emacs.type("result + 41\r")
    emacs.wait("\n41 ")
    emacs.type(f"{PREFIX}n")
    emacs.wait("[dape:MainThread stopped/step]")
    emacs.wait("  result 1 ")
    go_to_line(emacs, 4)
    emacs.type(f"{PREFIX}b")
    emacs.wait_until(lambda: "1 Break" not in emacs.text, "the breakpoint does not go away")
    emacs.type(f"{PREFIX}c")
    emacs.wait("* Exit code 0 *")
    emacs.wait("* Session terminated *")
    emacs.wait("sum 6")  # in the terminal
    assert refused(transcript) == []
    assert transcript.unanswered == []

    # Once more, with a session that is ended at a stop.
    emacs.type(f"{PREFIX}b")
    emacs.wait("B         result += price")
    emacs.type(f"{PREFIX}d")
    emacs.wait("Run adapter: dapkit")
    emacs.type("\r")
    emacs.wait("[dape:MainThread stopped/breakpoint]")
    emacs.type(f"{PREFIX}q")
    emacs.wait_until(lambda: "[dape:" not in emacs.text, "the session does not end")
    assert refused(transcript) == []
    leave(emacs)


@pytest.mark.timeout(300)
@pytest.mark.works_with("dape", "attaching to a program that listens, and leaving it")
def test_dape_attaches_to_a_program_that_listens(emacs: Terminal, waiting: Listening, transcript: Transcript) -> None:
    emacs.type(f"\x18\x06\x01\x0b{waiting.file}\r")
    emacs.wait("dapkit.listen()")
    go_to_line(emacs, 5)
    emacs.type(f"{PREFIX}b")
    emacs.wait("B print(")
    emacs.type(f"{PREFIX}d")
    emacs.wait("Run adapter:")
    emacs.type(f'dapkit-attach :connect (:host "127.0.0.1" :port {waiting.port})\r')
    emacs.wait("[dape:MainThread stopped/breakpoint]")
    emacs.wait("  count 41")
    emacs.type(f"{PREFIX}D")
    assert waiting.line() == "went on 41"
    assert waiting.process.wait() == 0
    assert refused(transcript) == []
    leave(emacs)


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.works_with("dape", "child processes in sessions of their own")
def test_dape_stops_in_a_child_process(emacs: Terminal, shop: Path) -> None:
    workers = shop.with_name("workers.py")
    workers.write_text(textwrap.dedent(WORKERS).lstrip())
    emacs.type(f"\x18\x06\x01\x0b{workers}\r")
    emacs.wait("def double")
    go_to_line(emacs, 4)
    emacs.type(f"{PREFIX}b")
    emacs.wait("B     doubled = 2")
    for ending in ("c", "q"):
        emacs.type(f"{PREFIX}d")
        emacs.wait("Run adapter:")
        emacs.type("dapkit\r" if ending == "c" else "\r")
        emacs.wait("[dape:MainThread stopped/breakpoint")
        emacs.wait("=>double of workers.py:4")
        emacs.wait("  number 21")
        emacs.type(f"{PREFIX}{ending}")
        emacs.wait_until(lambda: "[dape:" not in emacs.text, "the session does not end")
        if ending == "c":
            emacs.wait("* Process attached workers.py: SpawnProcess-1 *")
            emacs.wait("* Session terminated *")
            emacs.wait("doubled 42")
    leave(emacs)
