"""Scripts of bash, under bash-dap."""

from pathlib import Path

import pytest

from action_fixtures import Caller

SCRIPT = """\
#!/bin/bash
items=(3 4 5)
total=0
add() {
    local n=$1
    total=$((total + n))
}
for i in "${items[@]}"; do
    add "$i"
done
read -r name
exit $((total + ${#name} + ${1:-0}))
"""


@pytest.fixture
def script(caller: Caller) -> Path:
    """Write the script; its adapter is beside our Python."""
    return caller.write("shop.sh", SCRIPT)


async def test_a_script_stops_where_its_condition_holds_and_shows_its_values(caller: Caller, script: Path) -> None:
    launched = await caller("launch", program=script.name, breakpoints=["shop.sh:6 if [[ $n == 4 ]]"])
    assert (launched.details["snapshot"]["adapter"], launched.details["snapshot"]["line"]) == ("bash-dap", 6)
    values = {variable["name"]: variable["value"] for variable in launched.details["stop"]["locals"]}
    assert (values["n"], values["total"], values["items"]) == ("4", "3", "(3 4 5)")
    assert [frame["name"] for frame in launched.details["stop"]["frames"]] == ["add", "main"]
    assert (await caller("evaluate", expression="$((n * 2))")).text.startswith("Result: 8")
    assert (await caller("step_out")).details["snapshot"]["frameName"] == "main"
    ended = await caller("continue")
    assert ended.details["snapshot"]["exitCode"] == 12


@pytest.mark.parametrize(("name", "code"), [("joe", 21), (None, 18)])
async def test_a_script_reads_a_file_or_else_nothing_and_ends_with_its_code(
    caller: Caller, script: Path, name: str | None, code: int
) -> None:
    given = {} if name is None else {"stdin_file": str(caller.write("names", f"{name}\n"))}
    ended = await caller("launch", program=script.name, args=["6"], stop_on_entry=False, timeout=60, **given)
    if ended.details["snapshot"]["status"] != "terminated":
        ended = await caller("wait")
    assert ended.details["snapshot"]["exitCode"] == code
