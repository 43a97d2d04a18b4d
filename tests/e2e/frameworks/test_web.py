"""Web programs of Flask, FastAPI and Django, each with its own server."""

from pathlib import Path

import pytest

from e2e.frameworks.conftest import Start
from e2e.frameworks.web_programs import DJANGO, FASTAPI, FLASK, Visit, WebProgram, port_of

WORKS = "breakpoints and steps in views; User Unhandled stops at an error of a view, not where it says 404"


@pytest.mark.each_python
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, marks=[pytest.mark.works_with(each.framework, WORKS), *marks], id=each.framework)
        for each, marks in ((FLASK, ()), (FASTAPI, [pytest.mark.thorough]), (DJANGO, [pytest.mark.thorough]))
    ],
)
def test_view_stops_at_breakpoints_and_errors_and_answers_afterwards(
    start: Start, tmp_path: Path, program: WebProgram
) -> None:
    file = tmp_path / program.file
    file.write_text(program.text)
    peer = start(*program.command)
    peer.configure(path=file, lines=[program.line("the view")], filters=["userUnhandled"])
    port = port_of(peer.process)
    visit = Visit(port, "21")
    thread = peer.stopped("breakpoint")["threadId"]
    assert peer.at(thread) == ("view", program.line("the view"))
    assert peer.value("n", thread=thread) == "21"
    assert peer.step("next", thread) == ("view", program.line("the view") + 1)
    assert peer.value("doubled", thread=thread) == "42"
    peer.go(thread)
    assert visit.answer() == "42"
    assert Visit(port, "gone").answer() == "404"
    visit = Visit(port, "fail")
    stop = peer.stopped("exception")
    assert (stop["text"], peer.at(stop["threadId"])) == ("ZeroDivisionError", ("fail", program.line("the error")))
    peer.go(stop["threadId"])
    assert visit.answer() in ("500", "Internal Server Error")
    peer.ask("terminate")
    peer.finish()
