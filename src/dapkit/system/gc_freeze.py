"""Modules that a process imports before it begins its work."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


@contextmanager
def frozen_imports() -> Iterator[None]:
    """Exclude the modules that are imported meanwhile from garbage collection: they stay until the process ends.

    The interpreter would look through it while it is imported, and again several times at the end.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def import_when_used() -> None:
    """On Python 3.15, have modules import others when a name of these is first used (PEP 810).

    An adapter imports some seventy modules that most sessions never use.
    """
    if sys.version_info >= (3, 15):
        sys.set_lazy_imports("all")


_CLASSES_IN_ANNOTATIONS = frozenset({"MemoryBIO", "SSLContext", "SSLObject"})
"""Names of `ssl` that anyio 4.16 asks for as it is imported: to import them, and by dataclasses of Python 3.15."""


class _PostponedModule(ModuleType):
    """A module whose code is executed when an attribute of it is first used; its spec is there before.

    `importlib.util.LazyLoader` executes it at the second `import` already, which looks for the spec.
    """

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # the statement `from ssl import` asks for `__path__`
            raise AttributeError(name)
        if name in _CLASSES_IN_ANNOTATIONS:
            return _PostponedClass(self, name)
        return self.executed(name)

    def executed(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        """Execute the module, unless that was done, and return an attribute."""
        if type(self) is _PostponedModule:
            self.__class__ = ModuleType  # type: ignore[assignment]  # which modules allow
            if self.__spec__ is not None and self.__spec__.loader is not None:
                self.__spec__.loader.exec_module(self)
        return ModuleType.__getattribute__(self, name)


class _PostponedClass:
    """A class of a postponed module, for who has imported it by name: each use executes the module."""

    def __init__(self, module: _PostponedModule, name: str) -> None:
        self._class: Callable[[], Any] = lambda: _PostponedModule.executed(module, name)

    def __call__(self, *arguments: object, **options: object) -> object:
        return self._class()(*arguments, **options)

    def __getattr__(self, name: str) -> object:
        return getattr(self._class(), name)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._class())


def postpone_ssl() -> None:
    """Load `ssl` when it is first used, for a process that seldom needs it: it takes 4 MB and some 10 ms.

    anyio imports the module, and does nothing with it before a connection is to be encrypted. asyncio looks into it at
    once, for TLS of its own, which nothing of ours uses: it is imported here as on an interpreter without OpenSSL.
    """
    if "ssl" in sys.modules or "asyncio" in sys.modules or (spec := find_spec("ssl")) is None:
        return
    sys.modules["ssl"] = None  # type: ignore[assignment]  # it cannot be imported
    try:
        import asyncio  # noqa: F401 - for the moment of the import
    finally:
        del sys.modules["ssl"]
    module = module_from_spec(spec)
    module.__class__ = _PostponedModule
    sys.modules["ssl"] = module
