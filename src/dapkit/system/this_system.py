"""The system that this process runs on."""

import sys

from dapkit.system import selection
from dapkit.system.interface import System


def _made() -> System:
    if sys.platform == "linux" and selection.NAME == selection.LINUX:
        from dapkit.system.linux import Linux

        return Linux()
    if sys.platform == "win32":
        from dapkit.system.windows import Windows

        return Windows()
    from dapkit.system.posix import Posix

    return Posix()


SYSTEM = _made()
