"""Run the unit tests of the C extension under valgrind, and fail if it misuses memory.

    python tools/check_native.py [PYTEST ARGUMENT...]

The extension is built for this from the sources at hand, with debug information and with warnings as
errors, into a copy of the package. Valgrind knows nothing of CPython here, so what it finds is sifted: an
error counts if code of ours takes part in it, or if it is about memory that was freed already (code
that drops a reference too many makes other code read there). Leaks count if our code had allocated the block.

Nearly all of the time would go into starting pytest, some fifty times slower than usual: so it starts without
plugins, from bytecode that is made before.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import build_native

TESTS = "tests/unit/native"
EXAMPLES = 15
"""How many conditions are tried: valgrind makes everything some fifty times slower."""
VALGRIND = ("valgrind", "--quiet", "--xml=yes", "--undef-value-errors=no", "--leak-check=full", "--num-callers=12")
PYTEST = ("-m", "pytest", "-c", os.devnull, "--rootdir=.", "--import-mode=importlib")


def main() -> None:
    """Build, run, and report what was found."""
    if shutil.which(VALGRIND[0]) is None:
        sys.exit("check_native: valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "dapkit")
        shutil.copytree(build_native.ROOT / "src/dapkit", package, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        folder_of_engine = package / build_native.SOURCES.parent.relative_to(build_native.ROOT / "src/dapkit")
        build_native.build(folder_of_engine, flags=("-g", "-O1", "-Werror"))
        build_native.build_parent(Path(folder), flags=("-g", "-O1", "-Werror"))
        findings = Path(folder, "findings.xml")
        environment = os.environ | {
            "CI": "true",
            "DAPKIT_NATIVE_EXAMPLES": str(EXAMPLES),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONMALLOC": "malloc",  # so that valgrind sees each object
            "PYTHONPATH": os.pathsep.join([folder, *(str(build_native.ROOT / name) for name in ("tests", "tools"))]),
            "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode")),
        }
        tests = [sys.executable, *PYTEST, TESTS, "-q", "-p", "no:cacheprovider", *sys.argv[1:]]
        subprocess.run(
            [*tests, "--collect-only"], cwd=build_native.ROOT, env=environment, check=False, capture_output=True
        )
        command = [*VALGRIND, f"--xml-file={findings}", *tests]
        ran = subprocess.run(command, cwd=build_native.ROOT, env=environment, check=False)
        errors = list(errors_of(findings, str(folder_of_engine / "_native.abi3.so")))
    for error in errors:
        print(error)
    if ran.returncode != 0 or errors:
        sys.exit(f"check_native: {len(errors)} memory errors, the tests ended with exit code {ran.returncode}")
    print("check_native: no memory errors")


def errors_of(findings: Path, extension: str) -> Iterator[str]:
    """Yield the errors in valgrind's report that count, as text."""
    for error in ET.parse(findings).getroot().iter("error"):  # noqa: S314 - valgrind's own file
        kind = error.findtext("kind", "")
        if kind.startswith("Leak_") and kind != "Leak_DefinitelyLost":
            continue
        ours = any(frame.findtext("obj") == extension for frame in error.iter("frame"))
        freed = any(" free'd" in (note.text or "") for note in error.iter("auxwhat"))
        if ours or freed:
            yield "\n".join(_lines_of(error, kind))


def _lines_of(error: ET.Element, kind: str) -> Iterator[str]:
    yield f"{kind}: {error.findtext('what') or error.findtext('xwhat/text')}"
    for part in error:
        if part.tag in {"auxwhat", "stack"}:
            yield part.text or "" if part.tag == "auxwhat" else "  in"
        for frame in part.iter("frame"):
            place = frame.findtext("obj")
            if frame.find("file") is not None:
                place = f"{frame.findtext('file')}:{frame.findtext('line')}"
            yield f"    {frame.findtext('fn', '?')} ({place})"


if __name__ == "__main__":
    main()
