"""Compile the C extension for Windows on x86-64, beside its modules, as `_native.pyd`.

It is cross-compiled by Zig's C compiler, from PyPI, for the runtime library of Windows itself (UCRT), and linked to the
`python3.dll` of one of the interpreters that pythons.py has made: so it loads into each version (the stable ABI).
Parts that are about descriptors and starts of programs are left out: Windows has others.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bootstrap import TOOLS, UV, surroundings
from build_native import SOURCES

TARGET = SOURCES.parent / "_native.pyd"
ZIG = TOOLS / "windows/zig"
OTHERS = ("descriptors.c", "output.c", "starts.c")
"""Parts that are for POSIX systems."""

FLAGS = ("-std=c11", "-O3", "-g0", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-shared")


def install_compiler() -> None:
    """Install the compiler in the version of uv.lock, with its hash."""
    if (ZIG / "ziglang").is_dir():
        return
    environment = {**os.environ, **surroundings()}
    export = [str(UV), "export", "--quiet", "--frozen", "--only-group", "windows", "--no-config"]
    requirements = subprocess.run(export, cwd=TOOLS.parent, env=environment, capture_output=True, check=True).stdout
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        file.write(requirements)
        file.flush()
        options = ["--target", str(ZIG), "--require-hashes", "-r", file.name]
        subprocess.run([str(UV), "pip", "install", "--quiet", "--no-config", *options], env=environment, check=True)


def build(target: Path = TARGET) -> None:
    """Compile it. Raises: subprocess.CalledProcessError."""
    install_compiler()
    library = TOOLS / "windows/python-3.13/python3.dll"
    caches = {f"ZIG_{name}_CACHE_DIR": str(TOOLS / "cache/zig") for name in ("GLOBAL", "LOCAL")}
    with tempfile.TemporaryDirectory() as folder:
        headers = Path(folder, "include")
        shutil.copytree(sysconfig.get_path("include"), headers)
        shutil.copyfile(Path(__file__).with_name("pyconfig.h"), headers / "pyconfig.h")
        made = Path(folder, TARGET.name)
        sources = [str(file) for file in sorted(SOURCES.glob("*.c")) if file.name not in OTHERS]
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu"]
        command = [*compiler, *FLAGS, f"-I{headers}", *sources, str(library), "-o", str(made)]
        subprocess.run(command, env={**os.environ, **caches, "PYTHONPATH": str(ZIG)}, check=True)
        shutil.move(made, target)


if __name__ == "__main__":
    build()
