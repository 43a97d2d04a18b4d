"""The actions on a C program by lldb-dap and gdb, and on a Go module by Delve, in two versions of each."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from action_fixtures import Caller

pytestmark = pytest.mark.usefixtures("versions")

LIST = """\
#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

static int sum_list(struct node *head) {
    int sum = 0;
    struct node *cur = head;
    while (1) {
        sum += cur->value;
        cur = cur->next;
    }
    return sum;
}

int main(void) {
    struct node *head = NULL;
    for (int i = 1; i <= 3; i++) {
        struct node *one = malloc(sizeof *one);
        one->value = i;
        one->next = head;
        head = one;
    }
    printf("made\\n");
    fflush(stdout);
    printf("%d\\n", sum_list(head));
    return 0;
}
"""

RUST = """\
struct Plan { label: String, sizes: Vec<u32>, best: Option<u32> }

fn pick(plan: &Plan, at: usize) -> u32 {
    let half = plan.sizes[at] / 2;
    half
}

fn main() {
    let plan = Plan { label: "ints".to_string(), sizes: vec![3, 9, 4], best: Some(9) };
    let caught = std::panic::catch_unwind(|| 1);
    println!("{} {} {:?} {:?}", pick(&plan, 1), plan.label, plan.best, caught.is_ok());
    println!("{}", pick(&plan, 7));
}
"""

EDGE = """\
#include <cstring>
#include <vector>

struct Edge { std::vector<int> inputs; int id; };

int main() {
    alignas(Edge) static char raw[sizeof(Edge)];
    std::size_t begin = 16, end = begin + 4 * 4294967295ul;
    memcpy(raw, &begin, 8);
    memcpy(raw + 8, &end, 8);
    memcpy(raw + 16, &end, 8);
    Edge &edge = *(Edge *)raw;
    edge.id = 4;
    return edge.id;
}
"""

MAP = """\
#include <map>
#include <string>

int main() {
    std::map<std::string, int> ages{{"ann", 1}, {"bob", 2}};
    return (int)ages.size();
}
"""

GO = """\
package main

import "fmt"

func add(left, right int) int {
	total := left + right
	return total
}

func main() {
	fmt.Println(add(2, 3))
}
"""


@pytest.fixture
def program(caller: Caller, require_tool: Callable[[str], Path]) -> str:
    """Compile the program into the project."""
    require_tool("lldb-dap-22")
    source = caller.write("list.c", LIST)
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", caller.project / "list", source], check=True)
    return "list"


async def test_a_segfault_is_seen_in_one_call(caller: Caller, program: str) -> None:
    launched = await caller("launch", program=program, adapter="lldb-dap", stop_on_entry=False)
    stop = launched.details["stop"]
    assert stop["reason"] == "exception"
    assert launched.details["snapshot"]["line"] == 10
    values = {variable["name"]: variable["value"] for variable in stop["locals"]}
    assert (values["sum"], int(values["cur"], 16) if values["cur"] != "NULL" else 0) == ("6", 0)
    assert [frame["name"] for frame in stop["frames"]][:2] == ["sum_list", "main"]
    assert "-> 10          sum += cur->value;\n" in launched.text


@pytest.mark.thorough
async def test_memory_is_read_and_written(caller: Caller, program: str) -> None:
    await caller("launch", program=program, adapter="lldb-dap", breakpoints=["sum_list"])
    await caller("step_over")
    address = (await caller("evaluate", expression="&sum")).details["evaluation"]["result"].split()[-1]
    assert (await caller("write_memory", memory_reference=address, data="KgAAAA==")).text.startswith(
        "Memory write completed."
    )
    assert (await caller("evaluate", expression="sum")).text.startswith("Result: 42")
    read = await caller("read_memory", memory_reference=address, count=4)
    assert "2a 00 00 00" in read.text
    assert read.details["memoryData"] == "KgAAAA=="


@pytest.mark.each_adapter
async def test_a_container_that_is_not_initialized_is_not_looked_into(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    require_tool("lldb-dap-22")
    source = caller.write("edge.cpp", EDGE)
    await anyio.run_process([require_tool("c++"), "-g", "-O0", "-o", caller.project / "edge", source])
    await caller("launch", program="edge", adapter="lldb-dap", breakpoints=["edge.cpp:13"], timeout=60)
    result = (await caller("evaluate", expression="edge.inputs")).details["evaluation"]
    assert result["result"] == "size=4294967295"
    code, message = (await caller("variables", variable_ref=result["variablesReference"])).error
    assert (code, "4,294,967,295 items, more than memory can hold" in message) == ("invalid_arguments", True)
    ended = await caller("continue")  # LLDB 23 answers no further request once it has looked into it
    assert ended.details["snapshot"]["exitCode"] == 4


_MAPS = {
    "gdb": 'std::map with 2 elements {["ann"] = 1, ["bob"] = 2}',
    "lldb-dap": 'size=2 {{first = "ann", second = 1}, {first = "bob", second = 2}}',
    "codelldb": 'size=2 {{first = "ann", second = 1}, {first = "bob", second = 2}}',
}


@pytest.mark.each_adapter
@pytest.mark.parametrize("adapter", _MAPS)
async def test_a_map_is_shown_with_its_keys_and_the_output_without_the_debuggers_words(
    caller: Caller, adapter: str, versions: str, request: pytest.FixtureRequest, require_tool: Callable[[str], Path]
) -> None:
    if adapter != "gdb":
        require_tool(_TOOLS[adapter])
    elif versions == "of the machine":
        gdb = Path(request.getfixturevalue("gdb")[0])
        caller.env = {**caller.env, "PATH": f"{gdb.parent}:{caller.env['PATH']}"}
    source = caller.write("ages.cpp", MAP)
    await anyio.run_process([require_tool("c++"), "-g", "-O0", "-o", caller.project / "ages", source])
    launched = await caller("launch", program="ages", adapter=adapter, breakpoints=["ages.cpp:6"], timeout=60)
    assert (await caller("evaluate", expression="ages")).text.startswith(f"Result: {_MAPS[adapter]} (std::map<")
    ended = await caller("continue")
    assert ended.details["snapshot"]["exitCode"] == 2
    assert "DW_TAG" not in launched.text + ended.text  # LLDB's opinion of the compiler's debug information
    assert [(await caller("output", category=category)).details["output"] for category in ("stdout", "stderr")] == [
        "",
        "",
    ]


@pytest.mark.each_adapter
@pytest.mark.parametrize("adapter", ["gdb", "lldb-dap", "codelldb"])
async def test_a_panic_of_rust_stops_at_the_users_code_and_shows_its_values(
    caller: Caller, adapter: str, request: pytest.FixtureRequest, require_tool: Callable[[str], Path]
) -> None:
    if not shutil.which("rustc"):
        pytest.skip("rustc is not installed, and CI does not install it")
    tool = Path(request.getfixturevalue("gdb")[0] if adapter == "gdb" else require_tool(_TOOLS[adapter]))
    caller.env = {**caller.env, "PATH": f"{tool.parent}:{caller.env['PATH']}", "RUST_BACKTRACE": "0"}
    source = caller.write("plan.rs", RUST)
    command = ["rustc", "-g", "-o", str(caller.project / "plan"), str(source)]
    await anyio.run_process(command)
    launched = await caller("launch", program="plan", adapter=adapter, stop_on_entry=False, timeout=60)
    stop = launched.details["stop"]
    assert (stop["reason"], stop["description"]) == ("exception", "panic")
    assert (launched.details["snapshot"]["line"], stop.get("exception")) == (4, None)
    assert "index out of bounds: the len is 3 but the index is 7" in (await caller("output")).text
    values = {variable["name"]: variable["value"] for variable in stop["locals"]}
    assert values["at"] == "7"
    shown = (await caller("evaluate", expression="*plan")).text
    assert '"ints"' in shown
    assert "{3, 9, 4}" in shown
    assert {"gdb": "{__0 = 9}", "lldb-dap": "Some(9)", "codelldb": "Some(9)"}[adapter] in shown
    assert not launched.details["functionBreakpoints"]
    ended = await caller("continue")
    assert ended.details["snapshot"]["exitCode"] == 101


_TOOLS = {"lldb-dap": "lldb-dap-22", "codelldb": "codelldb"}


@pytest.fixture(params=["lldb-dap", pytest.param("gdb", marks=pytest.mark.each_adapter)])
def native(request: pytest.FixtureRequest, caller: Caller, versions: str) -> str:
    """Name an adapter for C; the gdb of the machine may be too old."""
    if request.param == "gdb" and versions == "of the machine":
        gdb = Path(request.getfixturevalue("gdb")[0])
        caller.env = {**caller.env, "PATH": f"{gdb.parent}:{caller.env['PATH']}"}
    return str(request.param)


@pytest.mark.thorough
async def test_entry_is_main_and_memory_is_read_by_an_expression(caller: Caller, program: str, native: str) -> None:
    wrong = ["list.c:7 if nosuch > 3"] if native == "gdb" else []  # LLDB stops at one, and says why
    stopped = await caller("launch", program=program, adapter=native, breakpoints=wrong, stop_on_entry=True)
    if wrong:  # gdb drops such a condition in silence where it has not loaded the program
        (row,) = stopped.details["breakpoints"]
        assert (row["verified"], "nosuch" in row["message"]) == (False, True)
    assert stopped.details["snapshot"]["frameName"] == "main"
    assert not stopped.details["functionBreakpoints"]
    await caller("set_breakpoint", file="list.c", line=10, log_message="sum {sum}")
    await caller("set_breakpoint", file="list.c", line=8)
    await caller("continue")
    await caller("step_over")
    assert (await caller("read_memory", memory_reference="&sum", count=4)).details["memoryData"] == "AAAAAA=="
    code, message = (await caller("read_memory", memory_reference="nosuch", count=4)).error
    assert (code, "neither an address nor an expression for one" in message) == ("invalid_arguments", True)
    await caller("continue")
    assert "sum 0\nsum 3\nsum 5\n" in (await caller("output", category="console")).details["output"]


@pytest.mark.thorough
async def test_instructions_are_shown_and_stopped_at(caller: Caller, program: str) -> None:
    await caller("launch", program=program, adapter="lldb-dap", breakpoints=["sum_list"])
    shown = await caller("disassemble", instruction_count=4)
    addresses = [instruction["address"] for instruction in shown.details["disassembly"]]
    assert len(addresses) == 4
    assert shown.text.startswith("Disassembly:\n0x")
    placed = await caller("set_instruction_breakpoint", instruction_reference=addresses[2])
    assert placed.text.startswith(f"Instruction breakpoints:\n- {addresses[2]}: verified")
    stopped = await caller("continue")
    assert int(stopped.details["snapshot"]["instructionPointerReference"], 16) == int(addresses[2], 16)
    removed = await caller("remove_instruction_breakpoint", instruction_reference=addresses[2])
    assert removed.text == "Instruction breakpoints:\n(none)"


@pytest.mark.thorough
async def test_data_is_watched(caller: Caller, program: str) -> None:
    await caller("launch", program=program, adapter="lldb-dap", breakpoints=[{"file": "list.c", "line": 8}])
    info = await caller("data_breakpoint_info", name="sum")
    data_id = info.details["dataBreakpointInfo"]["dataId"]
    placed = await caller("set_data_breakpoint", data_id=data_id, access_type="write")
    assert placed.text.startswith(f"Data breakpoints:\n- {data_id}: ")
    stopped = await caller("continue")
    assert stopped.details["snapshot"]["line"] in (10, 11)
    assert "(breakpoint 2)" in stopped.text  # and not 1, whose number with the adapter is the same
    assert "Text: sum changed from 0 to 3\n" in stopped.text  # and not the number that LLDB 23 gives
    assert (await caller("evaluate", expression="sum")).text.startswith("Result: 3")
    assert (await caller("remove_data_breakpoint", data_id=data_id)).text == "Data breakpoints:\n(none)"


@pytest.mark.thorough
async def test_what_an_expression_names_is_watched(caller: Caller, program: str) -> None:
    await caller("launch", program=program, adapter="lldb-dap", breakpoints=[{"file": "list.c", "line": 20}])
    info = (await caller("data_breakpoint_info", name="one->value")).details["dataBreakpointInfo"]
    await caller("set_data_breakpoint", data_id=info["dataId"], access_type="write")
    assert (await caller("continue")).details["snapshot"]["stopReason"] == "data breakpoint"
    address = (await caller("evaluate", expression="&one->value")).details["evaluation"]["result"].split()[-1]
    assert (await caller("data_breakpoint_info", name=address)).details["dataBreakpointInfo"]["dataId"] is not None


@pytest.mark.thorough
async def test_modules_are_listed_and_loaded_sources_are_not_by_an_adapter_without_them(
    caller: Caller, program: str
) -> None:
    await caller("launch", program=program, adapter="lldb-dap", breakpoints=["main"])
    modules = await caller("modules")
    assert modules.text.startswith("Modules:\nID ")
    assert any(module["name"] == "list" for module in modules.details["modules"])
    sources = await caller("loaded_sources")
    assert sources.error == ("unsupported", "Current adapter does not support loaded sources")


@pytest.mark.thorough
async def test_what_an_adapter_lacks_is_refused_in_the_words_of_the_contract(caller: Caller, program: str) -> None:
    await caller("launch", program=program, adapter="lldb-dap", breakpoints=["main"])
    assert (await caller("step_back")).error == ("unsupported", "Current adapter does not support stepping back")


@pytest.fixture
def loop(caller: Caller, require_tool: Callable[[str], Path]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program that runs until it is killed."""
    require_tool("lldb-dap-22")
    source = caller.write("loop.c", "#include <unistd.h>\nint main(void) { for (;;) usleep(10000); }\n")
    program = caller.project / "loop"
    subprocess.run([require_tool("cc"), "-g", "-O0", "-o", program, source], check=True)
    with subprocess.Popen([program]) as process:
        yield process
        process.kill()


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["terminate", "detach"])
async def test_an_attached_program_is_released_and_not_killed(
    caller: Caller, loop: subprocess.Popen[bytes], ending: str
) -> None:
    await caller("attach", pid=loop.pid, adapter="lldb-dap")
    paused = await caller("pause")
    assert "main" in [frame["name"] for frame in paused.details["stop"]["frames"]]
    ended = await caller(ending)
    assert ended.details["released"]
    assert ended.text.endswith(f"Debug session debug-1 {ending.removesuffix('e')}ed. The program runs on.")
    assert loop.poll() is None


@pytest.mark.thorough
async def test_a_go_module_is_debugged(caller: Caller, require_tool: Callable[[str], Path]) -> None:
    require_tool("dlv")
    require_tool("go")
    caller.write("go.mod", "module example.com/sums\n\ngo 1.19\n")
    caller.write("main.go", GO)
    launched = await caller("launch", program=".", breakpoints=["main.go:7"], timeout=60)
    assert launched.details["adapter"] == "dlv"
    stop = launched.details["stop"]
    values = {variable["name"]: variable["value"] for variable in stop["locals"]}
    assert (values["left"], values["right"], values["total"]) == ("2", "3", "5")
    assert (await caller("evaluate", expression="total * 2")).text.startswith("Result: 10")
    assert (await caller("step_out")).details["snapshot"]["frameName"].startswith("main.main")
    ended = await caller("continue")
    assert (ended.details["state"], ended.details["snapshot"]["exitCode"]) == ("terminated", 0)
    written = (await caller("output", category="stdout")).details["output"]
    assert "Building" not in written  # as Delve 1.27 says while there is no program
    assert "5\n" in (await caller("output")).details["output"]
    again = await caller("restart", stop_on_entry=True, timeout=60)
    assert again.details["snapshot"]["frameName"].startswith("main.main")


@pytest.mark.each_adapter
async def test_a_call_that_a_breakpoint_stops_is_followed_to_where_it_stands(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    require_tool("dlv")
    require_tool("go")
    caller.write("go.mod", "module example.com/sums\n\ngo 1.19\n")
    caller.write("main.go", GO)
    launched = await caller("launch", program=".", breakpoints=["main.go:11", "main.go:7"], timeout=60)
    assert launched.details["snapshot"]["line"] == 11
    refused = await caller("evaluate", expression="call add(1, 1)")
    assert refused.error[0] == "adapter_failed"
    assert "threads shows where. continue ends the call." in refused.text
    [session] = (await caller("sessions")).details["sessions"]
    assert session["frameName"].startswith("runtime.debugCall")
    assert (await caller("continue")).details["snapshot"]["line"] == 11


async def test_a_panic_in_go_is_told_with_its_values_and_its_exit_code(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    require_tool("dlv")
    require_tool("go")
    caller.write("go.mod", "module example.com/mean\n\ngo 1.19\n")
    caller.write(
        "main.go",
        "package main\n\nfunc mean(sum, count int) int {\n\treturn sum / count\n}\n\n"
        "func main() {\n\tprintln(mean(4, 0))\n}\n",
    )
    crashed = await caller("launch", program=".", stop_on_entry=False, timeout=60)
    assert crashed.details["stop"]["reason"] == "exception"
    assert "integer divide by zero" in crashed.text
    stop = crashed.details["stop"]
    names = {frame["index"]: frame["name"] for frame in stop["frames"]}
    assert names[stop["frame"]] == "main.mean"  # and not a function of the runtime
    values = await caller("evaluate", expression="count")
    assert values.text.startswith("Result: 0")
    ended = await caller("continue")
    assert ended.details["snapshot"]["exitCode"] == 2


WORKERS = """\
package main

var start, done = make(chan bool), make(chan bool)

func worker() {
	<-start
	println("working")
	close(done)
}

func wait() {
	close(start)
	<-done
}

func main() {
	go worker()
	wait()
}
"""


async def test_a_step_that_another_goroutine_interrupts_says_so(
    caller: Caller, require_tool: Callable[[str], Path]
) -> None:
    require_tool("dlv")
    require_tool("go")
    caller.write("go.mod", "module example.com/workers\n\ngo 1.19\n")
    caller.write("main.go", WORKERS)
    launched = await caller("launch", program=".", breakpoints=["main.go:7", "main.go:12"], timeout=60)
    thread = launched.details["snapshot"]["threadId"]
    stepped = await caller("step_out")
    other = stepped.details["snapshot"]["threadId"]
    assert stepped.details["interruptedThreadId"] == thread != other
    assert f"Step out was interrupted: before thread {thread} had done it, thread {other} stopped here." in stepped.text
    assert stepped.details["snapshot"]["line"] == 7
