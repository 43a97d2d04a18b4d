"""Configurations that pages show for editors which no test drives: the adapter takes them as they stand."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dapkit.client import Ended, Session
from dapkit.python.debuggee.exceptions.filters import FILTERS
from e2e.editors.conftest import configuration, editor
from real_programs import real_program


async def output_of(command: list[str], shop: Path, arguments: dict[str, Any]) -> tuple[str, str]:
    """Run the program with an adapter and launch arguments; return its output, and what the console says."""
    texts = {"${file}": str(shop), "${workspaceRoot}": str(shop.parent)}
    texts |= {"$ZED_FILE": str(shop), "$ZED_WORKTREE_ROOT": str(shop.parent)}
    launch = {key: texts.get(value, value) for key, value in arguments.items()}
    assert launch.pop("console") == "integratedTerminal"
    async with Session.spawn([sys.executable, *command[1:]]) as session:
        await session.launch(launch)
        assert await session.wait_until_ended() == Ended(0)
        return session.output.read("stdout").text, session.output.read("console").text


async def test_vimspector_has_an_answer_for_every_filter_and_its_configuration_runs(shop: Path) -> None:
    page = json.loads(configuration("vimspector.md", "json"))
    for made in page["configurations"].values():
        assert set(made["breakpoints"]["exception"]) == {filter_["filter"] for filter_ in FILTERS}
    launch = page["configurations"]["This file"]["configuration"]
    assert await output_of(page["adapters"]["dapkit"]["command"], shop, launch) == ("sum 6\ndone\n", "")


IN_NEOVIM = """
local dap = {{ adapters = {{}}, configurations = {{}} }}
package.preload.dap = function() return dap end
{page}
local function json(value)
  if type(value) ~= "table" then
    return type(value) == "string" and string.format("%q", value) or tostring(value)
  end
  local parts = {{}}
  for key, inner in pairs(value) do
    parts[#parts + 1] = #value > 0 and json(inner) or json(key) .. ":" .. json(inner)
  end
  local text = table.concat(parts, ",")
  return #value > 0 and "[" .. text .. "]" or "{{" .. text .. "}}"
end
print(json(dap))
"""


def made_by_lua(page: str) -> Any:  # noqa: ANN401 - of many levels
    """Return what a page has Neovim set in nvim-dap."""
    script = IN_NEOVIM.format(page=page.replace("local dap =", "dap ="))
    done = subprocess.run([real_program("lua"), "-e", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


async def test_configurations_of_nvim_dap_run(shop: Path) -> None:
    made = made_by_lua(configuration("nvim-dap.md", "lua"))
    adapter = made["adapters"]["dapkit"]
    assert adapter["type"] == "executable"
    launches = [launch for launch in made["configurations"]["python"] if launch["request"] == "launch"]
    assert len(launches) == 2
    for launch in launches:
        command = [adapter["command"], *adapter["args"]]
        assert await output_of(command, shop, launch) == ("sum 6\ndone\n", "")


async def test_configuration_of_zed_runs(shop: Path) -> None:
    [made] = json.loads(configuration("zed.md", "json", 1))
    assert (made.pop("label"), made.pop("adapter")) == ("This file", "dapkit")  # what Zed keeps for itself
    assert await output_of(["python3", "-P", "-m", "dapkit.python"], shop, made) == ("sum 6\ndone\n", "")


@pytest.mark.parametrize(
    ("name", "arguments", "versions"),
    [
        ("hx", "--version", ["25.01.1"]),
        ("emacs", '--batch --eval \'(message "%s %s" emacs-version (locate-library "dape"))\'', ["0.24.1", "30.1"]),
    ],
)
def test_versions_in_the_table_are_those_of_the_tests(name: str, arguments: str, versions: list[str]) -> None:
    table = (Path(__file__).parents[2] / "works_with.toml").read_text(encoding="utf-8")
    command: list[str | Path] = [editor(name), *shlex.split(arguments)]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    assert [version for version in versions if version in said and version in table] == versions
