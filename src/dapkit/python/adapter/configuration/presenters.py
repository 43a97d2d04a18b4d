"""Files of a project that say how values of its classes are shown: which a program is debugged with.

They are the files of `presenters` in `[tool.dapkit]` of the nearest `pyproject.toml` above the program's working
folder, unless the configuration names others. These files are code that runs in the program, so they and the file that
names them must not be writable for other users.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dapkit import limits
from dapkit.system.trusted_files import objection_to, read_file

PROJECT_FILE = "pyproject.toml"


class PresenterFiles(NamedTuple):
    """The files, by their full paths, and the faults of others, one sentence for each."""

    paths: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def presenter_files(files: Sequence[str] | None, cwd: Path) -> PresenterFiles:
    """Return the files that a configuration names, or else the files of the project around a folder."""
    if files is not None:
        return PresenterFiles(tuple(str(cwd / Path(name).expanduser()) for name in files))
    project_file = next((file for folder in (cwd, *cwd.parents) if (file := folder / PROJECT_FILE).is_file()), None)
    return PresenterFiles() if project_file is None else _of_project(project_file)


def _settings(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text).get("tool", {}).get("dapkit", {})  # type: ignore[no-any-return]  # or another error


def _of_project(file: Path) -> PresenterFiles:
    try:
        text = read_file(file, limits.CONFIGURATION_BYTES).decode()
        names = _settings(text).get("presenters", []) if "tool.dapkit" in text else []
    except (OSError, ValueError, AttributeError):  # other tools report its faults
        return PresenterFiles()
    if not names:
        return PresenterFiles()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return PresenterFiles(problems=(f"{file}: tool.dapkit.presenters is {names!r:.80}, expected a list of paths",))
    paths = [str(file.parent / name) for name in names]
    objections = {path: objection_to(path) for path in (str(file), *paths)}
    if (objection := objections[str(file)]) is not None:
        return PresenterFiles(problems=(f"the presenters of {file} are not used: {objection}",))
    return PresenterFiles(
        tuple(path for path in paths if objections[path] is None),
        tuple(f"presenters {path} are not used: {objections[path]}" for path in paths if objections[path] is not None),
    )
