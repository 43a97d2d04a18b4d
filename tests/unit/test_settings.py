import os
from pathlib import Path

import pytest

from dapkit.settings import SettingProblem, SettingRow, Settings, user_file, variable


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's file, which does not exist yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    user_file().parent.mkdir(parents=True)
    return user_file()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def load(project: Path | None = None, **environ: str) -> Settings:
    return Settings.load(project, environ=environ)


def test_file_that_a_stranger_can_have_written_is_named_and_not_read(project: Path) -> None:
    file = project / ".dapkit.toml"
    file.write_text("output.bytes = 5000\n")
    file.chmod(0o666)
    problem = SettingProblem(str(file), f"is not read: everybody can write to {file}")
    assert load(project) == Settings(problems=(problem,))


@pytest.mark.parametrize("kind", ["named pipe", "device", "huge"])
def test_file_that_is_none_is_not_waited_for(project: Path, kind: str) -> None:
    file = project / ".dapkit.toml"
    match kind:
        case "named pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case _:
            file.touch()
            os.truncate(file, 1 << 40)
    (problem,) = load(project).problems
    assert problem.place == str(file)
    assert problem.text.startswith("is not read: " if kind == "device" else "cannot be read: it is ")


def test_defaults_hold_where_nothing_is_set(project: Path) -> None:
    settings = load(project)
    assert settings == Settings()
    assert {row.origin for row in settings.rows()} == {"default"}


def test_project_outdoes_the_user_and_a_variable_both(user: Path, project: Path) -> None:
    user.write_text("[request]\ntimeout_seconds = 10\n[output]\nbytes = 4096\n[text]\nbytes = 2000\n")
    (project / ".dapkit.toml").write_text("request.timeout_seconds = 20\noutput.bytes = 5000\n")
    settings = load(project, DAPKIT_REQUEST_TIMEOUT_SECONDS="40")
    assert (settings.request_timeout_seconds, settings.output_bytes, settings.text_bytes) == (40, 5000, 2000)
    assert settings.origins == {
        "request.timeout_seconds": "$DAPKIT_REQUEST_TIMEOUT_SECONDS",
        "output.bytes": f"{project}/.dapkit.toml: output.bytes",
        "text.bytes": f"{user}: text.bytes",
    }
    assert settings.problems == ()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("request.timeout_seconds = 1000", "expected a number of seconds from 5 to 300, found 1000"),
        ("request.timeout_seconds = '10s'", "expected a number of seconds from 5 to 300, found '10s'"),
        ("request.timeout_seconds = true", "expected a number of seconds from 5 to 300, found True"),
        ("request.timeout_seconds = nan", "expected a number of seconds from 5 to 300, found nan"),
        ("output.bytes = 5000.5", "expected a whole number of bytes from 1024 to 67108864, found 5000.5"),
        ("debug.enabled = 'perhaps'", "expected true or false, found 'perhaps'"),
        ("request.patience = 3", "there is no setting request.patience"),
    ],
)
def test_value_that_is_not_fit_is_reported_with_its_place(user: Path, line: str, text: str) -> None:
    user.write_text(line)
    settings = load()
    assert settings.problems == (SettingProblem(f"{user}: {line.partition(' ')[0]}", text),)
    assert settings == Settings(problems=settings.problems)


def test_value_that_is_not_fit_leaves_the_weaker_one(user: Path, project: Path) -> None:
    user.write_text("request.timeout_seconds = 10")
    (project / ".dapkit.toml").write_text("request.timeout_seconds = 'long'")
    settings = load(project)
    assert settings.request_timeout_seconds == 10
    assert len(settings.problems) == 1


def test_file_that_is_no_toml_is_reported_and_the_rest_holds(user: Path, project: Path) -> None:
    user.write_text("[request\n")
    (project / ".dapkit.toml").write_text("request.timeout_seconds = 20")
    settings = load(project)
    assert settings.request_timeout_seconds == 20
    assert str(settings.problems[0]).startswith(f"{user}: is not TOML: ")


def test_file_that_cannot_be_read_is_reported(user: Path) -> None:
    user.mkdir()
    assert load().problems == (SettingProblem(str(user), "cannot be read: it is a folder, expected a regular file"),)


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("debug.enabled = false", True),
        ("debug.enabled = true", False),
        ("redact.enabled = true", True),
        ("redact.enabled = false", False),
        ("hub.idle_seconds = 5", False),
    ],
)
def test_project_cannot_loosen_what_protects_the_user(project: Path, line: str, *, used: bool) -> None:
    (project / ".dapkit.toml").write_text(line)
    settings = load(project)
    assert bool(settings.origins) is used
    assert bool(settings.problems) is not used


@pytest.mark.parametrize(("text", "value"), [("0", False), ("off", False), ("true", True), ("yes", True)])
def test_switch_is_set_by_a_variable(text: str, *, value: bool) -> None:
    assert load(DAPKIT_DEBUG_ENABLED=text).debug_enabled is value


def test_every_setting_has_a_row_and_a_variable() -> None:
    rows = load().rows()
    assert [row.name for row in rows][:3] == ["debug.enabled", "redact.enabled", "request.timeout_seconds"]
    assert all(row.setting.meaning.endswith(".") for row in rows)
    environ = {variable(row.name): str(row.value).lower() for row in rows}
    settings = Settings.load(None, environ=environ)
    assert settings.problems == ()
    assert len(settings.origins) == len(rows)


def as_in_the_reference(row: SettingRow) -> str:
    setting = row.setting
    if isinstance(row.value, bool):
        value, extent = str(row.value).lower(), ""
    else:
        value, extent = f"{row.value:.9g}", f"{setting.low:.9g} to {setting.high:.9g} {setting.unit}"
    return f"| `{row.name}` | {value} | {extent} | {setting.from_project.value} | {setting.meaning} |"


def test_reference_lists_every_setting_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
    listed = [line for line in page.read_text().splitlines() if line.startswith("| `")]
    assert listed == [as_in_the_reference(row) for row in Settings().rows()]
