"""Make the wheel of another system from the one for Linux: without the files of Linux, and with its own.

    other_wheels.py TOOLS WHEEL FOLDER SYSTEM

TOOLS is the folder with the program `wheel`. SYSTEM is `windows`, whose wheel has `_native.pyd` and is for each CPython
from 3.12 on, on x86-64; or `macos`, whose wheel is Python alone: the extension is compiled by who installs the sdist.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from windows.build_extension import build

TAGS = {"windows": "cp312-abi3-win_amd64", "macos": "py3-none-macosx_11_0_universal2"}


def convert(tools: Path, wheel: Path, folder: Path, system: str) -> Path:
    """Make it in a folder; return its path. Raises: subprocess.CalledProcessError."""
    program = str(tools.absolute() / "wheel")
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([program, "unpack", "--dest", made, str(wheel)], check=True, stdout=subprocess.DEVNULL)
        (root,) = Path(made).iterdir()
        package = root / "dapkit/python"
        for file in (*package.glob("debuggee/*.so"), package / "adapter/dapkit-supervisor"):
            file.unlink(missing_ok=True)
        if system == "windows":
            build(package / "debuggee/_native.pyd")
        (facts,) = root.glob("*.dist-info/WHEEL")
        others = re.sub(r"^(Tag|Root-Is-Purelib): .*\n", "", facts.read_text(encoding="utf-8"), flags=re.MULTILINE)
        pure = "true" if system == "macos" else "false"
        facts.write_text(f"{others.rstrip()}\nRoot-Is-Purelib: {pure}\nTag: {TAGS[system]}\n", encoding="utf-8")
        command = [program, "pack", "--dest-dir", str(folder), str(root)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (path,) = folder.glob(f"*-{TAGS[system]}.whl")
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{convert(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])}\n")
