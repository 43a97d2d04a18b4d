"""The scopes of a frame whose variables a report shows, as different adapters name them."""

import pytest

from dapkit.agent.reading.local_variables import local_scopes
from dapkit.protocol import Scope


def _scopes(*rows: tuple[str, str | None, bool]) -> list[Scope]:
    return [
        Scope(name=name, variables_reference=number, expensive=expensive, presentation_hint=hint)
        for number, (name, hint, expensive) in enumerate(rows, 1)
    ]


@pytest.mark.parametrize(
    ("scopes", "read"),
    [
        ([("Locals", "locals", False), ("Closure", None, False), ("Globals", "globals", False)], [1, 2]),  # dapkit
        (
            [("Local: add", "locals", False), ("Closure", "arguments", False), ("Global", None, True)],
            [1, 2],
        ),  # js-debug
        (
            [("Arguments", "arguments", False), ("Locals", "locals", False), ("Registers", "registers", True)],
            [1, 2],
        ),  # gdb
        ([("Locals", None, False), ("Globals", None, False)], [1]),  # delve
        ([("Locals", "locals", False), ("Closure", None, True)], [1]),
    ],
)
def test_each_scope_is_read_once(scopes: list[tuple[str, str | None, bool]], read: list[int]) -> None:
    assert [scope.variables_reference for scope in local_scopes(_scopes(*scopes))] == read
