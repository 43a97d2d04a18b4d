"""The adapter for text files, driven as an editor drives it."""

import sys
from pathlib import Path

from dapkit.client import BlockingSession, Session

LINE_ADAPTER = Path(__file__).parents[3] / "examples" / "line_adapter" / "line_adapter.py"


def test_text_file_is_stepped_through(tmp_path: Path) -> None:
    program = tmp_path / "text.txt"
    program.write_text("one\ntwo\nthree\nfour\n")
    with BlockingSession(Session.spawn([sys.executable, str(LINE_ADAPTER)])) as session:
        session.add_breakpoint(program, 3)
        session.launch({"program": str(program), "stopOnEntry": True})
        assert session.next_stop().event.reason == "entry"
        session.next(1)
        assert session.next_stop().event.reason == "step"
        assert session.stack_trace(1).stack_frames[0].line == 2
        session.continue_(1)
        assert session.next_stop().event.reason == "breakpoint"
        [frame] = session.stack_trace(1).stack_frames
        [scope] = session.scopes(frame.id).scopes
        shown = session.variables(scope.variables_reference).variables
        assert [(it.name, it.value) for it in shown] == [("line", "3"), ("text", "'three'")]
        assert session.evaluate("text", frame_id=frame.id).result == "'three'"
        session.step_out(1)
        assert session.wait_until_ended().exit_code == 0
        assert session.output.read("stdout").text == "one\ntwo\nthree\nfour\n"
        assert session.violations == ()
