"""Clients of every convention, with a real adapter: what goes over the wire differs, the session does not."""

import json
import sys
from pathlib import Path
from typing import Any

from dapkit.client import BlockingSession, Session, introduction
from dapkit.protocol import changed

EXAMPLE = Path(__file__).parents[3] / "examples" / "mock_adapter"
PROGRAM = EXAMPLE / "shopping.md"


def test_session_is_the_same_whatever_the_client_said_of_itself(tmp_path: Path) -> None:
    transcript = tmp_path / "wire.jsonl"
    said = changed(
        introduction("mock"),
        client_id="odd",
        client_name="An odd editor",
        locale="de",
        lines_start_at1=False,
        columns_start_at1=False,
        path_format="uri",
        supports_variable_type=None,
    )
    session = Session.spawn([sys.executable, str(EXAMPLE)], introduction=said, transcript=transcript)
    with BlockingSession(session) as driven:
        driven.add_breakpoint(PROGRAM, 9)
        driven.launch({"program": str(PROGRAM)})
        stop = driven.next_stop()
        frame = driven.stack_trace(stop.thread_id).stack_frames[0]
        assert frame.source is not None
        assert (frame.line, frame.column, frame.source.path) == (9, 18, str(PROGRAM))
        [scope] = driven.scopes(frame.id).scopes
        assert {variable.type for variable in driven.variables(scope.variables_reference).variables} == {None}

    wire: list[dict[str, Any]] = [json.loads(line)["message"] for line in transcript.read_text().splitlines()]
    assert wire[0]["arguments"]["clientName"] == "An odd editor"
    asked = next(message for message in wire if message.get("command") == "setBreakpoints")["arguments"]
    assert asked["breakpoints"] == [{"line": 8}]
    assert asked["source"]["path"] == PROGRAM.as_uri()
