"""Build what is written in C with the package, where that is possible: the debuggee's extensions, programs' parent.

Without a C compiler, or without the headers of Python, the package is complete all the same: pure
Python serves (src/dapkit/python/debuggee/interpreter/native.py), and the build says so in a warning.

For free-threaded programs there are further files: see tools/build_native.py. DAPKIT_HEADERS names folders with the
headers of further versions of Python, divided as in PATH, for which such files are made, too.
"""

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class VersionHook(MetadataHookInterface):
    """Hatchling's hook for metadata.

    It refuses an older Python at once: pip compares `requires-python` last, after it has tried old releases of the
    dependencies of an extra, which takes it many minutes.
    """

    def update(self, _metadata: dict[str, Any]) -> None:
        """Refuse a Python that is too old."""
        if sys.version_info < (3, 12):  # noqa: UP036 - this is where it is seen
            version = ".".join(map(str, sys.version_info[:3]))
            raise SystemExit(f"dapkit needs Python 3.12 or newer, and this is {version}: use python3.12 -m pip")


class NativeHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling has no types for its configuration
    """Hatchling's hook for wheels; an editable installation is one, too."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Compile in place, and make the wheel one of the stable ABI if that works."""
        spec = importlib.util.spec_from_file_location("build_native", Path(self.root, "tools", "build_native.py"))
        assert spec is not None  # noqa: S101 - the file is part of the sources
        assert spec.loader is not None  # noqa: S101 - the same
        build_native = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build_native)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        try:
            build_native.build_parent()
        except build_native.CannotBuildError as error:
            self.app.display_warning(f"programs are launched by a parent in Python, which takes 9 MB more: {error}")
        else:
            build_data["artifacts"].append(str(build_native.PARENT.relative_to(self.root)))
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
        headers = [Path(folder) for folder in os.environ.get("DAPKIT_HEADERS", "").split(os.pathsep) if folder]
        try:
            names = build_native.build(headers=headers)
        except build_native.CannotBuildError as error:
            self.app.display_warning(f"dapkit is installed without its C extensions, pure Python serves: {error}")
            return
        folder = build_native.SOURCES.parent.relative_to(self.root)
        build_data["artifacts"] += [str(folder / name) for name in names]
        build_data["pure_python"] = False
        build_data["tag"] = f"{_tag()}-{platform}"


def _tag() -> str:
    """Return interpreter and ABI of the wheel: what dapkit itself can be installed into."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "cp312-abi3"
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return "cp315-abi3t" if sys.version_info >= (3, 15) else f"{version}-{version}t"
