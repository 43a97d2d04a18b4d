"""The engine's own world: its modules, and their imports, are loaded here and appear nowhere else.

Changes of the program to `sys.modules` do not reach the engine, and the engine's modules do not appear there. Every
module of the debugger runs with a copy of the builtins whose `__import__` is `_import` below. It takes no lock of the
interpreter and calls no finder, so any thread may import at any time. It knows

    our own modules      loaded from this folder, with the bytecode caches that every import uses
    C modules            a copy of their names, as they are before the program can replace one
    `os`, `os.path`      made of `posix` and a `posixpath` of our own (`nt` and `ntpath` on Windows)
    `types`, `typing`,   `stand_ins`: types that the interpreter has anyway, and annotations, which no code
    `collections.abc`    reads here
    `sys`, `builtins`    the program's own, since most of what they hold is its state; functions of `sys` are taken once
    `PRIVATE`            modules of the standard library without classes, executed once more

and refuses all others: a second copy of a module with classes would be seen in the `__subclasses__` of their bases and
in the registries of ABCs. A module that must be the program's own is asked for by `import_for_program`.

Nothing of this holds where the package is imported as `dapkit.python.debuggee`, outside of debugged programs.
"""

import _codecs
import _frozen_importlib_external as _external  # in every interpreter from its start
import _imp
import builtins
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)

PACKAGE = "_dapkit_debuggee"
"""The name of the engine's package in its own world."""

HANDLE = "dapkit.engine"
"""The name under which `_codecs.lookup_error` finds `load` of this process: a place that nothing lists."""

LENT = "unicodedata"
"""The modules that the compiler imports for names that are not ASCII."""

_IS_WINDOWS = sys.platform == "win32"
_SYSTEM = "nt" if _IS_WINDOWS else "posix"
"""The module in C that `os` is made of."""
_PATHS = "ntpath" if _IS_WINDOWS else "posixpath"

PRIVATE = frozenset(("_opcode_metadata", "dis", "genericpath", "opcode", _PATHS))
"""Modules of the standard library that are executed once more for us."""

C_HALVES = {"io": "_io", "stat": "_stat"}
"""Modules of which the half in C is all that is used."""


_OF_SESSIONS = ("_codecs", "_queue")
"""Modules in C that the engine imports only where there is a session."""

_SEPARATOR = "\\" if _IS_WINDOWS else "/"


def _native(path: str) -> str:
    """Return a path with the separators of the system."""
    return path.replace("/", "\\") if _IS_WINDOWS else path


_caches: "Any" = _external  # its functions that read caches have no types
_PYC_HEADER_BYTES = 16

_FOLDER = _native(__file__).rpartition(_SEPARATOR)[0]
_STANDARD: str = _native(
    getattr(sys, "_stdlib_dir", None)
    or _native(str(getattr(sys.modules.get("os"), "__file__", ""))).rpartition(_SEPARATOR)[0]
)
_IN_C = f"{_SEPARATOR}{'DLLs' if _IS_WINDOWS else 'lib-dynload'}"
_LIBRARIES = next((path for path in map(_native, sys.path) if path.endswith(_IN_C)), f"{_STANDARD}{_IN_C}")
"""Folder of its modules in C that are not built in."""

_Function = type(lambda: None)
_FUNCTION_IN: "dict[type, str]" = {property: "fget", staticmethod: "__func__", classmethod: "__func__"}
"""Wrappers of a function in a class, with the attribute that has it."""

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_MADE_NEW = _HEAP_TYPE | 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE, as the types of `_ssl` have it, which the program then sees

_import_of_program = __import__
_compiling: set[int] = set()
"""Threads that are inside `_compile`."""
_modules_of_program = sys.modules  # where code in C looks, whatever the program does with the name
program_sys = sys
"""For `stand_ins` alone: everyone else imports `sys`."""
log_file = ""
"""Where `log` writes if it was asked for before that was loaded; `-` for stderr."""
_builtins: "dict[str, Any]" = {}
_loaded: "dict[str, Any]" = {}
_codes: "dict[str, Any]" = {}
"""Of modules that are to be executed later: code objects, or bytecode, which takes less memory."""


def start(loader: ModuleType) -> "Callable[[str], Any]":
    """Make the world of this process around this very module; return `load`, which HANDLE leads to from now on."""
    vars(loader)["__builtins__"] = _builtins
    _loaded[PACKAGE] = ModuleType(PACKAGE)
    _loaded[f"{PACKAGE}.loader"] = _loaded[PACKAGE].loader = loader
    _codecs.register_error(HANDLE, load)  # type: ignore[arg-type]  # it takes whatever can be called
    return load


def load(name: str) -> "Any":  # noqa: ANN401 - a module
    """Return a module of the engine, by its name inside the package."""
    return _own(f"{PACKAGE}.{name}")


def modules() -> "list[tuple[str, ModuleType]]":
    """Return the modules of our world that are loaded, by name."""
    return list(_loaded.items())


def standard(name: str) -> "Any":  # noqa: ANN401 - a module
    """Return a module of the standard library for our own use alone.

    Raises:
        ImportError: it cannot be had without traces in the program.

    """
    loaded = _loaded.get(name)
    if loaded is None:
        loaded = _loaded.setdefault(name, _made(name))
    return loaded


def prepare(name: str) -> None:
    """Read a module of the debugger, or a PRIVATE one, that is executed only when it is needed.

    By then the program may have replaced functions that read files.
    """
    full, folder = (name, _STANDARD) if name in PRIVATE else (f"{PACKAGE}.{name}", _FOLDER)
    if full not in _loaded and full not in _codes:
        _codes[full] = _bytecode(full, _native(f"{folder}/{name.replace('.', '/')}.py"))


def prepare_all() -> None:
    """Read the bytecode of all modules of the debugger that are not loaded, as `prepare` does for one."""
    for name in _OF_SESSIONS:
        standard(name)
    prepare("dis")
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in standard(_SYSTEM).scandir(_FOLDER + folder.replace(".", _SEPARATOR)):
            full = f"{PACKAGE}{folder}.{entry.name.removesuffix('.py')}"
            if entry.name.startswith("_"):
                continue  # an `__init__.py` without code, or a folder of caches
            if entry.is_dir():
                folders.append(f"{folder}.{entry.name}")
                _own(full)
            elif entry.name.endswith(".py"):
                prepare(full.removeprefix(f"{PACKAGE}."))


def import_for_program(name: str) -> "Any":  # noqa: ANN401 - a module
    """Import a module as the program does, in its threads: it runs its code, and stays in its `sys.modules`."""
    _import_of_program(name)
    return sys.modules[name]


def _import(
    name: str,
    names: "Mapping[str, Any] | None" = None,
    _locals: object = None,
    from_names: "Sequence[str] | None" = (),
    level: int = 0,
) -> "Any":  # noqa: ANN401 - a module
    """Stand for `__import__` in our modules and in those that are PRIVATE."""
    if type(from_names) is list:
        # PyImport_Import, by code in C that our code has called, as a `__repr__` of numpy.
        if name in _modules_of_program:
            return _modules_of_program[name]
        if name == LENT and _get_ident() in _compiling:
            return _modules_of_program.setdefault(name, standard(name))
        return _import_of_program(name, names, names, from_names, level)
    if not level:
        return standard(name)
    parts: list[str] = names["__package__"].split(".")  # type: ignore[index]  # the statement hands its globals over
    package = ".".join(parts[: len(parts) + 1 - level])
    full = f"{package}.{name}" if name else package
    module = _own(full)
    for attribute in from_names or ():
        if not hasattr(module, attribute):
            setattr(module, attribute, _own(f"{full}.{attribute}"))
    return module


def _compile(*arguments: "Any", **options: "Any") -> "Any":  # noqa: ANN401 - the arguments of `compile`
    """Stand for `compile`, which would import a module for the program, perhaps in a thread that must not wait."""
    ident = _get_ident()
    _compiling.add(ident)
    try:
        return compile(*arguments, **options)
    finally:
        _compiling.discard(ident)
        if LENT in _loaded and _modules_of_program.get(LENT) is _loaded[LENT]:
            del _modules_of_program[LENT]


def _own(full: str) -> "Any":  # noqa: ANN401 - a module
    """Return a module of our package, which is loaded if need be."""
    loaded = _loaded.get(full)
    if loaded is not None:
        return loaded
    place = _FOLDER + full.removeprefix(PACKAGE).replace(".", _SEPARATOR)
    try:
        code = _codes.get(full) or _code(full, place + ".py")
    except FileNotFoundError:
        # Else a folder, whose `__init__.py` holds nothing but a docstring.
        module = _extension(full, place) if full.endswith(("._native", "._travel")) else ModuleType(full)
        sys.modules.pop(full, None)  # where modules of one phase put themselves
    else:
        module = _executed(code, full, place + ".py", full.rpartition(".")[0])
    loaded = _loaded.setdefault(full, module)  # before the next line: another thread finds it in one of the two
    _codes.pop(full, None)
    return loaded


def _code(name: str, path: str) -> "Any":  # noqa: ANN401 - a code object
    frozen = _imp.is_frozen(name)
    return _imp.get_frozen_object(name) if frozen else _external.SourceFileLoader(name, path).get_code(name)


def _bytecode(name: str, path: str) -> bytes:
    """Return the bytecode of a module, from its cache if that is of the present source."""
    source = _external.SourceFileLoader(name, path)
    try:
        data = source.get_data(_external.cache_from_source(path))
        if not _caches._classify_pyc(data, name, {}):  # the cache is valid by the time and size of the source
            stats = source.path_stats(path)
            _caches._validate_timestamp_pyc(data, int(stats["mtime"]), stats["size"], name, {})
            return data[_PYC_HEADER_BYTES:]
    except (OSError, ImportError, EOFError):
        pass
    bytecode: bytes = _marshal.dumps(_code(name, path))
    return bytecode


def _executed(code: "Any", name: str, path: str, package: str = "") -> ModuleType:  # noqa: ANN401 - code, or bytecode
    """Execute the code of a file as a module of our world."""
    if type(code) is bytes:
        code = _load_code(code)
        _name_file(code, path)
    module = ModuleType(name)
    vars(module).update(__builtins__=_builtins, __package__=package, __file__=path)
    exec(code, vars(module))
    _drop_annotations(vars(module))
    return module


def _drop_annotations(names: "Mapping[str, Any]") -> None:
    """Free the annotations of a module's functions: they are not read, and on Python 3.14 each is code of its own."""
    classes = [value for value in names.values() if isinstance(value, type) and value.__module__ == names["__name__"]]
    for value in (*names.values(), *(member for kind in classes for member in vars(kind).values())):
        function = getattr(value, _FUNCTION_IN[type(value)]) if type(value) in _FUNCTION_IN else value
        if type(function) is _Function and function.__globals__ is names:
            del function.__annotations__


def _made(name: str) -> "Any":  # noqa: ANN401 - a module
    """Make the engine's version of a standard library module."""
    make = _MAKERS.get(name)
    if make is not None:
        return make()
    if name in PRIVATE:
        path = f"{_STANDARD}{_SEPARATOR}{name}.py"
        return _executed(_codes.get(name) or _code(name, path), name, path)
    return _module(name, vars(_c_module(C_HALVES.get(name, name))))


def _module(name: str, names: "Mapping[str, Any]") -> ModuleType:
    module = ModuleType(name)
    vars(module).update(names)
    return module


def _os() -> ModuleType:
    """Make an `os` of the C module, and of our own `posixpath`; the environment is the program's."""
    system = standard(_SYSTEM)
    real = sys.modules.get("os")  # `site` imports it, which -S leaves out
    environ = {_text(name): _text(value) for name, value in system.environ.items()}
    module = _module("os", vars(system))
    places = {"sep": "\\", "pathsep": ";"} if _IS_WINDOWS else {"sep": "/", "pathsep": ":"}
    vars(module).update(places, name=_SYSTEM, SEEK_CUR=1, SEEK_END=2, __file__=f"{_STANDARD}{_SEPARATOR}os.py")
    module.environ = getattr(real, "environ", environ)  # type: ignore[attr-defined]  # of the module
    _loaded["os"] = module  # the module of paths imports it
    module.path = standard(_PATHS)  # type: ignore[attr-defined]  # of the module
    return module


def _text(name: bytes | str) -> str:
    return name if isinstance(name, str) else name.decode("utf-8", "replace")


def _time() -> ModuleType:
    """Make a `time` whose functions are other objects: tools that replace clocks look for them in every dict."""
    in_c: Any = type(len)
    functions = {name: value for name, value in vars(_c_module("time")).items() if type(value) is in_c}
    return _module("time", {name: function.__call__ for name, function in functions.items()})


# Modules in C


def _c_module(name: str) -> ModuleType:
    """Return a module in C: the program's, as long as that has all it came with, else one of our own."""
    present_module = sys.modules.get(name)
    if type(present_module) is ModuleType and _is_in_c(present_module) and not _is_patched(present_module):
        return present_module
    if name in sys.builtin_module_names:
        spec = _Spec(name, "built-in")
        module = _imp.create_builtin(spec)  # type: ignore[arg-type]  # it asks for the name
        _imp.exec_builtin(module)
    else:
        module = _extension(name, f"{_LIBRARIES}{_SEPARATOR}{name}")
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Exception) and value.__flags__ & _MADE_NEW == _HEAP_TYPE:
            value.__bases__ = (_subclass(value.__bases__[0]),)
    if present_module is None:
        sys.modules.pop(name, None)  # where modules of one phase put themselves
    else:
        sys.modules[name] = present_module
    return module


def _subclass(base: type) -> type:
    """Return a subclass of ours, for errors of our modules in C: else the program would find its own ones twice."""
    subclasses: list[type] = type.__subclasses__(base)
    for below in subclasses:
        if below.__module__ == __name__:
            return below
    return type(base.__name__, (base,), {"__slots__": (), "__module__": __name__})


def _is_in_c(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return module.__name__ in sys.builtin_module_names if file is None else _native(file).startswith(_LIBRARIES)


def _is_patched(module: ModuleType) -> bool:
    """Return whether a function of a module in C was replaced."""
    return any(
        callable(value) and not isinstance(value, type) and getattr(value, "__self__", None) is not module
        for key, value in vars(module).items()
        if not key.startswith("__")
    )


def _extension(name: str, place: str) -> ModuleType:
    """Load a module from a shared library."""
    for suffix in _imp.extension_suffixes():
        try:
            _stat(place + suffix)
        except OSError:
            continue
        module = _imp.create_dynamic(_Spec(name, place + suffix))  # type: ignore[arg-type]  # it asks for these two
        _imp.exec_dynamic(module)
        return module
    raise ImportError(f"no module {name!r} at {place}.*, and others are not for the engine to import", name=name)


class _Spec:
    """The part of a C module's specification that the interpreter reads."""

    def __init__(self, name: str, origin: str) -> None:
        self.name = name
        self.origin = origin


def _stand_in(name: str) -> ModuleType:
    stand_ins = _own(f"{PACKAGE}.interpreter.stdlib_stubs")
    names: dict[str, Any] = getattr(stand_ins, name)()
    return _module(name, names)


_MAKERS: "dict[str, Callable[[], Any]]" = {
    "builtins": lambda: builtins,
    "collections": lambda: _stand_in("collections"),
    "collections.abc": lambda: _stand_in("annotations"),
    "os": _os,
    "os.path": lambda: standard(_PATHS),
    "sys": lambda: _own(f"{PACKAGE}.interpreter.stdlib_stubs").ProgramSys(),
    "time": _time,
    "types": lambda: _stand_in("types"),
    "typing": lambda: _stand_in("annotations"),
}

_builtins.update(vars(builtins), __import__=_import, compile=_compile)
if "__lazy_import__" in _builtins:
    _builtins["__lazy_import__"] = _import  # under `-X lazy_imports=all`, which is for the program's modules
if __name__ in sys.modules:  # it was imported as modules are: there is no program around it
    _loaded[f"{PACKAGE}.loader"] = sys.modules[__name__]
_get_ident = standard("_thread").get_ident
_marshal = standard("marshal")
_load_code = _marshal.loads
_name_file = vars(_imp)["_fix_co_filename"]
_stat = standard(_SYSTEM).stat
