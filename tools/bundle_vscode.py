"""Put dapkit into the extension for VS Code: the wheel and what it needs, for every Python that it runs on.

    bundle_vscode.py UV TOOLS FOLDER TARGET

UV is the program, TOOLS the folder with auditwheel and patchelf, FOLDER gets the packages, and a `__main__.py` by which
an interpreter runs them (`python -I FOLDER`). TARGET is VS Code's name of a system, such as linux-x64. The versions are
those of uv.lock. Extensions in C for several versions of Python lie side by side, since their names differ. A package
whose extension is optional, and that has no wheel for a new version of Python yet, runs there with the Python files
that the other versions share.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree, rmtree

from bootstrap import surroundings
from build_wheel import ROOT, build
from other_wheels import convert

PYTHONS = ("3.12", "3.13", "3.14", "3.15")

OTHER_TARGETS = {
    "win32-x64": ("windows", "x86_64-pc-windows-msvc"),
    "darwin-arm64": ("macos", "aarch64-apple-darwin"),
    "darwin-x64": ("macos", "x86_64-apple-darwin"),
}
"""Targets for other systems: the system of our wheel, and uv's name of the platform."""

WITHOUT_WHEEL = {"3.15": ("pyyaml",)}
"""Packages whose locked version has no wheel for a version of Python; their extensions are optional."""

MAIN = '''\
"""Start the dapkit of this folder: the adapter, or a part of it that the first argument names."""

import runpy
import sys

PARTS = {"proxy": "dapkit.cli", "record": "dapkit.cli", "job": "dapkit.cluster.adapter"}
part = PARTS.get(sys.argv[1] if sys.argv[1:] else "", "dapkit.python")
if part == PARTS["job"]:
    del sys.argv[1]
runpy.run_module(part, run_name="__main__", alter_sys=True)
'''


def bundle(uv: str, tools: Path, folder: Path, target: str) -> None:
    """Fill the folder anew."""
    system, platform = OTHER_TARGETS.get(target, ("", ""))
    of_platform = ["--python-platform", platform] if platform else []
    environment = surroundings()
    export = [uv, "export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-header", "--no-annotate"]
    rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        requirements = Path(made, "requirements.txt")
        (wheel,) = (path for path in build(uv, tools, Path(made, "dist")) if path.suffix == ".whl")
        if system:
            wheel = convert(tools, wheel, Path(made), system)
        for version in PYTHONS:
            left_out = [f"--no-emit-package={name}" for name in WITHOUT_WHEEL.get(version, ())]
            subprocess.run([*export, *left_out, "-o", str(requirements)], check=True, env=environment, cwd=ROOT)
            packages = Path(made, version)
            install = [uv, "pip", "install", "--quiet", "--python-version", version, "--target", str(packages)]
            install += of_platform
            options = ["--no-deps", "--only-binary", ":all:"]
            for given in (["--require-hashes", "-r", str(requirements)], [str(wheel)]):
                subprocess.run([*install, *options, *given], check=True, env=environment)
            copytree(packages, folder, dirs_exist_ok=True)
    for unused in ("bin", ".lock"):
        rmtree(folder / unused, ignore_errors=True)
        (folder / unused).unlink(missing_ok=True)
    (folder / "__main__.py").write_text(MAIN, encoding="utf-8")


if __name__ == "__main__":
    bundle(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
