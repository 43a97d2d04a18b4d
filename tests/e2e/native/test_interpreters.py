"""The one file of the extension serves every interpreter, or says why it does not."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from e2e.native.conftest import DEBUGGEE, LOAD, Run

pytestmark = pytest.mark.each_python


@pytest.mark.thorough
@pytest.mark.usefixtures("needs_extension")
def test_extension_finds_all_it_needs(run: Run) -> None:
    can_watch = "native.CAN_WATCH is not native.IS_FREE_THREADED"
    assert run(f"print(native.CAN_CHECK, {can_watch}, native.CAN_POLL)") == "True True True"


VARIABLES = """
said = []
def check_of(code, name, number):
    return native.line_check(
        code, 1, condition=("compare", "==", ("local", name), ("constant", number)), hits=None, count=native.counter(),
        hit=lambda *_: said.append(name), careful=lambda *_: said.append("unbound " + name),
    )
"""


@pytest.mark.usefixtures("needs_extension")
def test_local_variables_are_read_from_where_they_are(run: Run) -> None:
    program = """
        print(native.FINDS_LOCALS)
        def look(name, number):
            check = check_of(code, name, number)
            check(code, 1, 2)
        def function(argument, kept, /, *rest, named, **names):
            variable = argument + 1
            look("argument", 1), look("kept", 2), look("variable", 2), look("named", 3), look("variable", 3)
            del variable
            look("variable", 2)
            return lambda: kept
        code = function.__code__
        function(1, 2, named=3)
        def comprehension():
            item = 1
            [look("item", 5) for item in (4, 5)]
            look("item", 1)
        code = comprehension.__code__
        comprehension()
        def generator(sent):
            while True:
                look("sent", 7)
                sent = yield
        code = generator.__code__
        running = generator(7)
        next(running)
        running.send(8)
        running.send(7)
        print(*said, sep=", ")
    """
    found, said = run(VARIABLES + dedent(program)).splitlines()
    assert found == "True"
    assert said == "argument, kept, variable, named, unbound variable, item, item, sent, sent"


def test_package_without_the_extension_says_so_and_goes_on(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "debuggee"
    shutil.copytree(DEBUGGEE, folder, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    program = """
        print(native.AVAILABLE, native.CAN_CHECK, native.CAN_WATCH, native.CAN_POLL)
        print(native.REASON)
        count = native.counter()
        print(count(), count(), native.router({}))
    """
    flags, reason, calls = run(program, folder=folder).splitlines()
    assert flags == "False False False False"
    assert "cannot be loaded" in reason
    assert "C compiler" in reason
    assert calls == "1 2 None"


HIDE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
/* Stands before the C library's: an interpreter that lacks a function. */
void *dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);
    if (strcmp(name, HIDDEN) == 0) return NULL;
    if (real == NULL) real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real == NULL ? NULL : real(handle, name);
}
"""


@pytest.fixture
def hide(require_tool: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a library which hides a function of the interpreter."""
    compiler = require_tool("cc")

    def make(hidden: str) -> Path:
        source, library = tmp_path / "hide.c", tmp_path / "hide.so"
        source.write_text(HIDE)
        command: list[str | Path] = [compiler, "-shared", "-fPIC", f'-DHIDDEN="{hidden}"', source, "-o", library]
        subprocess.run(command, check=True)
        return library

    return make


@pytest.mark.needs_gil("what it hides is not used without one")
@pytest.mark.parametrize(
    ("hidden", "can", "error"),
    [
        ("PyFrame_GetVar", "False True True", "no PyFrame_GetVar"),
        ("PyDict_Watch", "True False True", "no PyDict_Watch"),
    ],
)
@pytest.mark.usefixtures("needs_extension")
def test_function_that_an_interpreter_lacks_is_a_clear_state(
    run: Run, hide: Callable[[str], Path], hidden: str, can: str, error: str
) -> None:
    program = """
        from _dapkit_debuggee import _native
        print(native.CAN_CHECK, native.CAN_WATCH, native.CAN_POLL)
        try:
            _native.line_check(None, 1, None, None, native.counter(), print, print)
            native.watch({}, "x")
        except RuntimeError as error:
            print(error)
    """
    said = run(program, env={"LD_PRELOAD": str(hide(hidden))}).splitlines()
    assert said == [can, f"this interpreter has {error}"]


@pytest.mark.usefixtures("needs_extension")
def test_subinterpreter_is_refused(run: Run) -> None:
    inside = LOAD.format(folder=str(DEBUGGEE)) + "assert 'subinterpreters' in native.REASON, native.REASON"
    program = f"""
        try:
            import _interpreters as interpreters
        except ImportError:  # 3.12
            import _xxsubinterpreters as interpreters
        another = interpreters.create()
        print(interpreters.run_string(another, {inside!r}))
        interpreters.destroy(another)
    """
    assert run(program) == "None"  # an error would be raised, or returned
