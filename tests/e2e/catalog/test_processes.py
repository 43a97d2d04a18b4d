"""Which adapter is chosen for a process or a port, by what runs there."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dapkit.catalog import Catalog, NoAdapter, NoProgram, load
from e2e.catalog.running_programs import Running

GO_THAT_WAITS = """package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString(10)
}
"""


def test_python_process_goes_to_our_own_adapter(catalog: Catalog, running: Running, tmp_path: Path) -> None:
    pid, _ = running.start(sys.executable, "-c", "import sys; print('ready', flush=True); sys.stdin.read()")
    choice = catalog.choose(pid=pid, cwd=tmp_path)
    assert choice.definition.name == "dapkit"
    assert choice.reasons[0].startswith(f"process {pid} ")
    assert choice.attach_arguments(pid=pid)["processId"] == pid


def test_python_process_needs_gdb_by_which_debugpy_gets_in(running: Running, tmp_path: Path) -> None:
    pid, _ = running.start(sys.executable, "-c", "import sys; print('ready', flush=True); sys.stdin.read()")
    without_gdb = load(tmp_path, tmp_path, env={"PATH": str(Path(sys.executable).parent)})
    with pytest.raises(NoAdapter) as raised:
        without_gdb.choose(pid=pid, cwd=tmp_path, adapter="debugpy")
    assert "it gets into a process by gdb, which was not found on PATH" in raised.value.problem
    assert raised.value.hints == ("debugpy: install gdb, or have the program listen on a port, and attach to that",)


def test_node_process_goes_to_js_debug_and_not_to_a_native_debugger(
    running: Running, tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    pid, _ = running.start(require_tool("node"), "-e", "console.log('ready'); process.stdin.resume()")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}  # native debuggers are in these folders
    with pytest.raises(NoAdapter) as raised:
        load(tmp_path, tmp_path, env={**env, "PATH": str(tmp_path)}).choose(pid=pid, cwd=tmp_path)
    assert f"no debugger for process {pid} is available: it runs " in raised.value.problem
    assert [hint.partition(":")[0] for hint in raised.value.hints] == ["js-debug-adapter"]
    adapter = tmp_path / "js-debug-adapter"  # is in no archive of packages
    adapter.write_text("#!/bin/sh\n")
    adapter.chmod(0o755)
    choice = load(tmp_path, tmp_path, env=env).choose(pid=pid, cwd=tmp_path)
    assert choice.definition.name == "js-debug-adapter"
    assert choice.attach_arguments(pid=pid)["processId"] == str(pid)


def test_native_process_goes_to_a_native_debugger(
    catalog: Catalog,
    running: Running,
    compiled: Callable[[str], Path],
    tmp_path: Path,
    require_tool: Callable[[str], Path],
) -> None:
    require_tool("lldb-dap-22")
    pid, _ = running.start(compiled("waiting.c"))
    choice = catalog.choose(pid=pid, cwd=tmp_path)
    assert choice.definition.name in {"gdb", "lldb-dap"}
    assert choice.attach_arguments(pid=pid) == {"request": "attach", "pid": pid}


@pytest.mark.thorough
@pytest.mark.timeout(180)
def test_process_that_go_has_built_goes_to_delve(
    catalog: Catalog, running: Running, tmp_path: Path, require_tool: Callable[[str], Path]
) -> None:
    require_tool("dlv")
    source, program = tmp_path / "main.go", tmp_path / "waits"
    source.write_text(GO_THAT_WAITS)
    subprocess.run([require_tool("go"), "build", "-o", program, source], check=True)
    pid, _ = running.start(program)
    choice = catalog.choose(pid=pid, cwd=tmp_path)
    assert choice.definition.name == "dlv"
    assert choice.reasons[0].startswith(f"process {pid} runs {program}, which Go has built, to which dlv, ")
    assert choice.reasons[-1].startswith("after it would come gdb, lldb-dap")


def test_process_of_a_language_that_cannot_be_attached_to_is_refused(
    catalog: Catalog, running: Running, tmp_path: Path
) -> None:
    pid, _ = running.start("/bin/bash", "-c", "echo ready; read x")
    with pytest.raises(NoAdapter, match="bash-dap, bash-debug-adapter cannot attach to a process"):
        catalog.choose(pid=pid, cwd=tmp_path)


def test_process_that_is_not_there_is_told(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(NoProgram, match="process 4194305 is not there"):
        catalog.choose(pid=4194305, cwd=tmp_path)  # the kernel gives no higher pid than 2**22


@pytest.mark.thorough
def test_port_of_debugpy_goes_to_debugpy(catalog: Catalog, running: Running, tmp_path: Path) -> None:
    program = "import debugpy, sys; print(debugpy.listen(('127.0.0.1', 0))[1], flush=True); sys.stdin.read()"
    port = int(running.start(sys.executable, "-X", "frozen_modules=off", "-c", program)[1])
    choice = catalog.choose(port=port, cwd=tmp_path)
    assert choice.definition.name == "debugpy"
    assert f"and listens on port {port}" in choice.reasons[0]
    assert choice.attach_arguments(port=port)["connect"] == {"host": "127.0.0.1", "port": port}


def test_port_of_a_program_that_listens_by_dapkit_goes_to_our_own_adapter(
    catalog: Catalog, running: Running, tmp_path: Path
) -> None:
    program = "import dapkit, sys; print(dapkit.listen(0, token=None)[1], flush=True); sys.stdin.read()"
    pid, port = running.start(sys.executable, "-c", program)
    choice = catalog.choose(port=int(port), cwd=tmp_path)
    assert choice.definition.name == "dapkit"
    assert choice.reasons[0].startswith(f"process {pid} ")


def test_port_that_no_debugger_speaks_to_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        port = server.getsockname()[1]
        heir = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, close_fds=False)
        try:
            server.close()
            with pytest.raises(
                NoAdapter,
                match=f"no debugger speaks to the process that listens on port {port}: process {heir.pid} runs ",
            ):
                catalog.choose(port=port, cwd=tmp_path)
        finally:
            heir.communicate()


@pytest.mark.thorough
def test_port_of_another_machine_is_taken_for_debugpy_and_this_is_said(catalog: Catalog, tmp_path: Path) -> None:
    choice = catalog.choose(host="192.0.2.1", port=5678, cwd=tmp_path)
    assert choice.definition.name == "debugpy"
    assert choice.reasons[0].startswith("debugpy is the usual one for 192.0.2.1:5678: that is another machine")


def test_debugger_is_known_by_the_name_of_its_process(
    catalog: Catalog, installed: Callable[[str], None], running: Running, tmp_path: Path
) -> None:
    installed("gdb")  # one that can be chosen for the process
    debugger = shutil.copy("/bin/sh", tmp_path / "gdb")  # a real one may be run by a loader of its own
    pid, _ = running.start(debugger, "-c", "echo ready; read line")
    reasons = catalog.choose(pid=pid, cwd=tmp_path).reasons
    assert reasons[0].startswith(f"process {pid} is GDB, ")
