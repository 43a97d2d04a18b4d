"""Install libraries for programs under test into .tools/libraries/VERSION/site-packages, for each Python but our own.

They are those of the group `libraries`, as uv.lock has them; the environment that the tests run in has them for its own
version. Tests take them by tests/program_libraries.py. It takes some seconds, once.
"""

import hashlib
import shutil
import sys
from pathlib import Path

import bootstrap

FOLDER = bootstrap.TOOLS / "libraries"
LIST = FOLDER / "requirements.txt"


def main() -> None:
    """Install what is not there yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    uv = str(bootstrap.UV)
    export = [
        uv,
        "export",
        "--quiet",
        "--frozen",
        "--no-emit-project",
        "--only-group",
        "libraries",
        "--output-file",
        str(LIST),
    ]
    if bootstrap.run(export, quiet=True) != 0:
        raise bootstrap.BootstrapError("uv could not list the group libraries of uv.lock")
    digest = hashlib.sha256(LIST.read_bytes()).hexdigest()
    for version in bootstrap.VERSIONS:
        interpreter = bootstrap.find_interpreter(version)
        target, mark = FOLDER / version / "site-packages", FOLDER / f"{version}.complete"  # a library by its path
        if interpreter is None or version == f"{sys.version_info.major}.{sys.version_info.minor}":
            continue
        made_of = f"{target} {digest} {Path(interpreter).resolve()}"
        if mark.exists() and mark.read_text(encoding="utf-8") == made_of:
            continue
        bootstrap.say(f"filling {target.relative_to(bootstrap.ROOT)} for {interpreter}")
        shutil.rmtree(target.parent, ignore_errors=True)
        options = ["--quiet", "--python", interpreter, "--target", str(target), "--require-hashes"]
        if bootstrap.run([uv, "pip", "install", *options, "--requirement", str(LIST)]) != 0:
            raise bootstrap.BootstrapError(f"uv could not install the libraries for {interpreter}")
        mark.write_text(made_of, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except bootstrap.BootstrapError as error:
        sys.exit(f"install_libraries: {error}")
