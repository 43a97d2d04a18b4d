"""Old folders of sessions: which may go, and what becomes of them."""

import os
import threading
import time
from pathlib import Path

import pytest

from dapkit.agent.results.diagnostics import LiveSession, LiveSessions
from dapkit.diagnostics import cache
from dapkit.diagnostics.artifacts import session_folder
from dapkit.diagnostics.errors import DiagnosticsError
from dapkit.diagnostics.sessions import Where

DAY = 24 * 3600
WHERE = Where("/shop")


@pytest.fixture(autouse=True)
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[LiveSession]:
    monkeypatch.setenv("DAPKIT_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    sessions: list[LiveSession] = []
    monkeypatch.setattr(cache, "live_sessions", lambda _where: LiveSessions(sessions=sessions))
    return sessions


def made(name: str, days: float, *, project: str = "/shop", created: float = 0.0) -> Path:
    """Make a folder whose one file, and which itself, were changed so many days ago."""
    folder = session_folder(project, name, created)
    (folder / "wire.jsonl").write_text("12345678")
    changed = time.time() - days * DAY
    for path in (folder / "wire.jsonl", folder):
        os.utime(path, (changed, changed))
    return folder


def names(old: cache.OldFolders) -> list[str]:
    return [folder.path.name.partition("-1970")[0] for folder in old.folders]


def test_folders_of_all_projects_that_are_older_are_listed_the_oldest_first() -> None:
    for name, days, project in (("a", 31, "/shop"), ("b", 29, "/shop"), ("c", 300, "/other")):
        made(name, days, project=project)
    old = cache.old_folders(WHERE, days=30)
    assert names(old) == ["c", "a"]
    assert old.size == 16
    assert "c-19700101-000000  300 days" in old.as_text()


def test_folder_is_as_old_as_the_newest_thing_in_it() -> None:
    folder = made("a", 40)
    (folder / "inner").mkdir()
    os.utime(folder, (0, 0))
    assert names(cache.old_folders(WHERE, days=30)) == []


def test_session_that_lives_keeps_its_folder_however_old_it_is(live: list[LiveSession]) -> None:
    made("a", 90, created=1000.0)
    live.append(LiveSession(project="/shop", session="a", created=1000.0))
    assert names(cache.old_folders(WHERE, days=30)) == []


def test_session_that_began_after_the_list_was_made_keeps_its_folder(live: list[LiveSession]) -> None:
    folder = made("a", 90, created=1000.0)
    old = cache.old_folders(WHERE, days=30)
    live.append(LiveSession(project="/shop", session="a", created=1000.0))
    removal = cache.remove(WHERE, old)
    assert (removal.removed, [line.partition(": ")[2] for line in removal.failed]) == ([], ["it was used since"])
    assert folder.exists()


def test_folder_that_was_written_to_after_the_list_was_made_stays() -> None:
    folder = made("a", 90)
    old = cache.old_folders(WHERE, days=30)
    (folder / "new").touch()
    assert cache.remove(WHERE, old).removed == []
    assert (folder / "new").exists()


def test_removed_folders_are_counted_and_an_empty_project_goes_with_them() -> None:
    folder = made("a", 90)
    other = made("b", 10)
    made("c", 90, project="/other")
    removal = cache.remove(WHERE, cache.old_folders(WHERE, days=30))
    assert (len(removal.removed), removal.size, removal.failed) == (2, 16, [])
    assert removal.as_text() == "2 folders removed, 0 KiB."
    assert not folder.exists()
    assert [path.name for path in folder.parent.parent.iterdir()] == [other.parent.name]


def test_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    folder = made("a", 90)
    (folder.parent / "link").symlink_to(outside)
    (folder / "link").symlink_to(outside)
    os.utime(folder / "link", (0, 0), follow_symlinks=False)
    os.utime(folder, (0, 0))
    assert names(cache.old_folders(WHERE, days=30)) == ["a"]
    cache.remove(WHERE, cache.old_folders(WHERE, days=30))
    assert not folder.exists()
    assert (outside / "file").exists()


def test_end_before_the_last_folder_says_what_is_left() -> None:
    folder = made("a", 90)
    stop = threading.Event()
    stop.set()
    removal = cache.remove(WHERE, cache.old_folders(WHERE, days=30), stop=stop)
    assert (removal.removed, removal.failed) == ([], ["1 folder: ended early"])
    assert folder.exists()


def test_nothing_old_is_a_sentence() -> None:
    made("a", 1)
    text = cache.old_folders(WHERE, days=30).as_text()
    assert text.startswith("Nothing in ")
    assert text.endswith(" is older than 30 days.")


def test_nothing_is_listed_where_it_cannot_be_known_which_sessions_live(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_where: Where) -> LiveSessions:
        raise DiagnosticsError("hub_silent", "The hub does not answer.")

    made("a", 90)
    monkeypatch.setattr(cache, "live_sessions", fail)
    with pytest.raises(DiagnosticsError, match="does not answer"):
        cache.old_folders(WHERE, days=30)
