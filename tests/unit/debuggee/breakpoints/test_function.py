"""Function breakpoints: what very many of them cost."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType

import pytest

from dapkit.python.debuggee.breakpoints.conditions import HitActions
from dapkit.python.debuggee.breakpoints.function import FunctionBreakpointTable
from dapkit.python.debuggee.breakpoints.sites import HitCollector
from dapkit.python.debuggee.execution.monitor import Monitor
from dapkit.python.debuggee.sources.fileless_code import UnfiledTexts
from dapkit.python.debuggee.sources.files import Sources


def calls_in(work: Callable[[], object]) -> int:
    """Return how many calls something makes."""
    count = 0

    def note(_frame: object, _event: str, _detail: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def costs_of(count: int, file: Path, *, is_running: bool) -> int:
    """Return how many calls are made for so many breakpoints, until as many functions of a module have run."""
    file.write_text("".join(f"def f{number}():\n    return {number}\n" for number in range(count)))
    reported: list[str] = []
    table = FunctionBreakpointTable(
        Monitor(),
        Sources(UnfiledTexts()),
        actions_for=lambda _breakpoint: HitActions(print, print, print),
        collector=HitCollector(print),
        report=lambda breakpoint, reason: reported.append(f"{breakpoint.spec['name']} {reason}"),
    )
    module = compile(file.read_text(), str(file), "exec")
    namespace: dict[str, object] = {"__name__": "many"}

    def run() -> None:
        if is_running:
            exec(module, namespace)  # noqa: S102 - as the interpreter runs a module
        table.place([{"name": f"f{number}"} for number in range(count)])
        if not is_running:
            table.bind_new_code(module, namespace)
            exec(module, namespace)  # noqa: S102 - the same
        for code in module.co_consts:
            if isinstance(code, CodeType):
                table.bind_new_code(code, namespace)

    calls = calls_in(run)
    assert reported == [f"f{number} changed" for number in range(count)]
    assert len(table.starts) == count
    return calls


@pytest.mark.parametrize("is_running", [False, True], ids=["set_before_the_module", "set_when_it_runs"])
def test_costs_of_function_breakpoints_grow_with_their_number_and_no_faster(
    tmp_path: Path,
    *,
    is_running: bool,
) -> None:
    few, many = (costs_of(count, tmp_path / f"{count}.py", is_running=is_running) for count in (50, 400))
    assert many < 9 * few
