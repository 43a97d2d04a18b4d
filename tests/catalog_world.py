"""A home, a project, and a PATH with nothing but what a test puts there."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dapkit.catalog import Catalog, load
from dapkit.system.user_folders import HOME


@dataclass(frozen=True)
class World:
    """Folders in which adapters are looked for."""

    home: Path
    project: Path
    bin: Path
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def env(self) -> Mapping[str, str]:
        return {"PATH": str(self.bin), HOME: str(self.home), **self.extra}

    def load(self, cwd: Path | None = None) -> Catalog:
        return load(cwd or self.project, self.home, env=self.env)

    def install(self, name: str, *, says: str = "", folder: Path | None = None) -> Path:
        """Put a program on PATH, or into another folder, that does nothing but say something."""
        program = (folder or self.bin) / (f"{name}.cmd" if sys.platform == "win32" else name)
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"@echo {says}\n" if sys.platform == "win32" else f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return program

    def install_python(self, name: str, version: str, *, implementation: str = "cpython", modules: str = "") -> Path:
        """Put a program on PATH that answers as this Python would, and knows these modules."""
        program = self.bin / name if "/" not in name else Path(name)
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(
            "#!/bin/sh\n"
            'case "$*" in\n'
            f'*sys.implementation*) echo "{implementation} {version} $0";;\n'
            f"*importlib.metadata*debugpy*) {'echo 1.8.20' if 'debugpy' in modules else 'exit 1'};;\n"
            "*) exit 1;;\n"
            "esac\n"
        )
        program.chmod(0o755)
        return program

    def write(self, name: str, text: str = "") -> Path:
        """Write a file of the project."""
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file
