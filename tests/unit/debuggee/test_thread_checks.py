"""Marks on functions: what is checked where tests look on, and that nothing is left of them elsewhere."""

import _thread
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from dapkit.python.debuggee.interpreter import thread_checks as imported
from dapkit.python.debuggee.interpreter.errors import MarkBroken


def loaded(monkeypatch: pytest.MonkeyPatch, switch: str) -> ModuleType:
    """Return a fresh copy of the module, which reads the switch as it is loaded."""
    monkeypatch.setenv("DAPKIT_CHECK_MARKS", switch)
    monkeypatch.setattr(sys, "addaudithook", lambda _hook: None)  # which could not be taken away from this process
    assert imported.__spec__ is not None
    spec = importlib.util.spec_from_file_location(imported.__name__, imported.__spec__.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return loaded(monkeypatch, "1")


def answer() -> int:
    """Say something."""
    return 42


def elsewhere(function: Callable[[], object]) -> None:
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        function()
        done.release()

    _thread.start_new_thread(run, ())
    assert done.acquire(timeout=30)


@pytest.mark.parametrize("name", ["in_link_thread", "off_link_thread", "under_lock"])
def test_marks_leave_functions_as_they_are_when_the_switch_is_off(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert getattr(loaded(monkeypatch, ""), name)(answer) is answer


@pytest.mark.parametrize("name", ["in_link_thread", "off_link_thread", "under_lock"])
def test_marked_function_keeps_its_name_and_its_text(marks: ModuleType, name: str) -> None:
    marked = getattr(marks, name)(answer)
    assert (marked.__name__, marked.__qualname__, marked.__doc__) == ("answer", "answer", "Say something.")


@pytest.mark.parametrize("name", ["in_link_thread", "off_link_thread", "under_lock"])
def test_nothing_is_checked_where_there_is_no_engine(marks: ModuleType, name: str) -> None:
    assert getattr(marks, name)(answer)() == 42


def test_function_of_the_link_thread_is_refused_to_others(marks: ModuleType) -> None:
    elsewhere(marks.enter_link_thread)
    with pytest.raises(MarkBroken, match=r"answer is called outside the link's thread"):
        marks.in_link_thread(answer)()
    assert marks.off_link_thread(answer)() == 42
    marks.enter_link_thread()
    assert marks.in_link_thread(answer)() == 42


def test_function_that_waits_is_refused_to_the_link_thread(marks: ModuleType) -> None:
    marks.enter_link_thread()
    with pytest.raises(MarkBroken, match=r"answer is called in the link's thread"):
        marks.off_link_thread(answer)()
    marks.leave_link_thread()
    assert marks.off_link_thread(answer)() == 42


def test_function_that_needs_the_lock_is_refused_without_it(marks: ModuleType) -> None:
    lock = marks.engine_lock()
    with pytest.raises(MarkBroken, match=r"answer is called without the engine's lock"):
        marks.under_lock(answer)()
    with lock:
        assert marks.under_lock(answer)() == 42


def test_lock_that_another_thread_holds_is_not_enough(marks: ModuleType) -> None:
    lock = marks.engine_lock()
    elsewhere(lock.acquire)
    with pytest.raises(MarkBroken, match="without the engine's lock"):
        marks.under_lock(answer)()
