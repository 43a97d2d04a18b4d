"""Compile the C extension of the debuggee, in place: src/dapkit/python/debuggee/_native.abi3.so.

The build of the package does the same (hatch_build.py), so this is for who works on the extension:

    python tools/build_native.py            build it again
    python tools/build_native.py FILE       build it elsewhere

It takes no more than a C compiler and the headers of any CPython from 3.12 on; what it makes loads
into every such CPython. Standard library only: it runs where nothing is installed yet.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src/dapkit/python/debuggee/native"
EXTENSION = SOURCES.parent / "_native.abi3.so"

FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden")
LINK = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)


class CannotBuildError(Exception):
    """The extension cannot be built here; the text says why."""


def build(target: Path = EXTENSION, *, flags: Sequence[str] = ()) -> None:
    """Compile the extension into a file, which is replaced at once: programs may have the old one loaded.

    Raises:
        CannotBuildError: if it cannot be compiled; then there is no such file, also not an older one.

    """
    target.unlink(missing_ok=True)
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise CannotBuildError("the stable ABI is CPython's, and not that of its free-threaded build")
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        raise CannotBuildError(
            f"there is no Python.h in {headers}; it comes with the interpreter's development package"
        )
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        command = [*compiler(), *FLAGS, *flags, *LINK, "-I", str(headers), *map(str, sorted(SOURCES.glob("*.c")))]
        ran = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise CannotBuildError(f"{shlex.join(command)} failed:\n{ran.stderr}")
        sys.stderr.write(ran.stderr)
        made.replace(target)


def compiler() -> list[str]:
    """Return the command of a C compiler that is installed: the one in CC, the interpreter's own, or any.

    Raises:
        CannotBuildError: if there is none.

    """
    for command in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        words = shlex.split(command or "")
        if words and shutil.which(words[0]):
            return words
    raise CannotBuildError("there is no C compiler: cc, gcc and clang are not in PATH")


if __name__ == "__main__":
    try:
        build(*map(Path, sys.argv[1:2]))
    except CannotBuildError as error:
        sys.exit(f"cannot build the extension: {error}")
