import pytest

from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.profiling import profile_recording
from dapkit.diagnostics.programs import Program
from unit.agent.samples import RUNNING


def test_profiles_are_refused_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_recording, "IS_WINDOWS", True)
    with pytest.raises(DiagnosticsError, match="need Linux or macOS"):
        profile_recording.recorder_for(Program(4711, "python", RUNNING, "/project", 0.0))
