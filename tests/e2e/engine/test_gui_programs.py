"""Programs with windows: stops in what an event loop calls, and windows that stay alive meanwhile."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from e2e.engine.engine_client import EngineClient
from missing import missing

pytestmark = pytest.mark.row("setBreakpoints")

QT = """
    from PySide6.QtCore import QObject, QThread, QTimer, Signal
    from PySide6.QtWidgets import QApplication, QPushButton
    class Worker(QThread):
        def run(self):
            self.answer = 42         # in the thread
    class Model(QObject):
        changed = Signal(int)
    beats = 0
    def beat():
        global beats
        beats += 1
    def clicked():
        text = "clicked"             # in the slot
        timer.stop()
        model.changed.emit(7)
        print(text)
    def took(value):
        worker.start()               # called by the signal
    application = QApplication([])
    model, worker, button = Model(), Worker(), QPushButton("go")
    model.changed.connect(took)
    worker.finished.connect(lambda: QTimer.singleShot(0, wait))
    def wait():
        print("idle", flush=True)
    button.clicked.connect(clicked)
    button.show()
    timer = QTimer(); timer.timeout.connect(beat); timer.start(1)
    QTimer.singleShot(0, button.click)
    application.exec()
"""
TK = """
    import tkinter
    beats = 0
    def beat():
        global beats
        beats += 1
        root.after(1, beat)
    def clicked():
        text = "clicked"             # in the callback
        print(text)
        root.destroy()
    root = tkinter.Tk()
    button = tkinter.Button(root, text="go", command=clicked)
    button.pack()
    beat()
    root.after(1, button.invoke)
    root.mainloop()
"""

type Run = Callable[..., EngineClient]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Return what starts a program in the interpreter of the tests, with breakpoints where it has comments."""
    with ExitStack() as stack:

        def start(program: str, env: dict[str, str], **launch: Any) -> EngineClient:  # noqa: ANN401 - JSON
            (tmp_path / "prog.py").write_text(textwrap.dedent(program).lstrip())
            peer = stack.enter_context(EngineClient(sys.executable, tmp_path, "--program", "prog.py", env=env))
            lines = [n for n, text in enumerate(program.strip().splitlines(), 1) if "# " in text]
            peer.configure(lines=lines, **launch)
            return peer

        yield start


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    """Return the name of a display that nobody sees."""
    program = shutil.which("Xvfb")
    if program is None:
        missing("Xvfb is not installed")
    read, write = os.pipe()
    command = [program, "-displayfd", str(write), "-screen", "0", "200x200x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL, cwd=tmp_path) as server:
        os.close(write)
        with os.fdopen(read) as ready:
            yield f":{ready.readline().strip()}"
        server.send_signal(signal.SIGTERM)


def wait_until_more(peer: EngineClient, expression: str) -> None:
    before = peer.value(expression)
    while peer.value(expression) == before:
        continue


@pytest.mark.works_with("Qt", "slots and signals, steps, QThread, pause while the loop is idle, `guiEventLoop`")
def test_stops_in_slots_and_threads_of_qt_while_its_windows_are_served(run: Run) -> None:
    peer = run(QT, {"QT_QPA_PLATFORM": "offscreen"}, guiEventLoop="qt")
    peer.stopped("breakpoint")
    assert peer.at() == ("clicked", 13)
    wait_until_more(peer, "beats")  # by a timer of Qt, while the program is stopped
    assert [peer.step() for _ in range(2)] == [("clicked", 14), ("clicked", 15)]
    peer.go()
    peer.stopped("breakpoint")
    assert [frame["name"] for frame in peer.stack()[:2]] == ["took", "clicked"]
    peer.go()
    thread = peer.stopped("breakpoint")["threadId"]
    assert (thread != 1, peer.at(thread)) == (True, ("Worker.run", 5))
    peer.go(thread)
    assert peer.process.stdout is not None
    assert [peer.process.stdout.readline() for _ in range(2)] == [b"clicked\n", b"idle\n"]
    peer.wait_until_at(("<module>", 29))
    peer.ask("pause", threadId=1)
    peer.stopped("pause")
    assert peer.at() == ("<module> [native call]", 29)
    peer.go()
    peer.ask("terminate")
    peer.finish()


@pytest.mark.works_with("Tk", "callbacks, steps, `guiEventLoop`")
def test_stops_in_a_callback_of_tk_while_its_windows_are_served(run: Run, display: str) -> None:
    peer = run(TK, {"DISPLAY": display}, guiEventLoop="tk")
    peer.stopped("breakpoint")
    assert peer.at() == ("clicked", 8)
    wait_until_more(peer, "beats")
    assert peer.step() == ("clicked", 9)
    peer.go()
    assert peer.finish()[:2] == (0, "clicked\n")


LOOP = """
    import sys
    turns = 0
    def turn():
        global turns
        turns += 1
        if turns > 2 and asked: raise ValueError("no more turns")
    asked = False
    sys.modules["windows"] = sys.modules["__main__"]
    print("stopped")             # here
    print("end")
"""


def test_function_of_the_program_serves_its_windows_until_it_fails(run: Run) -> None:
    peer = run(LOOP, {}, guiEventLoop="windows.turn")
    peer.stopped("breakpoint")
    wait_until_more(peer, "turns")
    peer.ask("evaluate", expression="asked = True", context="repl", frameId=peer.stack()[0]["id"])
    assert "windows.turn failed, and is called no more: ValueError: no more turns" in said(peer)
    peer.go()
    assert peer.finish()[:2] == (0, "stopped\nend\n")


def test_toolkit_that_is_not_known_is_reported_and_nothing_else(run: Run) -> None:
    peer = run(LOOP, {}, guiEventLoop="wx")
    peer.stopped("breakpoint")
    assert "guiEventLoop: wx failed" in said(peer)
    assert peer.value("turns") == "0"
    peer.go()
    assert peer.finish()[:2] == (0, "stopped\nend\n")


def said(peer: EngineClient) -> str:
    while (output := peer.event("output"))["category"] != "stderr":
        continue
    text: str = output["output"]
    return text
