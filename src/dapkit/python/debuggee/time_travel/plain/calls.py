"""The functions of the program's modules in C, and what stands in their place.

They are replaced in the modules themselves once these are loaded, and in all that has them by then. What stands in
their place is a bound method: as an attribute of a class it is not bound again, as a function in C is not.
"""

import gc
import os
import sys
from collections.abc import Callable
from types import MethodType, ModuleType
from typing import Any

from ...interpreter.hidden_frames import unseen
from . import randomness, today
from .descriptors import Descriptors
from .listing import DirEntry, listing
from .notes import NotedCalls
from .passages import only_live
from .state import REPLAY, STANDARD_OUTPUTS, state
from .tables import ENDING, ENDING_MODULES, LEFT_ALONE, NOTED, OPENING

type Replacement = Callable[..., Any]
"""What is called instead of a function: with that, and with what it is called with."""


class ReplacedCalls:
    """What was replaced, and what is to be in modules that are loaded later."""

    def __init__(self, notes: NotedCalls, descriptors: Descriptors) -> None:
        """Take what notes and answers calls."""
        self._notes = notes
        self._descriptors = descriptors
        self._replaced: dict[int, tuple[object, object]] = {}  # by the identity of what was there
        self._adapted: set[str] = set()
        self._libraries = [path for path in sys.path if path.endswith("/lib-dynload")]

    def begin(self) -> None:
        """Replace what is there, in all that has it."""
        loader: Any = sys.modules["_imp"]
        self.replace(loader, "create_dynamic", self._loading())
        for name in ("create_builtin", "exec_builtin", "exec_dynamic"):
            self.replace(loader, name, self._executing())
        for name, module in list(sys.modules.items()):
            if type(module) is ModuleType:
                self._adapt(name, module)
        self._replace_everywhere()

    def replace(self, module: Any, name: str, by: Replacement) -> None:  # noqa: ANN401 - any module
        """Have a function replaced."""
        real = getattr(module, name, None)
        if real is None:
            return
        function: Any = by
        function.__name__ = function.__qualname__ = name
        function.__doc__, function.__module__ = getattr(real, "__doc__", None), module.__name__
        self.put(module, name, MethodType(by, real))

    def put(self, module: Any, name: str, value: object) -> None:  # noqa: ANN401 - any module
        """Have something else under a name, and wherever else it is."""
        real = getattr(module, name)
        self._replaced[id(real)] = real, value
        setattr(module, name, value)

    def _replace_everywhere(self) -> None:
        for module in list(sys.modules.values()):
            for name, value in list(vars(module).items()) if type(module) is ModuleType else ():
                known = self._replaced.get(id(value))
                if known is not None:
                    setattr(module, name, known[1])
                elif type(value) is set:  # as `os.supports_dir_fd`
                    value |= {self._replaced[id(item)][1] for item in list(value) if id(item) in self._replaced}

    def _adapt(self, name: str, module: Any) -> None:  # noqa: ANN401, C901 - a module in C; one case for each
        """Replace what is to be in a module that is there now, once."""
        if name in self._adapted:
            return
        self._adapted.add(name)
        for called in NOTED.get(name, "").split():
            self.replace(module, called, self._noted(called, opens=name == "posix" and called in OPENING))
        for called in ENDING.get(name, "").split():
            self.replace(module, called, self._ending(f"{name}.{called}"))
        match name:
            case "posix":
                self._adapt_system(module)
            case "gc":
                for called, by in self._notes.history.garbage.functions().items():
                    self.replace(module, called, by)
            case "_signal":
                self.replace(module, "signal", self._setting_handler(module))
            case "_ssl":
                self.put(module, "_SSLContext", _ending_class(module._SSLContext, self._notes))
            case "select":
                self.replace(module, "epoll", self._probing())
            case "_random":
                module.Random.seed = randomness.seeding(self._notes, module.Random.seed)
            case "_datetime":
                today.adapt(self._notes, module, gc.get_referents(module.datetime.__dict__)[0])

    def _adapt_system(self, module: Any) -> None:  # noqa: ANN401 - of the name
        for called in ("write", "writev", "pwrite", "pwritev"):
            self.replace(module, called, self._writing(called))
        self.replace(module, "close", self._closing())
        self.replace(module, "scandir", listing(self._notes))
        self.replace(module, "register_at_fork", _registering)
        self.replace(module, "_exit", self._exiting())
        self.put(module, "DirEntry", DirEntry)
        for name, value in list(vars(module).items()):
            if type(value) is type(os.stat) and name not in LEFT_ALONE:
                self.replace(module, name, self._ending(f"os.{name}"))

    # What stands in the place of functions

    def _noted(self, name: str, *, opens: bool = False) -> Replacement:
        call = self._notes.call
        again = self._descriptors.have if opens else None

        @unseen
        def noted(real: Callable[..., Any], /, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - any function's
            return call(name, real, args, named, again=again)

        return noted

    def _ending(self, name: str) -> Replacement:
        end = self._notes.end

        @unseen
        def ending(real: Callable[..., Any], /, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - any function's
            end(name)
            return real(*args, **named)

        return ending

    def _writing(self, name: str) -> Replacement:
        call = self._notes.call

        @unseen
        def writing(real: Callable[..., Any], file: int, /, *args: Any) -> Any:  # noqa: ANN401 - any function's
            is_of_program = state.is_of_program
            sizes = [len(part) if type(part) in (bytes, bytearray) else 0 for part in args]
            size = call(name, lambda *_: real(file, *args), (file, *sizes))
            if is_of_program and file in STANDARD_OUTPUTS:
                state.written += size
            return size

        return writing

    def _closing(self) -> Replacement:
        call, drop = self._notes.call, self._descriptors.drop

        @unseen
        def closing(real: Callable[..., Any], /, fd: int) -> None:
            call("close", real, (fd,), again=lambda _: drop(fd))

        return closing

    def _exiting(self) -> Replacement:
        notes = self._notes

        @unseen
        def exiting(real: Callable[..., Any], /, status: int) -> None:
            if state.is_of_program and state.mode is REPLAY:
                notes.history.reach_end()
            real(status)

        return exiting

    def _probing(self) -> Replacement:
        """Let `selectors` look whether there is such a thing: it makes one, and closes it."""
        end = self._notes.end

        @unseen
        def probing(real: Callable[..., Any], /, *args: Any, **named: Any) -> Any:  # noqa: ANN401 - what polls
            if not state.is_of_program:
                return real(*args, **named)
            return _Probe(lambda: (end("select.epoll"), real(*args, **named))[1])

        return probing

    def _setting_handler(self, module: Any) -> Replacement:  # noqa: ANN401 - `_signal`
        end = self._notes.end
        harmless = module.SIG_DFL, module.SIG_IGN, module.default_int_handler

        @unseen
        def setting_handler(real: Callable[..., Any], /, *args: Any) -> Any:  # noqa: ANN401 - the handler before
            if len(args) > 1 and args[1] not in harmless:
                end("signal.signal")
            return real(*args)

        return setting_handler

    # Modules that are loaded

    def _loading(self) -> Replacement:
        @unseen
        def loading(real: Callable[..., Any], /, spec: Any, *more: Any) -> Any:  # noqa: ANN401 - of a module
            if state.is_of_program:
                is_standard = any(spec.origin.startswith(f"{path}/") for path in self._libraries)
                if not is_standard or spec.name in ENDING_MODULES:
                    self._notes.end(f"import {spec.name}")
            return real(spec, *more)

        return loading

    def _executing(self) -> Replacement:
        @unseen
        def executing(real: Callable[..., Any], /, given: Any) -> Any:  # noqa: ANN401 - a module, or its specification
            name = getattr(given, "name", "") or getattr(given, "__name__", "")
            if state.is_of_program and name in ENDING_MODULES:
                self._notes.end(f"import {name}")
            result = real(given)
            if state.is_of_program and type(given) is ModuleType:
                self._adapt(name, given)
            return result

        return executing


class _Probe:
    """What is made only once it is used."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def close(self) -> None:
        """Close what was not used."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute
        made = self.__dict__.setdefault("_made", self._make())
        self.__dict__["close"] = made.close
        return getattr(made, name)


def _ending_class(base: Any, notes: NotedCalls) -> Any:  # noqa: ANN401 - a class
    """Return a class whose objects cannot be made without ending the history."""

    @unseen
    def make(cls: Any, *args: Any) -> Any:  # noqa: ANN401 - an object of the class
        notes.end(f"{base.__module__}.{base.__name__}")
        return base.__new__(cls, *args)

    return type(base.__name__, (base,), {"__module__": base.__module__, "__slots__": (), "__new__": make})


@unseen
def _registering(real: Callable[..., Any], /, **called: Callable[[], None]) -> None:
    """Have what the program does at its forks not be done where copies of it are made."""
    real(**{when: only_live(function) for when, function in called.items()})
