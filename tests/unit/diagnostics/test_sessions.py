"""What is asked of the hub, and what is found where there is none."""

from pathlib import Path

import pytest

from dapkit import hub
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where, live_sessions, record_of, snapshots


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "run"


def test_no_hub_is_started_to_look_for_sessions() -> None:
    where = Where("/project")
    assert snapshots(where) == []
    assert live_sessions(where).sessions == []
    with pytest.raises(DiagnosticsError, match="There is no session: no hub runs") as refused:
        record_of(where)
    assert refused.value.code == "no_session"
    assert hub.status() is None


def test_folder_that_cannot_be_used_is_an_error(folder: Path) -> None:
    folder.write_text("")
    with pytest.raises(DiagnosticsError) as refused:
        snapshots(Where("/project"))
    assert refused.value.code == "folder_refused"


def test_project_is_the_one_around_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop" / "inner").mkdir(parents=True)
    (tmp_path / "shop" / ".dapkit.toml").touch()
    monkeypatch.chdir(tmp_path / "shop" / "inner")
    assert Where.of().project == str(tmp_path / "shop")
    assert Where.of("..", "debug-1") == Where(str(tmp_path / "shop"), "debug-1")
