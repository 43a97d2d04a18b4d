"""Compile what is written in C, in place: the extensions of the debuggee, and the parent of launched programs.

`_native` is what every session uses; `_travel`, for time travel, is made where it can work: on Linux, with a GIL.
Both lie beside the modules of the debuggee, as `_native.*.so` and `_travel.abi3.so`. The program `dapkit-supervisor` is
made on Linux, in the folder of the adapter.

The build of the package does the same (hatch_build.py), so this is for who works on the C code:

    python tools/build_native.py                        build all of it again
    python tools/build_native.py FOLDER                 build it elsewhere
    python tools/build_native.py --headers INCLUDE ...  also for free-threaded builds of the versions of other headers
    python tools/build_native.py --each-python          also for those of each version whose headers this machine has

The extensions take no more than a C compiler and the headers of any CPython from 3.12 on; the parent takes the compiler
alone. Extensions for builds with a GIL load into every such CPython. For free-threaded builds, headers of 3.13 or 3.14
make a file for that version, and those of 3.15 or later one for each of these (abi3t). Headers are the same for builds
with a GIL and without. Standard library only: it runs where nothing is installed yet.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src/dapkit/python/debuggee/native"
PARENT = ROOT / "src/dapkit/python/adapter/dapkit-supervisor"
PARENT_SOURCES = PARENT.parent / "native"

FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden")
LINK = ("-bundle", "-undefined", "dynamic_lookup") if sys.platform == "darwin" else ("-shared",)
LINK_PARENT = ("-pie",)
ABI3T = (3, 15)
"""The version from which on free-threaded builds have a stable ABI: PEP 803."""


class CannotBuildError(Exception):
    """What was to be built cannot be built here; the text says why."""


class Extension(NamedTuple):
    """A file that is to be made, of which sources, and for which interpreters."""

    name: str
    sources: Path
    flags: tuple[str, ...] = ()


def build(folder: Path = SOURCES.parent, *, flags: Sequence[str] = (), headers: Sequence[Path] = ()) -> list[str]:
    """Compile the extensions into files of a folder, which are replaced at once: programs may have old ones loaded.

    Besides the interpreter that runs this, they are for free-threaded builds of the versions that `headers` are of.
    Return the names of the files.

    Raises:
        CannotBuildError: if one cannot be compiled; then there is no such file, also not an older one.

    """
    own = Path(sysconfig.get_path("include"))
    if sys.implementation.name != "cpython":
        raise CannotBuildError("the stable ABI is CPython's")
    with_gil = not sysconfig.get_config_var("Py_GIL_DISABLED")
    for old in [*folder.glob("_native.*.so"), *folder.glob("_travel.*.so")]:
        old.unlink()
    names: list[str] = []
    for include in dict.fromkeys([own, *headers]):
        for extension in extensions(include, with_gil=with_gil and include == own):
            # Debian's pyconfig.h includes another one, by its path from the folder above.
            searched = ("-I", str(include), "-idirafter", str(include.parent))
            _build(folder / extension.name, extension.sources, [*LINK, *extension.flags, *searched, *flags])
            names.append(extension.name)
    return names


def extensions(include: Path, *, with_gil: bool) -> Iterator[Extension]:
    """Yield what can be made with the headers of a folder, for free-threaded builds, and for those with a GIL.

    Raises:
        CannotBuildError: there are no headers.

    """
    if not (include / "Python.h").exists():
        raise CannotBuildError(
            f"there is no Python.h in {include}; it comes with the interpreter's development package"
        )
    if with_gil:
        yield Extension("_native.abi3.so", SOURCES)
        if sys.platform == "linux":
            yield Extension("_travel.abi3.so", SOURCES / "time_travel")
    version = version_of(include)
    if version >= ABI3T:
        yield Extension("_native.abi3t.so", SOURCES, ("-DPy_TARGET_ABI3T=0x{:02x}{:02x}0000".format(*ABI3T),))
    elif version >= (3, 13):
        yield Extension(f"_native.{free_threaded_tag(version)}.so", SOURCES, ("-DPy_GIL_DISABLED=1",))


def version_of(include: Path) -> tuple[int, int]:
    """Return the version that headers are of."""
    text = (include / "patchlevel.h").read_text(encoding="utf-8")
    major, minor = (re.search(rf"#define PY_{name}_VERSION\s+(\d+)", text) for name in ("MAJOR", "MINOR"))
    if major is None or minor is None:
        raise CannotBuildError(f"{include / 'patchlevel.h'} does not say which version it is of")
    return int(major[1]), int(minor[1])


def free_threaded_tag(version: tuple[int, int]) -> str:
    """Return what the free-threaded build of a version has in the names of its extensions: "cpython-313t-darwin"."""
    _, _, system = sysconfig.get_config_var("SOABI").split("-", 2)
    return f"cpython-{version[0]}{version[1]}t-{system}"


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


def headers_of_machine() -> list[Path]:
    """Return the folders with headers of the interpreters that are installed here, one for each version."""
    import bootstrap  # hatch_build.py, which does not ask for them, has it in no path

    folders: dict[str, Path] = {}
    for version in (*bootstrap.VERSIONS, *bootstrap.FREE_THREADED):
        interpreter = bootstrap.find_interpreter(version)
        if interpreter is None:
            continue
        command = [interpreter, "-I", "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
        folder = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
        if (folder / "Python.h").exists():
            folders.setdefault(version.removesuffix("t"), folder)
    return list(folders.values())


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


def main() -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description="Compile what is written in C.")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--headers", action="append", type=Path, default=[], metavar="INCLUDE")
    parser.add_argument("--each-python", action="store_true")
    options = parser.parse_args()
    headers = [*options.headers, *(headers_of_machine() if options.each_python else ())]
    build_parent(options.folder or PARENT.parent)
    build(options.folder or SOURCES.parent, headers=headers)


if __name__ == "__main__":
    try:
        main()
    except CannotBuildError as error:
        sys.exit(f"cannot build what is written in C: {error}")
