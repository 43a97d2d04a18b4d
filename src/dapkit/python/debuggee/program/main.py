"""Running the program exactly as `python FILE`, `python -m NAME` or `python -c TEXT` would.

That is: its `__main__`, `sys.argv` and `sys.orig_argv`, `sys.path[0]`, its exit code, and the traceback of an
uncaught exception without any frame of the debugger. The exception itself leaves
through `entry`, so that the interpreter does all else: `sys.last_exc`, exit by SIGINT,
`threading` and `atexit`.
"""

import builtins
import io
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType, TracebackType
from typing import Final

from ..interpreter.hidden_frames import hidden_frame, hide
from ..interpreter.native import uncount_calls
from ..loader import import_for_program
from ..sources.files import OURS, Sources

type Loaded = Callable[[], None]
"""Runs the program, to its end."""

_FRAMES_BELOW = 3
"""Frames of the debugger below the program: the script's, and two functions."""


_KEPT: Final[list[ModuleType]] = []
"""The interpreter's own `__main__`: after an uncaught exception it uses its dict, and holds neither any more."""


def run_to_end(
    run: Loaded,
    note_exit_code: Callable[[int], None],
    sources: Sources,
    script: CodeType,
    *,
    asked_to_end: Callable[[], bool],
) -> Callable[[], None]:
    """Return the function that runs the program, called by the script that the interpreter runs: `script` is its code.

    The interruption by which it was `asked_to_end` is not reported.

    No frame of the debugger is seen below the program, nor in its tracebacks, nor counted. Without the C extension the
    script's frame is seen, if not by the report of an uncaught exception, and recursion ends earlier.
    """
    hidden = hide(script)
    uncount_calls(_FRAMES_BELOW)

    @hidden_frame
    def run_unseen() -> None:
        try:
            run()
        except BaseException as error:
            note_exit_code(exit_code_of(error))
            if isinstance(error, KeyboardInterrupt) and asked_to_end():
                _report_nothing()
            elif not hidden:
                hide_us_from_traceback(error, sources)
            raise

    return run_unseen


def is_archive(kind: str, what: str) -> bool:
    """Return whether a program is a zip archive. To be asked before exceptions are watched: the answer may be one."""
    path = os.path.join(os.getcwd(), what)
    if kind != "program" or path.endswith((".py", ".pyc")) or not os.path.isfile(path):
        return False
    archives = import_for_program("zipimport")
    try:
        archives.zipimporter(path)
    except archives.ZipImportError:
        return False
    return True


def prepare(kind: str, what: str, arguments: list[str], *, archive: bool, text: str = "") -> tuple[Loaded, str]:
    """Prepare the run of a program; return the function that runs it, and its file (or an empty text).

    `kind` is `program`, `module` or `code`; `archive` is the result of `is_archive`. `text` is the file that has the
    program's text, if its own file has another one now.

    Raises:
        SystemExit: with code 2, if there is no such file.

    """
    _KEPT.append(sys.modules["__main__"])
    main = sys.modules["__main__"] = ModuleType("__main__")
    names = main.__dict__
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    names["__builtins__"] = builtins
    words = {"program": [what], "module": ["-m", what], "code": ["-c", what]}[kind]
    sys.orig_argv[-len(sys.argv) :] = [*words, *arguments]
    script = os.path.abspath(sys.argv[0])
    sys.path_importer_cache.pop(script, None)  # the interpreter has asked whether it is an archive
    if kind == "code":
        _set_path("")
        sys.argv = ["-c", *arguments]
        names["__loader__"] = _frozen_loader("BuiltinImporter")
        return _of_text(what, names), ""
    if kind == "module":
        _set_path(os.getcwd())
        sys.argv = ["-m", *arguments]
        names["__loader__"] = _frozen_loader("BuiltinImporter")
        return _of_module(what, alter=True), ""
    sys.argv = [what, *arguments]
    path = os.path.join(os.getcwd(), what)  # absolute, but otherwise as it was given
    if not text and (archive or os.path.isdir(path)):
        _set_path(path)
        return _of_module("__main__", alter=False), ""
    _set_path(os.path.dirname(os.path.realpath(path)))
    sys.path_importer_cache[path] = None  # the answer for the program
    return _of_file(path, names, text or path), path


def _set_path(first: str) -> None:
    if not sys.flags.safe_path:
        sys.path.insert(0, first)


def _frozen_loader(name: str) -> object:
    return getattr(sys.modules["_frozen_importlib"], name)


def _of_text(text: str, names: dict[str, object]) -> Loaded:
    @hidden_frame
    def run() -> None:
        code = builtins.compile(text, "<string>", "exec", dont_inherit=True)
        if sys.version_info >= (3, 13):
            # As the interpreter does it, so that tracebacks show the text; 3.13.0 has it by the name of the file.
            linecache = import_for_program("linecache")
            linecache._register_code(code if hasattr(linecache, "_interactive_cache") else "<string>", text, "<string>")
        exec(code, names)

    return run


def _of_module(name: str, *, alter: bool) -> Loaded:
    @hidden_frame
    def run() -> None:
        import_for_program("runpy")._run_module_as_main(name, alter)  # called by `python -m`

    return run


def _of_file(path: str, names: dict[str, object], text: str) -> Loaded:
    try:
        with io.open_code(text) as file:
            content = file.read()
    except OSError as error:
        sys.stderr.write(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}\n")
        raise SystemExit(2) from None
    names["__file__"] = path
    if sys.version_info < (3, 15):
        names["__cached__"] = None
    external = sys.modules["_frozen_importlib_external"]
    compiled = path.endswith(".pyc")
    loader = external.SourcelessFileLoader if compiled else external.SourceFileLoader
    names["__loader__"] = loader("__main__", path)

    @hidden_frame
    def run() -> None:
        if compiled:
            import marshal

            code: CodeType = marshal.loads(content[16:])  # noqa: S302 - the program itself
        else:
            code = builtins.compile(content, path, "exec", dont_inherit=True)
        exec(code, names)

    return run


def exit_code_of(error: BaseException | None) -> int:
    """Return the exit code of a program that ends with this exception."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        code = error.code
        return 0 if code is None else code & 0xFF if isinstance(code, int) else 1
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def hide_us_from_traceback(error: BaseException, sources: Sources) -> None:
    """See to it that the interpreter, about to report this exception, shows no frame of the debugger."""
    report = sys.excepthook

    def excepthook(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
        sys.excepthook = report
        program_traceback = value.__traceback__ = _without_us(traceback, sources)
        sys.last_traceback = program_traceback
        report(kind, value, program_traceback)

    if not isinstance(error, SystemExit):
        sys.excepthook = excepthook


def _report_nothing() -> None:
    """See to it that the interpreter does not report the exception that it is about to end with; a program may."""
    report = sys.excepthook

    def excepthook(_kind: type[BaseException], _value: BaseException, _traceback: TracebackType | None) -> None:
        sys.excepthook = report

    if report is sys.__excepthook__:
        sys.excepthook = excepthook


def _without_us(traceback: TracebackType | None, sources: Sources) -> TracebackType | None:
    entries: list[TracebackType] = []
    while traceback is not None:
        if sources.kind(traceback.tb_frame.f_code.co_filename) != OURS:
            entries.append(traceback)
        traceback = traceback.tb_next
    chain: TracebackType | None = None
    for entry in reversed(entries):
        chain = TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return chain
