"""Which process the program of a session is."""

import os
import subprocess
import sys
from typing import Any

import pytest

from dapkit.agent.results.diagnostics import RecordResult, SessionConfiguration
from dapkit.diagnostics import programs
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where
from dapkit.protocol import changed
from unit.agent.samples import ANYWHERE


def attached(monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]) -> None:
    """Have a session that was attached to so, whose adapter reports the number of this process."""
    snapshot = changed(ANYWHERE, status="running", process_id=os.getppid())
    record = RecordResult(
        snapshot=snapshot,
        project="/",
        created=0.0,
        ending="",
        configuration=SessionConfiguration(adapter="dapkit", command=[], request="attach", arguments=arguments),
        entries=[],
        dropped=0,
        output="",
    )
    monkeypatch.setattr(programs, "record_of", lambda _where: record)


@pytest.mark.parametrize("arguments", [{"connect": {"host": "10.0.0.7", "port": 5678}}, {"host": "box", "port": 1}])
def test_process_of_another_machine_is_not_looked_for_here(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    attached(monkeypatch, arguments)
    with pytest.raises(DiagnosticsError, match=r"runs on (10\.0\.0\.7|box)") as refused:
        programs.program_of(Where("/"))
    assert refused.value.code == "not_possible"


@pytest.mark.parametrize("arguments", [{}, {"connect": {"host": "127.0.0.1", "port": 5678}}, {"host": "localhost"}])
def test_process_of_this_machine_is_the_one_that_is_reported(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    attached(monkeypatch, arguments)
    assert programs.program_of(Where("/")).pid == os.getppid()


def test_program_is_python_by_the_name_of_its_file_where_memory_cannot_be_read() -> None:
    code = "import os; from dapkit.diagnostics.programs import language_of; print(language_of(os.getpid()))"
    env = {**os.environ, "DAPKIT_SYSTEM": "posix"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("python\n", "")
