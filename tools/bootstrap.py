"""Make the environment that the repository works in.

Decides where uv comes from and which interpreter is used; what is installed is
decided by uv.lock. Runs on Python 3.8, without venv and without pip. Everything,
uv and the caches included, goes into the folder of the repository.

    bootstrap.py                                        .venv on the best interpreter found
    bootstrap.py --python 3.12 --environment .venv-3.12
    bootstrap.py --environment .venv-docs --group docs
    bootstrap.py --interpreters                         what was found: "3.13 /usr/bin/python3.13" a line
    bootstrap.py --interpreters --free-threaded         also "3.13t /usr/local/bin/python3.13t"
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
UV = TOOLS / "bin" / "uv"

VERSIONS = ("3.13", "3.14", "3.15", "3.12")
"""The versions of Python that dapkit runs on, the best first."""

FREE_THREADED = ("3.13t", "3.14t", "3.15t")
"""Free-threaded builds, in which programs are debugged; dapkit itself does not run on them."""

FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
"""Where interpreters lie that PATH may not name."""

COLLECTIONS = (
    os.environ.get("PYENV_ROOT", "~/.pyenv") + "/versions",
    "~/.asdf/installs/python",
    "~/.local/share/mise/installs/python",
    "~/.local/share/uv/python",
    str(TOOLS / "python"),
)
"""Where version managers keep interpreters, one folder each; PATH names only a shim, which may refuse."""

PROBE = """
import json, platform, sys
print(json.dumps({
    "version": "%d.%d%s" % (*sys.version_info[:2], sys.abiflags),
    "usable": platform.python_implementation() == "CPython",
    "path": getattr(sys, "_base_executable", sys.executable),
}))
"""


class BootstrapError(Exception):
    """The environment cannot be made; the text says why and what to do."""


class LockedUv(NamedTuple):
    """The release of uv that uv.lock names."""

    version: str
    files: dict[str, str]
    """SHA-256 by address, of every file of the release."""


def say(text: str) -> None:
    """Report progress on stderr: stdout is for results."""
    print(f"bootstrap: {text}", file=sys.stderr, flush=True)


# -- interpreters ------------------------------------------------------------------------------------------------


def find_interpreter(version: str) -> str | None:
    """Return the path of a CPython of this version ("3.13", "3.13t" if free-threaded) that really runs."""
    for candidate in dict.fromkeys(candidates(version)):
        path = probe(candidate, version)
        if path is not None:
            return path
    return None


def candidates(version: str) -> Iterator[Path]:
    """Yield programs that may be an interpreter of this version."""
    folders = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    folders += [Path(folder) for folder in FOLDERS]
    for collection in COLLECTIONS:
        folders += sorted(Path(collection).expanduser().glob("*/bin"), key=numbers, reverse=True)
    for name in (f"python{version}", "python3"):
        for folder in folders:
            yield folder / name


def numbers(folder: Path) -> list[int]:
    """Return the numbers in a path, by which 3.13.10 comes after 3.13.9."""
    return [int(digits) for digits in re.findall(r"\d+", str(folder))]


def probe(program: Path, version: str) -> str | None:
    """Run a program; return the path of the interpreter behind it if it is a release of CPython of this version."""
    if not os.access(program, os.X_OK):
        return None
    try:
        ran = subprocess.run(
            [str(program), "-I", "-c", PROBE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=True
        )
        found = json.loads(ran.stdout.decode())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None  # a shim without this version, a program for another machine, a broken installation
    return found["path"] if found["usable"] and found["version"] == version else None


def choose_interpreter(version: str | None) -> str:
    """Return the interpreter to use: one that is installed, else one that uv downloads into the repository."""
    wanted = VERSIONS if version is None else (version,)
    for each in wanted:
        path = find_interpreter(each)
        if path is not None:
            return path
    names = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if len(wanted) > 1 else wanted)
    say(f"found no Python {names} here; asking uv to download Python {wanted[0]}")
    if run([str(UV), "python", "install", "--no-bin", wanted[0]]) == 0:
        path = find_interpreter(wanted[0])
        if path is not None:
            return path
    raise BootstrapError(
        f"found no Python {names} on this machine, and uv could not download one.\n"
        f"Looked in PATH and in {', '.join(FOLDERS + COLLECTIONS)}.\n"
        f"Install Python {wanted[0]} in any of these places, then try again."
    )


# -- uv ----------------------------------------------------------------------------------------------------------


def locked_uv(lock: str) -> LockedUv:
    """Read the release of uv from the text of uv.lock (by pattern: tomllib came with Python 3.11)."""
    package = re.search(
        r'\[\[package\]\]\nname = "uv"\nversion = "([^"]+)"\n(.*?)(?=\n\[\[package\]\]|\Z)', lock, re.DOTALL
    )
    if package is None:
        raise BootstrapError("uv.lock has no package uv; run 'uv lock' with the group bootstrap in pyproject.toml")
    return LockedUv(package[1], dict(re.findall(r'url = "([^"]+)", hash = "sha256:([0-9a-f]{64})"', package[2])))


def ensure_uv() -> None:
    """Put the locked release of uv into .tools/bin, by pip where there is one, else by its address in the lock."""
    locked = locked_uv((ROOT / "uv.lock").read_text(encoding="utf-8"))
    if uv_version() == locked.version:
        return
    say(f"installing uv {locked.version} into {UV.parent.relative_to(ROOT)}")
    UV.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TOOLS) as folder:
        program = install_with_pip(locked, Path(folder)) or download(locked, Path(folder))
        program.chmod(0o755)
        program.replace(UV)  # a uv that runs at this moment keeps its own file


def uv_version() -> str | None:
    """Return the version of the uv in .tools/bin, or None if it is missing or does not run."""
    if not UV.exists():
        return None
    try:
        ran = subprocess.run([str(UV), "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout.decode().split()[1]


def install_with_pip(locked: LockedUv, folder: Path) -> Path | None:
    """Let the pip of an interpreter on this machine install uv; return None if no pip does."""
    requirements = folder / "requirements.txt"
    hashes = " ".join(f"--hash=sha256:{digest}" for digest in locked.files.values())
    requirements.write_text(f"uv=={locked.version} {hashes}\n", encoding="utf-8")
    pythons = [sys.executable, *(path for path in map(find_interpreter, VERSIONS) if path is not None)]
    for python in dict.fromkeys(pythons):
        pip = [python, "-m", "pip"]
        if run([*pip, "--version"], quiet=True) != 0:
            continue
        target = folder / "installed"
        options = ["-qq", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        if run([*pip, "install", *options, "--target", str(target), "-r", str(requirements)]) == 0:
            return target / "bin" / "uv"
    return None


def download(locked: LockedUv, folder: Path) -> Path:
    """Fetch the wheel of this platform from its address in the lock, check its digest, take uv out of it."""
    address = wheel_for(locked, system=platform.system(), machine=platform.machine(), libc=platform.libc_ver()[0])
    say("no pip here; fetching uv from its address in uv.lock")
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - an address of our own lock file
            wheel = answer.read()
    except (urllib.error.URLError, OSError) as error:
        raise BootstrapError(
            f"cannot fetch {address}: {error}\nInstall pip for {sys.executable}, then try again."
        ) from error
    digest = hashlib.sha256(wheel).hexdigest()
    if digest != locked.files[address]:
        raise BootstrapError(f"{address} has the digest {digest}, but uv.lock expects {locked.files[address]}")
    archive = folder / "uv.whl"
    archive.write_bytes(wheel)
    with zipfile.ZipFile(archive) as entries:
        member = next(name for name in entries.namelist() if name.endswith(".data/scripts/uv"))
        return Path(entries.extract(member, folder))


def wheel_for(locked: LockedUv, *, system: str, machine: str, libc: str) -> str:
    """Return the address of the wheel that runs on a platform."""
    family = {"Darwin": "macosx", "Linux": "manylinux" if libc == "glibc" else "musllinux"}.get(system, system)
    for address in locked.files:
        if family in address and address.endswith(f"_{machine}.whl"):
            return address
    raise BootstrapError(
        f"uv {locked.version} has no wheel for {system} on {machine}; install pip for {sys.executable}, then try again"
    )


# -- environments --------------------------------------------------------------------------------------------------


def make_environment(environment: Path, interpreter: str, group: str | None) -> None:
    """Bring a virtual environment to what uv.lock says, and mark it as ready."""
    groups = ["--all-extras"] if group is None else ["--no-default-groups", "--group", group]
    say(f"filling {environment.relative_to(ROOT)} for {interpreter}")
    command = [str(UV), "sync", "--quiet", "--frozen", "--no-python-downloads", "--python", interpreter, *groups]
    if run(command, UV_PROJECT_ENVIRONMENT=str(environment)) != 0:
        raise BootstrapError("uv could not install what uv.lock names; its own words stand above")
    (environment / ".ready").touch()


def surroundings() -> dict[str, str]:
    """Return variables with which uv and pip write nothing outside the repository, and trust as the system does."""
    environment = {
        "UV_CACHE_DIR": str(TOOLS / "cache" / "uv"),
        "PIP_CACHE_DIR": str(TOOLS / "cache" / "pip"),
        "UV_SYSTEM_CERTS": str(any(Path("/etc/ssl/certs").glob("*"))).lower(),  # a company's own are there, not in uv
        **os.environ,
        "UV_PYTHON_INSTALL_DIR": str(TOOLS / "python"),
        "PIP_REQUIRE_VIRTUALENV": "0",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_USER": "0",
    }
    environment.pop("VIRTUAL_ENV", None)  # an activated environment of something else is not ours to fill
    return environment


def run(command: Sequence[str], *, quiet: bool = False, **extra: str) -> int:
    """Run a program in these surroundings; return its exit status."""
    output = subprocess.DEVNULL if quiet else None
    environment = {**surroundings(), **extra}
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=output, check=False).returncode


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description="Make the environment that the repository works in.")
    parser.add_argument(
        "--python", metavar="VERSION", choices=VERSIONS, help=f"one of {', '.join(VERSIONS)}; default: the first found"
    )
    parser.add_argument(
        "--environment", metavar="FOLDER", default=".venv", help="where to make it (default: %(default)s)"
    )
    parser.add_argument("--group", help="install this dependency group instead of the development tools")
    parser.add_argument("--interpreters", action="store_true", help="only list the interpreters found")
    parser.add_argument("--free-threaded", action="store_true", help="list free-threaded ones, too")
    options = parser.parse_args()
    if options.interpreters:
        for version in (*VERSIONS, *FREE_THREADED) if options.free_threaded else VERSIONS:
            path = find_interpreter(version)
            if path is not None:
                print(version, path)
        return
    ensure_uv()
    make_environment(ROOT / options.environment, choose_interpreter(options.python), options.group)


if __name__ == "__main__":
    try:
        main()
    except BootstrapError as error:
        sys.exit(f"bootstrap: {error}")
