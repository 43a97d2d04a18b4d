"""Build what is published: the sdist, and a wheel that every CPython from 3.12 on can use.

    build_wheel.py UV TOOLS FOLDER

UV is the program, TOOLS the folder with auditwheel and patchelf, FOLDER gets the two files. The wheel is built from the
sdist, which so proves to be complete. On Linux auditwheel gives it the tag of the oldest C library that its
extension works with (manylinux); where there is no C compiler it is a wheel of Python alone. It has extensions for
free-threaded programs of each version of Python whose headers this machine has.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bootstrap import surroundings
from build_native import headers_of_machine

ROOT = Path(__file__).resolve().parent.parent


def build(uv: str, tools: Path, folder: Path) -> list[Path]:
    """Build both; return the files."""
    environment = {
        **surroundings(),
        "PATH": f"{tools.absolute()}{os.pathsep}{os.environ['PATH']}",
        "DAPKIT_HEADERS": os.pathsep.join(map(str, headers_of_machine())),
    }
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        command = [uv, "build", "--quiet", "--python", sys.executable, "--out-dir", made, str(ROOT)]
        subprocess.run(command, check=True, env=environment)
        (sdist,) = Path(made).glob("*.tar.gz")
        (wheel,) = Path(made).glob("*.whl")
        built = [Path(shutil.copy(sdist, folder))]
        if not wheel.name.endswith("-none-any.whl") and sys.platform == "linux":
            repaired = Path(made, "repaired")
            command = [str(tools / "auditwheel"), "repair", "--wheel-dir", str(repaired), str(wheel)]
            subprocess.run(command, check=True, env=environment)
            (wheel,) = repaired.glob("*.whl")
        return [*built, Path(shutil.copy(wheel, folder))]


if __name__ == "__main__":
    for path in build(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])):
        sys.stdout.write(f"{path}\n")
