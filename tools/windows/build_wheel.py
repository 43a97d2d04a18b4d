"""Make the wheel for Windows from one for another system: `_native.pyd` in place of that system's files.

    build_wheel.py TOOLS WHEEL FOLDER

TOOLS is the folder with the program `wheel`. The new wheel is for each CPython from 3.12 on, on x86-64.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from windows.build_extension import build

TAG = "cp312-abi3-win_amd64"


def convert(tools: Path, wheel: Path, folder: Path) -> Path:
    """Make it in a folder; return its path. Raises: subprocess.CalledProcessError."""
    program = str(tools.absolute() / "wheel")
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([program, "unpack", "--dest", made, str(wheel)], check=True, stdout=subprocess.DEVNULL)
        (root,) = Path(made).iterdir()
        package = root / "dapkit/python"
        for file in (*package.glob("debuggee/*.so"), package / "adapter/dapkit-supervisor"):
            file.unlink(missing_ok=True)
        build(package / "debuggee/_native.pyd")
        (facts,) = root.glob("*.dist-info/WHEEL")
        others = re.sub(r"^Tag: .*\n", "", facts.read_text(encoding="utf-8"), flags=re.MULTILINE)
        facts.write_text(f"{others.rstrip()}\nTag: {TAG}\n", encoding="utf-8")
        command = [program, "pack", "--dest-dir", str(folder), str(root)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (path,) = folder.glob(f"*-{TAG}.whl")
    return path


if __name__ == "__main__":
    sys.stdout.write(f"{convert(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))}\n")
