"""Compile what is written in C, in place: the extensions of the debuggee, and the parent of launched programs.

`_native.abi3.so` is what every session uses; `_travel.abi3.so`, for time travel, is made where it can work: on Linux.
Both lie beside the modules of the debuggee. `dapkit-parent` is a program, made on Linux beside those of the adapter.

The build of the package does the same (hatch_build.py), so this is for who works on the C code:

    python tools/build_native.py            build all of it again
    python tools/build_native.py FOLDER     build it elsewhere

The extensions take no more than a C compiler and the headers of any CPython from 3.12 on, and load
into every such CPython; the parent takes a C compiler. Standard library only: it runs where nothing is installed yet.
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
EXTENSIONS = {"_native.abi3.so": SOURCES} | ({"_travel.abi3.so": SOURCES / "travel"} if sys.platform == "linux" else {})
"""The files, and where the sources of each are."""
PARENT = ROOT / "src/dapkit/python/adapter/dapkit-parent"
PARENT_SOURCES = PARENT.parent / "native"

FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden")
LINK = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
LINK_PARENT = ("-pie",)


class CannotBuildError(Exception):
    """What was to be built cannot be built here; the text says why."""


def build(folder: Path = SOURCES.parent, *, flags: Sequence[str] = ()) -> None:
    """Compile the extensions into files of a folder, which are replaced at once: programs may have old ones loaded.

    Raises:
        CannotBuildError: if one cannot be compiled; then there is no such file, also not an older one.

    """
    for name in EXTENSIONS:
        (folder / name).unlink(missing_ok=True)
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise CannotBuildError("the stable ABI is CPython's, and not that of its free-threaded build")
    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        raise CannotBuildError(
            f"there is no Python.h in {headers}; it comes with the interpreter's development package"
        )
    for name, sources in EXTENSIONS.items():
        _build(folder / name, sources, [*LINK, "-I", str(headers), *flags])


def build_parent(folder: Path = PARENT.parent, *, flags: Sequence[str] = ()) -> None:
    """Compile the parent of launched programs into a file of a folder, which is replaced at once.

    Raises:
        CannotBuildError: if it cannot be compiled; then there is no such file, also not an older one.

    """
    target = folder / PARENT.name
    target.unlink(missing_ok=True)
    if sys.platform != "linux":
        raise CannotBuildError("the parent of launched programs is for Linux")
    _build(target, PARENT_SOURCES, [*LINK_PARENT, *flags])


def _build(target: Path, sources: Path, flags: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        command = [*compiler(), *FLAGS, *flags, *map(str, sorted(sources.glob("*.c")))]
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
        build_parent(*map(Path, sys.argv[1:2]))
        build(*map(Path, sys.argv[1:2]))
    except CannotBuildError as error:
        sys.exit(f"cannot build what is written in C: {error}")
