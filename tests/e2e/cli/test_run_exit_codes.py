"""`dapkit run` ends with the exit code of the program, under adapters that send no event for it."""

import base64
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dapkit.cli import exit_codes

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("runtime")]  # a hub of its own for each

SECONDS = 120

NODE = """\
const total = [1, 2].reduce((sum, price) => sum + price);
process.stdout.write("total " + total + "\\n");
if (process.argv[2] === "throw") throw new Error("no stock");
if (process.argv[2] === "kill") process.kill(process.pid, "SIGKILL");
if (process.argv[2] === "say") console.error("Process exited with code 5");
process.exitCode = Number(process.argv[2]) || 0;
"""

RUBY = """\
puts "total #{[1, 2].sum}"
raise "no stock" if ARGV[0] == "throw"
Process.kill("KILL", Process.pid) if ARGV[0] == "kill"
exit ARGV[0].to_i
"""

C = """\
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int total = 3;
    printf("total %d\\n", total);
    if (argc > 1 && argv[1][0] == 'k') raise(SIGKILL);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program under its debugger from start to end."""
    command = [sys.executable, "-m", "dapkit.cli", "run", *words]
    return subprocess.run(
        command, cwd=project, capture_output=True, text=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def node_program(project: Path, require_tool: Callable[[str], Path]) -> Path:
    """Write a program for js-debug."""
    require_tool("node")
    require_tool("js-debug-adapter")
    (project / "shop.js").write_text(NODE)
    return project


@pytest.mark.parametrize(("words", "code"), [([], 0), (["3"], 3), (["throw"], 1), (["kill"], 137), (["say"], 0)])
def test_run_ends_as_a_node_program(node_program: Path, words: Sequence[str], code: int) -> None:
    done = run(node_program, "--output-lines", "0", "shop.js", *words)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, f"Exit code: {code}")
    assert "Output:\ntotal 3\n" in done.stdout
    for text in ("dapkit:", "Debug server listening", "Debugger attached", "Waiting for the debugger"):
        assert text not in done.stdout


def test_run_says_that_it_does_not_know_the_exit_code(node_program: Path) -> None:
    (node_program / "dap.toml").write_text('[adapters.js-debug-adapter.launch]\nruntimeExecutable = "node"\n')
    done = run(node_program, "shop.js", "3")
    assert done.returncode == exit_codes.NOT_KNOWN
    assert done.stdout.endswith("whether it failed is not known: its adapter reports no exit code.\n")
    assert json.loads(run(node_program, "--json", "shop.js").stdout)["exitCode"] is None


def test_run_stops_in_typescript_by_its_source_map(node_program: Path) -> None:
    (node_program / "typed.ts").write_text(
        "interface Item { price: number }\nconst item: Item = { price: 4 };\nconsole.log(item);\n"
    )
    lines = {"version": 3, "file": "typed.js", "sources": ["../typed.ts"], "names": [], "mappings": "AACA;AACA"}
    inline = base64.b64encode(json.dumps(lines).encode()).decode()
    (node_program / "out").mkdir()
    (node_program / "out/typed.js").write_text(
        "const item = { price: 4 };\nconsole.log(item);\n"
        f"//# sourceMappingURL=data:application/json;base64,{inline}\n"
    )
    (node_program / "package.json").write_text("{}")
    done = run(node_program, "-b", "typed.ts:3", "-e", "item.price", "out/typed.js")
    assert f"{node_program}/typed.ts:3 in <anonymous>\n  item.price = 4\n" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "end"),
    [([], 0, "0"), (["6"], 6, "6"), (["throw"], 1, "1"), (["kill"], 137, "137 (SIGKILL)")],
)
def test_run_ends_as_a_ruby_program(
    project: Path, require_tool: Callable[[str], Path], words: Sequence[str], code: int, end: str
) -> None:
    require_tool("rdbg")
    (project / "shop.rb").write_text(RUBY)
    done = run(project, "shop.rb", *words)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, f"Exit code: {end}")
    assert "DEBUGGER:" not in done.stdout


@pytest.mark.usefixtures("gdb")
@pytest.mark.parametrize("adapter", ["cdt-gdb-adapter", "codelldb"])
@pytest.mark.parametrize("code", [0, 7, 10])
def test_run_ends_as_a_native_program(
    project: Path, require_tool: Callable[[str], Path], adapter: str, code: int
) -> None:
    require_tool("cdtDebugAdapter" if adapter == "cdt-gdb-adapter" else "codelldb")
    (project / "shop.c").write_text(C)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", project / "shop", project / "shop.c"], check=True)
    done = run(project, "--adapter", adapter, "-b", "shop.c:6", "-e", "total", "./shop", str(code))
    assert " total = 3\n" in done.stdout
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, f"Exit code: {code}")
    assert "exited" not in done.stdout


@pytest.mark.usefixtures("gdb")
def test_run_ends_as_a_program_that_a_signal_kills_under_the_adapter_of_eclipse(
    project: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("cdtDebugAdapter")
    (project / "shop.c").write_text(C)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", project / "shop", project / "shop.c"], check=True)
    done = run(project, "--adapter", "cdt-gdb-adapter", "-b", "shop.c:6", "-e", "total", "./shop", "kill")
    assert done.returncode == 128 + signal.SIGKILL
    assert [line for line in done.stdout.splitlines()[2:] if line] == ["Exit code: 137 (SIGKILL)"]


def test_node_program_that_reads_the_input_of_run_ends(node_program: Path) -> None:
    (node_program / "ask.js").write_text(
        'process.stdin.once("data", name => { console.log(`hi ${`${name}`.trim()}`); process.exit(2); });\n'
    )
    (node_program / "names").write_text("joe\n")
    command = [sys.executable, "-m", "dapkit.cli", "run", "ask.js"]
    with (node_program / "names").open() as names:
        done = subprocess.run(
            command, cwd=node_program, capture_output=True, text=True, timeout=SECONDS, check=False, stdin=names
        )
    assert (done.stdout, done.returncode) == ("Output:\nhi joe\n\nExit code: 2\n", 2)


def test_input_of_a_node_program_ends_where_there_is_none(node_program: Path) -> None:
    (node_program / "all.js").write_text("process.exit(require('fs').readFileSync(0).length || 3);\n")
    assert run(node_program, "all.js").returncode == 3
