"""A program that changes what it can reach of the interpreter, for tests of what the debugger relies on there."""

SPOILING = """
import _json, _queue, _signal, _socket, _thread, builtins, gc, io, itertools, linecache, os, posix, posixpath, select
import sys, time, types

def broken(*_arguments, **_more):
    raise ZeroDivisionError("this is the program's own")

def frozen():
    return -1e300

class Spoiled:
    def __enter__(self):
        self.kept = []
        functions = {
            # As libraries that replace clocks do: wherever somebody has taken it.
            id(time.monotonic): frozen,
        }
        tables = [names for names in gc.get_objects() if type(names) is dict]
        for names in tables:
            for name, value in list(names.items()):
                if id(value) in functions:
                    self.replace(names, name, functions[id(value)])
        modules = [_json, _queue, _signal, _socket, _thread, io, itertools, linecache, os, posix, posixpath, select]
        for name, value in list(vars(sys).items()):
            if type(value) is type(len) and not name.endswith("hook"):
                self.replace(vars(sys), name, broken)
        for module in (*modules, sys.monitoring, time, types):
            for name, value in list(vars(module).items()):
                if callable(value) and not name.startswith("__"):
                    self.replace(vars(module), name, broken)
        self.modules = dict(sys.modules)
        clear, put, names = sys.modules.clear, sys.modules.__setitem__, vars(builtins)
        spared = ("ZeroDivisionError", "__build_class__")
        of_builtins = [name for name, value in names.items() if callable(value) and name not in spared]
        self.kept += [(names, name, names[name]) for name in of_builtins]
        for name in of_builtins:
            names[name] = broken
        clear()
        put("linecache", linecache)

    def replace(self, names, name, value):
        self.kept.append((names, name, names[name]))
        names[name] = value

    def __exit__(self, *_error):
        sys.modules.update(self.modules)
        for names, name, value in self.kept[::-1]:
            names[name] = value
"""
"""`with Spoiled():` empties `sys.modules`, and replaces clocks, builtins, and functions and classes of modules."""
