"""Have each run of this environment with `DAPKIT_SYSTEM=posix` import `tests/posix/linux_names.py` at its start."""

import sysconfig
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tests/posix"


def main() -> None:
    """Write the line for `site`."""
    begin = f"sys.path.append({str(FOLDER)!r}); import linux_names; sys.path.remove({str(FOLDER)!r})"
    line = f"import os, sys; exec({begin!r} if os.environ.get('DAPKIT_SYSTEM') == 'posix' else '')\n"
    Path(sysconfig.get_path("purelib"), "dapkit_take_linux_away.pth").write_text(line)


if __name__ == "__main__":
    main()
