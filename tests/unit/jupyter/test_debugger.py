"""What the debugger of a kernel answers by itself, without a kernel."""

from pathlib import Path
from typing import Any

import pytest

from dapkit.jupyter.debugger import KernelDebugger


class Shell:
    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}

    def user_expressions(self, expressions: dict[str, str]) -> dict[str, dict[str, Any]]:
        raise NotImplementedError


class Cells:
    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.seed = 1

    def path_of(self, text: str) -> str:
        return f"{self.folder}/{len(text)}.py"

    def keep_leading_lines(self, *, keep: bool) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("mode", [0o700, 0o777])
async def test_cell_is_not_written_where_another_user_could_replace_it(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "ipykernel_1"
    folder.mkdir()
    folder.chmod(mode)
    events: list[dict[str, Any]] = []
    debugger = KernelDebugger(Shell(), Cells(folder), events.append, kernel_files=(), just_my_code=False)
    answer = await debugger.process_request({"seq": 7, "command": "dumpCell", "arguments": {"code": "x = 1"}})
    assert (answer["request_seq"], answer["success"]) == (7, mode == 0o700)
    assert [path.read_text() for path in folder.iterdir()] == ["x = 1"] * (mode == 0o700)
