"""What is known of an exception of C++ where it is thrown."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from action_fixtures import Caller

THROWS = """\
#include <stdexcept>

struct Odd { int code; };
struct Other { virtual ~Other() {} int pad; };
struct Both : Other, std::runtime_error { Both() : std::runtime_error("both of them") {} };

int main() {
    try { throw std::out_of_range("too far"); } catch (...) {}
    try { throw Odd{7}; } catch (...) {}
    try { throw Both(); } catch (...) {}
    return 0;
}
"""


@pytest.fixture
def program(caller: Caller, require_tool: Callable[[str], Path]) -> str:
    """Compile the program into the project."""
    source = caller.write("throws.cpp", THROWS)
    subprocess.run([require_tool("c++"), "-g", "-O0", "-o", caller.project / "throws", source], check=True)
    return "throws"


@pytest.mark.parametrize(("adapter", "throw"), [("lldb-dap", "cpp_throw"), ("gdb", "throw")])
async def test_a_throw_names_the_type_and_the_text_of_what_is_thrown(
    caller: Caller, program: str, require_adapter: Callable[[str], None], adapter: str, throw: str
) -> None:
    require_adapter(adapter)
    stopped = await caller("launch", program=program, adapter=adapter, exceptions=[throw])
    thrown = [(stopped.details["stop"]["exception"], stopped.details["snapshot"]["line"])]
    for _ in range(2):
        stopped = await caller("continue")
        thrown.append((stopped.details["stop"]["exception"], stopped.details["snapshot"]["line"]))
    assert [(found["typeName"], line) for found, line in thrown] == [("std::out_of_range", 8), ("Odd", 9), ("Both", 10)]
    assert [found.get("message") for found, _ in thrown][::2] == ["too far", "both of them"]
    assert (await caller("continue")).details["snapshot"]["exitCode"] == 0
