"""Programs of others, built by tools/real_programs.sh: what there is, and how a test takes it.

program = real_program("lua")
await caller("launch", program=str(program), breakpoints=[f"{LUA / 'lstrlib.c'}:1276"])
"""

from pathlib import Path

from missing import missing

PROGRAMS = (Path(__file__).parents[1] / ".tools" / "programs").resolve()
LUA = PROGRAMS / "lua-5.4.4" / "src"
JSONCPP = PROGRAMS / "jsoncpp-1.9.5" / "src"
TOML = PROGRAMS / "toml-1.2.0"

BROKEN_CHUNK = """\
local chunk = string.dump(function(a, b) local t = {a, b, "text"}; return t[1] + #t end, true)
load(chunk:sub(1, 87) .. string.char((chunk:byte(88) + 64) % 256) .. chunk:sub(89), "broken", "b")
"""
"""A program for Lua, by which it fails an assertion in `loadConstants` of lundump.c."""


def real_program(name: str) -> Path:
    """Return the executable of this name, or end the test: skipped with the reason, or failed with CI=true."""
    path = PROGRAMS / "bin" / name
    if not path.exists():
        missing(f"{name} is not built: run tools/real_programs.sh")
    return path
