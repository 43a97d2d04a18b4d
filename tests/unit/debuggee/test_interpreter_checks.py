"""Each check of what the engine relies on in CPython finds that it has changed."""

import sys
from collections.abc import Callable
from opcode import opmap
from types import SimpleNamespace

import pytest

from dapkit.python.debuggee.connection import framing
from dapkit.python.debuggee.data_breakpoints import name_offsets
from dapkit.python.debuggee.engine import interpreter_checks
from dapkit.python.debuggee.engine.interpreter_checks import ChangedInternal
from dapkit.python.debuggee.exceptions import handlers
from dapkit.python.debuggee.sources import compilation, files


def another_opcode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter_checks, "opmap", {**opmap, "STORE_FAST_TWICE": 99})


def no_resume(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_RESUME", 255)


def frames_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter_checks, "hidden_frame", lambda function: function)


def no_exception_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers, "handlers_of", lambda _code: [])
    monkeypatch.setattr(handlers, "_codes", {})


def no_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_offsets, "instructions", lambda _code: [])


def other_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "_encode", lambda _value, _level: ("{}",))


def filters_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "warning_filters", list)


def other_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    function = SimpleNamespace(__text_signature__="($module, args, environment, /)")
    monkeypatch.setitem(sys.modules, "_posixsubprocess", SimpleNamespace(fork_exec=function))


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "names of bytecode instructions": another_opcode,
    "where the code of a function begins": no_resume,
    "which frames it shows": frames_are_shown,
    "how code catches exceptions": no_exception_table,
    "how code stores variables": no_stores,
    "the C functions of the module json": other_json,
    "how warnings are filtered": filters_elsewhere,
    "how programs are started": other_arguments,
}


def test_all_checks_hold_here() -> None:
    interpreter_checks.check()
    assert interpreter_checks.remark() == ""


def test_each_internal_has_a_change_below() -> None:
    assert [internal.name for internal in interpreter_checks.internals()] == list(CHANGES)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    CHANGES[name](monkeypatch)
    with pytest.raises(ChangedInternal, match=rf"^Python 3\.\d+ has changed {name}, which the debugger needs for "):
        interpreter_checks.check()
