"""Put dapkit into the extension for VS Code: the wheel and what it needs, for every Python that it runs on.

    bundle_vscode.py UV TOOLS FOLDER

UV is the program, TOOLS the folder with auditwheel and patchelf, FOLDER gets the packages, and a `__main__.py` by which
an interpreter runs them (`python -I FOLDER`). The versions are those of uv.lock. Extensions in C for several versions
of Python lie side by side, since their names differ.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree, rmtree

from bootstrap import surroundings
from build_wheel import ROOT, build

PYTHONS = ("3.12", "3.13", "3.14", "3.15")

MAIN = '''\
"""Start the dapkit of this folder: the adapter, or `dapkit proxy` if that is the first argument."""

import runpy
import sys

runpy.run_module("dapkit.cli" if sys.argv[1:2] == ["proxy"] else "dapkit.python", run_name="__main__", alter_sys=True)
'''


def bundle(uv: str, tools: Path, folder: Path) -> None:
    """Fill the folder anew."""
    environment = surroundings()
    exported = [uv, "export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-header", "--no-annotate"]
    needed = subprocess.run(exported, check=True, env=environment, cwd=ROOT, capture_output=True).stdout
    rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        requirements = Path(made, "requirements.txt")
        requirements.write_bytes(needed)
        (wheel,) = (path for path in build(uv, tools, Path(made, "dist")) if path.suffix == ".whl")
        for version in PYTHONS:
            target = Path(made, version)
            install = [uv, "pip", "install", "--quiet", "--python-version", version, "--target", str(target)]
            options = ["--no-deps", "--only-binary", ":all:"]
            for given in (["--require-hashes", "-r", str(requirements)], [str(wheel)]):
                subprocess.run([*install, *options, *given], check=True, env=environment)
            copytree(target, folder, dirs_exist_ok=True)
    for unused in ("bin", ".lock"):
        rmtree(folder / unused, ignore_errors=True)
        (folder / unused).unlink(missing_ok=True)
    (folder / "__main__.py").write_text(MAIN, encoding="utf-8")


if __name__ == "__main__":
    bundle(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
