"""Libraries in pure Python that the interpreter of the tests has, for programs in any other.

Start(program, env={"PYTHONPATH": str(libraries(tmp_path))})
"""

import sysconfig
from pathlib import Path

NAMES = (
    "asgiref",
    "blinker",
    "click",
    "django",
    "flask",
    "itsdangerous",
    "jinja2",
    "markupsafe",
    "sqlparse",
    "werkzeug",
)
"""The libraries; markupsafe is faster with its part in C, and works without."""


def libraries(folder: Path) -> Path:
    """Make a folder of links to the libraries, named as one that libraries are in."""
    made = folder / "libraries" / "site-packages"
    made.mkdir(parents=True)
    installed = Path(sysconfig.get_path("purelib"))
    described = [path for name in NAMES for path in installed.glob(f"{name}-*.dist-info")]  # some ask for their version
    for path in [*(installed / name for name in NAMES), *described]:
        (made / path.name).symlink_to(path)
    return made
