"""The first import of a Python process that a debugged program has started: the way to its debugger.

The program's engine has put this folder in front of PYTHONPATH, and the way into DAPKIT_CHILD (`children.environment`).
Both are removed here before any code of the process can see them, and the program's own `sitecustomize` is imported in
our place. Any version of Python must be able to read this file; one that the engine cannot debug keeps running.
"""

import os
import sys


def _without_us():
    """Remove the traces of this start; return the way to the debugger, "" if there is none."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != folder]
    sys.path_importer_cache.pop(folder, None)
    sys.modules.pop("sitecustomize", None)
    way = os.environ.pop("DAPKIT_CHILD", "")
    folders = os.environ.pop("PYTHONPATH", "").split(os.pathsep)
    rest = [path for path in folders if path != folder]
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    return way


def _objects():
    """Return the list of the collector; no module is left behind for that."""
    is_known = "gc" in sys.modules
    import gc

    listed = gc.get_objects()
    if not is_known:
        del sys.modules["gc"]
        vars(gc).clear()  # else it is in circles, which the program would collect
    return listed


def _begin(way):
    """Load the engine where the program does not see it, and wait until it is configured."""
    of_interpreter = _objects()
    files = sys.modules["_frozen_importlib_external"]
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "loader.py")
    loader = type(sys)("_dapkit_debuggee.loader")
    loader.__file__ = path
    loader.__builtins__ = dict(vars(sys.modules["builtins"]))
    exec(files.SourceFileLoader("loader", path).get_code("loader"), vars(loader))
    load = loader.start(loader)
    try:
        load("engine.interpreter_checks").check()
    except RuntimeError as error:
        sys.stderr.write(f"dapkit: {error} This process is not debugged.\n")
    else:
        load("engine.child").begin(way, of_interpreter)
    globals().clear()  # nothing of this module is left for the collector either


def _begins_when_let_go_of(way):
    """Return an object that begins the engine when the last reference to it goes."""
    try:
        yield
    finally:
        _begin(way)


def _import_real(way):
    """Import the real one.

    If the module does not exist, `site` catches the error, and the holder of this object goes with it.
    """
    starter = _begins_when_let_go_of(way)
    next(starter)
    import sitecustomize  # noqa: F401

    del starter


def _import_alone():
    """Import the real one, in a function: in a module the import may be lazy."""
    import sitecustomize  # noqa: F401


_way = _without_us()
if _way and sys.version_info >= (3, 12) and sys.implementation.name == "cpython":
    _import_real(_way)
else:
    _import_alone()
