"""Every setting: its default, its range, its meaning, and where its value comes from.

From weakest to strongest: the default, the user's file
(`$XDG_CONFIG_HOME/dapkit/config.toml`), the project's (`.dapkit.toml`), an
environment variable (`DAPKIT_REQUEST_TIMEOUT_SECONDS`). A value that is not fit
is reported with its place, and the next weaker one holds.

A project's file comes with a project, perhaps a stranger's. It can set options of its own sessions; it can set switches
that protect the user only to their careful position, and options of the hub itself not at all.
"""

import contextlib
import enum
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Self

from dapkit import limits
from dapkit.system.trusted_files import objection_to, read_file
from dapkit.system.user_folders import config_folder

USER_FILE = Path("dapkit", "config.toml")
PROJECT_FILE = ".dapkit.toml"


class FromProject(enum.Enum):
    """The effect that a project's own file may have on a setting."""

    SET = "yes"
    SWITCH_OFF = "only off"
    SWITCH_ON = "only on"
    NOTHING = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The purpose of a setting, and its possible values."""

    default: bool | float
    unit: str
    low: float = 0.0
    high: float = 0.0
    meaning: str
    from_project: FromProject


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting with its value, as `dapkit config` shows it.

    Attributes:
        origin: the file or the variable that the value is from; "default" if none.

    """

    name: str
    value: bool | float
    origin: str
    setting: Setting


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """A value that was not used.

    Attributes:
        place: file and key, or the variable.
        text: the value found, and the value expected.

    """

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def _switch(meaning: str, from_project: FromProject, *, default: bool) -> bool:
    setting = Setting(default=default, unit="on or off", meaning=meaning, from_project=from_project)
    return field(default=default, metadata={"setting": setting})


def _seconds(
    default: float, low: float, high: float, meaning: str, from_project: FromProject = FromProject.SET
) -> float:
    setting = Setting(default=default, unit="seconds", low=low, high=high, meaning=meaning, from_project=from_project)
    return field(default=default, metadata={"setting": setting})


def _days(default: float, low: float, high: float, meaning: str) -> float:
    setting = Setting(
        default=default, unit="days", low=low, high=high, meaning=meaning, from_project=FromProject.NOTHING
    )
    return field(default=default, metadata={"setting": setting})


def _bytes(default: int, low: int, high: int, meaning: str) -> int:
    setting = Setting(default=default, unit="bytes", low=low, high=high, meaning=meaning, from_project=FromProject.SET)
    return field(default=default, metadata={"setting": setting})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings as they hold for one caller.

    A setting `request.timeout_seconds` is the attribute `request_timeout_seconds` here.

    Attributes:
        origins: for each setting that is not the default, the file or variable it is from.
        problems: values that were not used.

    """

    debug_enabled: bool = _switch("Whether the debugger is offered at all.", FromProject.SWITCH_OFF, default=True)
    redact_enabled: bool = _switch("Whether likely secrets are left out.", FromProject.SWITCH_ON, default=True)
    request_timeout_seconds: float = _seconds(30.0, 5, 300, "How long an action waits for the program or the adapter.")
    adapter_ready_seconds: float = _seconds(10.0, 1, 120, "How long a debug adapter may take to start.")
    session_initial_stop_seconds: float = _seconds(5.0, 0, 60, "How long a launch waits for the first stop.")
    session_idle_seconds: float = _seconds(600.0, 1, 604800, "A session that is not used for this long is ended.")
    session_sweep_seconds: float = _seconds(
        30.0, 0.1, 3600, "Interval between checks for idle sessions.", FromProject.NOTHING
    )
    session_heartbeat_seconds: float = _seconds(
        5.0, 0.1, 3600, "Interval between checks that adapters are alive.", FromProject.NOTHING
    )
    hub_idle_seconds: float = _seconds(
        600.0, 1, 604800, "The hub ends after this long without callers and sessions.", FromProject.NOTHING
    )
    output_bytes: int = _bytes(131072, 1024, 67108864, "How much of a program's output is kept, of each category.")
    artifacts_days: float = _days(
        30.0, 0, 3650, "`clear-cache` removes files about a session that are older than this."
    )
    text_bytes: int = _bytes(8192, 1024, 1048576, "About how long the text of one answer may be.")
    origins: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[SettingProblem, ...] = ()

    @classmethod
    def load(cls, project: Path | None, *, environ: Mapping[str, str] | None = None) -> Self:
        """Read the settings for a project, or the settings without one.

        Nothing that is wrong in a file or variable raises.

        Args:
            project: the folder whose `.dapkit.toml` counts.
            environ: the environment variables to use; None: this process's. The folder of the user's files always
                depends on the variables of this process.

        """
        environ = os.environ if environ is None else environ
        values: dict[str, bool | float] = {}
        origins: dict[str, str] = {}
        problems: list[SettingProblem] = []
        for place, key, file_value, trusted in _found(project, environ, problems):
            setting = _SETTINGS.get(key)
            if setting is None:
                problems.append(SettingProblem(place, f"there is no setting {key}"))
                continue
            try:
                values[_attribute(key)] = _fit(setting, file_value, trusted=trusted)
                origins[key] = place
            except ValueError as error:
                problems.append(SettingProblem(place, str(error)))
        return cls(**values, origins=origins, problems=tuple(problems))  # type: ignore[arg-type] # fit for their fields

    def rows(self) -> list[SettingRow]:
        """List every setting with its value."""
        return [
            SettingRow(key, getattr(self, _attribute(key)), self.origins.get(key, "default"), setting)
            for key, setting in _SETTINGS.items()
        ]


_SETTINGS: dict[str, Setting] = {
    attribute.name.replace("_", ".", 1): attribute.metadata["setting"]
    for attribute in fields(Settings)
    if "setting" in attribute.metadata
}


def _attribute(key: str) -> str:
    return key.replace(".", "_")


def variable(key: str) -> str:
    """Return the environment variable that stands for a setting."""
    return "DAPKIT_" + key.replace(".", "_").upper()


def user_file() -> Path:
    """Return the path of the user's file."""
    return config_folder(os.environ) / USER_FILE


def _found(
    project: Path | None, environ: Mapping[str, str], problems: list[SettingProblem]
) -> Iterator[tuple[str, str, object, bool]]:
    """Yield place, key and value of everything that is set, the weakest first, and whether the user has set it."""
    files = [(user_file(), True)]
    if project is not None:
        files.append((project / PROJECT_FILE, False))
    for path, trusted in files:
        for key, value in _read(path, problems, trusted=trusted):
            yield f"{path}: {key}", key, value, trusted
    for key in _SETTINGS:
        if (text := environ.get(variable(key))) is not None:
            yield f"${variable(key)}", key, text, True


def _read(path: Path, problems: list[SettingProblem], *, trusted: bool) -> Iterator[tuple[str, object]]:
    """Yield the settings of a file; tables are the first part of a name.

    One of a project counts only if no stranger can have written it.
    """
    if not trusted and os.path.lexists(path) and (objection := objection_to(path)) is not None:
        problems.append(SettingProblem(str(path), f"is not read: {objection}"))
        return
    try:
        content = tomllib.loads(read_file(path, limits.CONFIGURATION_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        problems.append(SettingProblem(str(path), f"cannot be read: {error.strerror}"))
        return
    except ValueError as error:
        problems.append(SettingProblem(str(path), f"is not TOML: {error}"))
        return
    for table, inside in content.items():
        if isinstance(inside, dict):
            for name, value in inside.items():
                yield f"{table}.{name}", value
        else:
            yield table, inside


def _fit(setting: Setting, file_value: object, *, trusted: bool) -> bool | float:
    """Return the value of a setting that was found.

    Raises:
        ValueError: it is not fit.

    """
    value = _switched(file_value) if isinstance(setting.default, bool) else _number(setting, file_value)
    if not trusted:
        match setting.from_project:
            case FromProject.NOTHING:
                raise ValueError(f"expected in {user_file()} only: it concerns more than one project")
            case FromProject.SWITCH_OFF if value:
                raise ValueError("a project can only switch this off")
            case FromProject.SWITCH_ON if not value:
                raise ValueError("a project can only switch this on")
    return value


def _switched(value: object) -> bool:
    match value:
        case bool():
            return value
        case "1" | "true" | "on" | "yes":
            return True
        case "0" | "false" | "off" | "no":
            return False
    raise ValueError(f"expected true or false, found {value!r}")


def _number(setting: Setting, number: object) -> float:
    whole = isinstance(setting.default, int)
    value: float | None = None
    match number:
        case bool():
            pass
        case int() | float():
            value = number
        case str():  # of a variable
            with contextlib.suppress(ValueError):
                value = int(number) if whole else float(number)
    if value is None or (whole and not isinstance(value, int)) or not setting.low <= value <= setting.high:
        kind = "whole number" if whole else "number"
        expected = f"a {kind} of {setting.unit} from {setting.low:.9g} to {setting.high:.9g}"
        raise ValueError(f"expected {expected}, found {number!r}")
    return value
