import os
import stat
from pathlib import Path

import pytest

from dapkit.python.debuggee.connection import tokens
from dapkit.transport import (
    LOOPBACK,
    NotPrivate,
    check_private_folder,
    left_token,
    new_token,
    private_folder,
    read_token,
    token_file,
    token_left_for,
)

needs_root = pytest.mark.usefixtures("root")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_is_made_in_the_runtime_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert private_folder() == tmp_path / "dapkit"
    assert mode(tmp_path / "dapkit") == 0o700
    assert private_folder() == tmp_path / "dapkit"


def test_folder_is_private_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    before = os.umask(0)
    try:
        assert mode(private_folder()) == 0o700
    finally:
        os.umask(before)


def test_folder_open_to_others_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    with pytest.raises(NotPrivate, match=r"is open to others \(mode 0750\): chmod it to 0700"):
        check_private_folder(tmp_path)


def test_folder_below_one_where_everybody_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open/mine").mkdir(parents=True, mode=0o700)
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(NotPrivate, match=f"everybody can write to {tmp_path}/open"):
        check_private_folder(tmp_path / "open/mine")
    (tmp_path / "open").chmod(0o1777)
    check_private_folder(tmp_path / "open/mine")


def test_link_to_a_private_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    check_private_folder(tmp_path / "folder")
    with pytest.raises(NotPrivate, match="link to one"):
        check_private_folder(tmp_path / "link")


@needs_root
def test_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(NotPrivate, match="belongs to user 65534, expected user 0"):
        check_private_folder(tmp_path)


def test_token_file_of_ours_alone_is_read(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(mode=0o600)
    path.write_text("secret\n")
    assert read_token(path) == "secret"


def test_token_file_open_to_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("secret")
    path.chmod(0o640)
    with pytest.raises(NotPrivate, match=r"is open to others \(mode 0640\): chmod it to 0600") as refusal:
        read_token(path)
    assert "secret" not in str(refusal.value)


@needs_root
def test_token_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch(mode=0o600)
    os.chown(path, 65534, 65534)
    with pytest.raises(NotPrivate, match="belongs to user 65534"):
        read_token(path)


def test_token_is_not_waited_for_at_a_named_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token", 0o600)
    with pytest.raises(NotPrivate, match="is not a regular file"):
        read_token(tmp_path / "token")


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"])
def test_file_without_a_token_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.touch(mode=0o600)
    path.write_bytes(content)
    with pytest.raises(NotPrivate, match="holds no token"):
        read_token(path)


def test_tokens_are_long_and_all_different() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 43 for token in tokens)


def test_token_of_a_port_is_there_for_a_while_and_for_ourselves_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with left_token("secret", 5) as file:
        assert (file, mode(file)) == (token_file(5), 0o600)
        assert read_token(file) == "secret"
    assert not file.exists()


def test_two_that_listen_at_one_port_of_two_addresses_have_a_token_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with left_token("first", 5):
        with left_token("second", 5, "::1"):
            assert (token_left_for("127.0.0.1", 5), token_left_for("::1", 5)) == ("first", "second")
        assert (token_left_for("localhost", 5), token_left_for("::1", 5)) == ("first", None)
    with left_token("everywhere", 5, "0.0.0.0"):  # noqa: S104 - the test listens nowhere
        assert token_left_for("127.0.0.1", 5) == "everywhere"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "::", "0.0.0.0", "127.0.0.2"])  # noqa: S104 - the same
def test_engine_and_adapter_find_the_token_that_the_other_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with left_token("adapter", 5, host) as file:
        assert tokens.find((host, 5), [str(file.parent)]) == "adapter"
        path, handle = tokens.leave("engine", (host, 6), str(file.parent))
        try:
            assert Path(path) == token_file(6, host)
            assert token_left_for(host, 6) == ("engine" if host in LOOPBACK else None)
        finally:
            os.close(handle)


@pytest.mark.parametrize(("host", "port", "found"), [("localhost", 5, "secret"), ("other", 5, None), ("::1", 6, None)])
def test_token_that_was_left_is_found_for_its_port_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, port: int, found: str | None
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with left_token("secret", 5):
        assert token_left_for(host, port) == found


def test_token_that_a_killed_process_has_left_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    dead = token_file(5)
    dead.touch(0o600)
    dead.write_text("left")
    assert token_left_for("127.0.0.1", 5) is None


def test_tokens_of_those_that_were_killed_go_with_the_next_one_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    dead = token_file(1)
    dead.write_text("of a process that was killed")
    with left_token("secret", 2) as living, left_token("other", 3):
        assert read_token(living) == "secret"
        assert not dead.exists()
