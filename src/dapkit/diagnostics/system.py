"""The machine, the versions of all that takes part, and the environment, as a report of a fault needs them.

A fact that cannot be found out is left out; it is never an error.
"""

import contextlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dapkit import __version__, catalog, hub
from dapkit.agent.text.escaping import one_line
from dapkit.catalog.tabulation import aligned, indented
from dapkit.catalog.versions import version_told
from dapkit.diagnostics import limits
from dapkit.diagnostics.sessions import OnProgress, Where
from dapkit.redaction.redaction import Redaction, TextKind
from dapkit.system.selection import IS_WINDOWS, LINUX, NAME
from dapkit.system.this_system import SYSTEM
from dapkit.system.trusted_files import read_start

_PACKAGES = ("anyio", "click", "msgspec", "pyyaml", "mcp", "textual", "py-spy", "memray", "ipykernel", "debugpy")
_PROGRAMS = ("gdb", "perf", "go", "node", "git")
_TERMINAL = (
    *("TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "VTE_VERSION"),
    *("TMUX", "STY", "SSH_TTY", "LANG", "LC_ALL", "NO_COLOR"),
)
_EDITORS = {
    "VSCODE_PID": "VS Code",
    "NVIM": "Neovim",
    "VIM_TERMINAL": "Vim",
    "INSIDE_EMACS": "Emacs",
    "ZED_TERM": "Zed",
    "TERMINAL_EMULATOR": "JetBrains",
}
"""Variables with which editors mark their child processes."""

type Section = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SystemReport:
    """The facts, by section.

    Attributes:
        sections: each with its facts by name, in the order in which they are shown.

    """

    sections: Mapping[str, Section]

    def as_json(self) -> dict[str, object]:
        """Return the sections, by name."""
        return {name: dict(section) for name, section in self.sections.items()}

    def as_text(self) -> str:
        """Return a table of each section."""
        parts = []
        for name, section in self.sections.items():
            rows = [(fact, one_line(value)) for fact, value in section.items()]
            parts.append("\n".join([f"{name}:", *indented(aligned(rows))]))
        return "\n\n".join(parts)


def system(where: Where, *, on_progress: OnProgress | None = None) -> SystemReport:
    """Find out about this machine, without a secret.

    Args:
        where: whose project, for the adapters that are installed in it.
        on_progress: called with the current step; asking adapters for their versions takes seconds.

    """
    sections = {"System": _machine(), "Python": _python(), "dapkit": _dapkit(), "Terminal": _terminal()}
    if on_progress is not None:
        on_progress("asking adapters for their versions", None)
    sections["Adapters"] = _adapters(Path(where.project))
    sections["Programs"] = dict(_programs())
    sections["Environment"] = _environment(os.environ)
    return SystemReport({name: section for name, section in sections.items() if section})


def _machine() -> Section:
    facts = {
        "os": _os_name(),
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "cpu": _processor(),
        "cpus": f"{os.cpu_count()}, {SYSTEM.usable_cpus()} of them for us",
        "memory": _memory(),
        "folder": str(Path.cwd()),
    }
    return _known(facts)


def _os_name() -> str:
    if IS_WINDOWS:
        return platform.platform(terse=True)
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _processor() -> str:
    table = _table(Path("/proc/cpuinfo"), ":")
    return table.get("model name") or table.get("Model") or table.get("CPU part") or platform.processor()


def _memory() -> str:
    try:
        total, available = SYSTEM.memory_sizes()
    except OSError:
        return ""
    return f"{total / 1024**3:.1f} GiB, {available / 1024**3:.1f} GiB of it available"


def _python() -> Section:
    facts = {
        "version": f"{platform.python_implementation()} {platform.python_version()}",
        "executable": sys.executable,
        "environment": sys.prefix if sys.prefix != sys.base_prefix else "",
        **dict(_packages()),
    }
    return _known(facts)


def _packages() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield name, metadata.version(name)


def _dapkit() -> Section:
    try:
        status = hub.status()
    except hub.HubError as error:
        running = f"does not answer: {error}"
    else:
        running = "does not run" if status is None else f"{status['version']}, process {status['pid']}"
    return {"version": __version__, "installed in": str(Path(__file__).parents[1]), "hub": running}


def _terminal() -> Section:
    size = shutil.get_terminal_size()
    shell = os.environ.get("SHELL", "")
    editors = {name for variable, name in _EDITORS.items() if os.environ.get(variable)}
    if os.environ.get("TERM_PROGRAM") == "vscode":
        editors.add("VS Code")
    facts = {
        "shell": shell,
        "started by": _parent_name(),
        "size": f"{size.columns} columns, {size.lines} lines" if sys.stdout.isatty() else "",
        "inside of": ", ".join(sorted(editors)),
        "editor": os.environ.get("VISUAL") or os.environ.get("EDITOR", ""),
        **{name: os.environ.get(name, "") for name in _TERMINAL},
    }
    return _known(facts)


def _parent_name() -> str:
    try:
        return Path(SYSTEM.executable_of(os.getppid())).name
    except OSError:
        return ""


def _adapters(project: Path) -> Section:
    adapter_states = catalog.states(catalog.load(project), cwd=project)
    return {
        state.name: " ".join(filter(None, (state.version or "version unknown", str(state.path or ""))))
        if state.installed
        else "not installed"
        for state in adapter_states
    }


def _programs() -> Iterator[tuple[str, str]]:
    for name in _PROGRAMS:
        if (path := shutil.which(name)) is not None:
            option = "version" if name == "go" else "--version"
            yield name, f"{version_told((path, option), os.environ) or 'version unknown'} {path}"


def _environment(environ: Mapping[str, str]) -> Section:
    redaction = Redaction([environ], of_code=TextKind.OUTPUT)
    variables = {}
    for name in sorted(environ):
        line = redaction.text(f"{name}={environ[name]}", TextKind.OUTPUT)
        value = line.removeprefix(f"{name}=")
        cut = value[: limits.SYSTEM_VALUE_CHARACTERS]
        variables[name] = cut if cut == value else f"{cut}... ({len(value)} characters)"
    return variables


def _table(path: Path, separator: str) -> Mapping[str, str]:
    """Return the first value of each name of a file of Linux; nothing on other systems."""
    if NAME != LINUX:
        return {}
    try:
        lines = read_start(path, limits.SYSTEM_FILE_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return {}
    table: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(separator)
        table.setdefault(name.strip(), value.strip())
    return table


def _known(facts: Section) -> Section:
    return {name: fact for name, fact in facts.items() if fact}
