"""Which adapter is chosen for a program, and what is said about it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog_world import World
from dapkit.catalog import Choice, NoAdapter, NoProgram


def choose(world: World, program: str, **wanted: object) -> Choice:
    return world.load().choose(program, cwd=world.project, **wanted)  # type: ignore[arg-type]


@pytest.fixture
def no_debugpy(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let dapkit run on a Python without debugpy."""
    monkeypatch.setattr(sys, "executable", str(world.install_python(str(world.home / "own/python"), "3.13.1")))


# By name


def test_c_source_goes_to_gdb_before_lldb_and_codelldb(world: World) -> None:
    world.write("a.c")
    world.install("codelldb")
    assert choose(world, "a.c").definition.name == "codelldb"
    world.install("lldb-dap")
    assert choose(world, "a.c").definition.name == "lldb-dap"
    world.install("gdb", says="GNU gdb (GDB) 16.3")
    choice = choose(world, "a.c")
    assert (choice.definition.name, choice.version) == ("gdb", "16.3")
    assert choice.reasons == (
        "a.c is a .c file, for which there is gdb, lldb-dap, codelldb, cdt-gdb-adapter",
        f"gdb: {world.bin}/gdb (PATH), version 16.3",
        f"a.c is a source: {world.load().adapters['gdb'].compiled}",
        "after it would come lldb-dap, codelldb, cdt-gdb-adapter",
    )


def test_gdb_that_is_too_old_is_passed_over_and_this_is_said(world: World) -> None:
    world.write("a.c")
    world.install("gdb", says="GNU gdb (Debian 13.1-3) 13.1")
    world.install("lldb-dap")
    choice = choose(world, "a.c")
    assert choice.definition.name == "lldb-dap"
    assert f"not gdb: {world.bin}/gdb is version 13.1, and 14.1 is needed" in choice.reasons


def test_update_of_an_adapter_is_seen(world: World) -> None:
    world.write("a.c")
    world.install("gdb", says="GNU gdb 13.1")
    with pytest.raises(NoAdapter):
        choose(world, "a.c")
    world.install("gdb", says="GNU gdb (updated) 15.1")
    assert choose(world, "a.c").version == "15.1"


def test_project_of_its_kind_comes_first(world: World) -> None:
    world.write("a.c")
    world.write("Package.swift")
    world.install("gdb", says="16.3")
    world.install("lldb-dap")
    choice = choose(world, "a.c")
    assert choice.definition.name == "lldb-dap"
    assert f"lldb-dap: {world.bin}/lldb-dap (PATH), in a project of its kind, {world.project}" in choice.reasons


@pytest.mark.parametrize("name", ["not for long.c", "as it is.c"])
def test_name_of_a_program_makes_no_notice(world: World, name: str) -> None:
    world.write(name)
    world.install("gdb", says="GNU gdb 16.3")
    choice = choose(world, name)
    assert any(reason.startswith(name) for reason in choice.reasons)
    assert choice.notices == ()


def test_suffix_in_capitals_is_known(world: World) -> None:
    world.write("A.RB")
    for name in ("rdbg", "ruby"):
        world.install(name, says="rdbg 1.9.2")
    assert choose(world, "A.RB").definition.name == "rdbg"


def test_highest_of_versioned_names_is_taken(world: World) -> None:
    world.write("a.cpp")
    for version in (9, 19, 22):
        world.install(f"lldb-dap-{version}")
    assert choose(world, "a.cpp").command == (str(world.bin / "lldb-dap-22"),)
    world.install("lldb-dap")
    assert choose(world, "a.cpp").command == (str(world.bin / "lldb-dap"),)


def test_missing_adapter_is_named_with_its_installation_and_nothing_else_is_tried(world: World) -> None:
    world.write("go.mod")
    world.write("main.go")
    world.install("gdb", says="16.3")
    with pytest.raises(NoAdapter) as raised:
        choose(world, "main.go")
    assert raised.value.problem == "adapter 'dlv' is not available: dlv was not found on PATH"
    assert "go install github.com/go-delve/delve/cmd/dlv@latest" in str(raised.value)
    with pytest.raises(NoAdapter, match=r"adapter 'dlv' is not available: dlv was not found on PATH"):
        choose(world, ".")


def test_adapter_is_there_as_soon_as_it_is_installed(world: World) -> None:
    world.write("main.go")
    catalog = world.load()
    with pytest.raises(NoAdapter):
        catalog.choose("main.go", cwd=world.project)
    world.install("dlv")
    assert catalog.choose("main.go", cwd=world.project).definition.name == "dlv"


def test_what_else_is_needed_is_told(world: World) -> None:
    world.write("a.sh")
    world.install("bash-debug-adapter")
    with pytest.raises(
        NoAdapter, match="bash-debug-adapter is there, but it needs bashdb, which was not found on PATH"
    ):
        choose(world, "a.sh", adapter="bash-debug-adapter")


def test_file_that_nobody_knows_gets_no_native_debugger(world: World) -> None:
    world.write("Notes.java")
    world.install("gdb", says="16.3")
    with pytest.raises(NoAdapter) as raised:
        choose(world, "Notes.java")
    assert raised.value.problem.startswith(
        "No debugger adapter available: Notes.java is a .java file. Installed adapters: "
    )
    assert "gdb" in raised.value.problem


def test_program_that_is_not_there_is_told(world: World) -> None:
    with pytest.raises(NoProgram, match=f"there is no program {world.project}/gone.py"):
        choose(world, "gone.py")


# In the project before PATH


def test_programs_of_the_nearest_project_come_before_those_of_the_folder_and_path(world: World) -> None:
    world.write("nested/package.json")
    program = world.write("nested/src/a.js")
    in_nested, in_project = world.project / "nested/node_modules/.bin", world.project / "node_modules/.bin"
    for folder in (None, in_project, in_nested):
        world.install("js-debug-adapter", folder=folder)
    for folder in (in_nested, in_project, world.bin):
        found = folder / "js-debug-adapter"
        assert choose(world, str(program)).command == (str(found), "${port}", "127.0.0.1")
        found.unlink()


def test_js_debug_is_found_by_its_variable(world: World) -> None:
    server = world.write("opt/dapDebugServer.js")
    world.write("a.ts")
    world.install("node")
    with pytest.raises(NoAdapter, match="env:JS_DEBUG_DAP_SERVER is not set"):
        choose(world, "a.ts")
    world.extra["JS_DEBUG_DAP_SERVER"] = str(server)
    assert choose(world, "a.ts").command == (str(world.bin / "node"), str(server), "${port}", "127.0.0.1")


def test_adapters_of_mason_and_of_editors_are_found(world: World) -> None:
    mason = world.install("netcoredbg", folder=world.home / ".local/share/nvim/mason/bin")
    assert choose(world, str(world.write("a.dll"))).command[0] == str(mason)
    extensions = world.home / ".vscode/extensions"
    world.install("codelldb", folder=extensions / "vadimcn.vscode-lldb-1.9.0/adapter")
    newest = world.install("codelldb", folder=extensions / "vadimcn.vscode-lldb-1.11.4/adapter")
    assert choose(world, str(world.write("a.zig"))).command == (str(newest), "--port", "${port}")


# Python


def test_own_adapter_debugs_programs_of_python_3_12(world: World) -> None:
    world.write("a.py")
    python = world.install_python(str(world.project / ".venv/bin/python"), "3.12.4")
    choice = choose(world, "a.py")
    assert (choice.definition.name, choice.python) == ("dapkit", python)
    assert choice.command == (sys.executable, "-P", "-m", "dapkit.python")
    assert choice.reasons[1:] == (
        f"the program's interpreter {python} (the project's environment) is Python 3.12.4",
        f"dapkit: {sys.executable} (by its path)",
        "after it would come debugpy",
    )


@pytest.mark.parametrize(
    ("version", "implementation", "why"),
    [("3.11.2", "cpython", "is Python 3.11.2"), ("3.12.4", "pypy", "is pypy 3.12.4")],
)
def test_debugpy_debugs_what_the_own_adapter_cannot_and_this_is_said(
    world: World, version: str, implementation: str, why: str
) -> None:
    world.write("a.py")
    python = world.install_python("python3", version, implementation=implementation, modules="debugpy")
    choice = choose(world, "a.py")
    assert (choice.definition.name, choice.python, choice.version) == ("debugpy", python, "1.8.20")
    assert choice.command == (str(python), *choice.definition.command[0][1:])
    assert f"not dapkit: {python} (first on PATH) {why}, and CPython 3.12 or later is needed" in choice.reasons
    assert choice.launch_arguments()["python"] == str(python)
    assert len(choice.notices) == 1
    assert choice.notices[0].startswith("not dapkit: ")


@pytest.mark.usefixtures("no_debugpy")
def test_missing_debugpy_is_told_with_its_installation(world: World) -> None:
    world.write("a.py")
    world.install_python(str(world.project / ".venv/bin/python"), "3.11.2")
    with pytest.raises(NoAdapter) as raised:
        choose(world, "a.py")
    assert "is Python 3.11.2, and CPython 3.12 or later is needed" in raised.value.problem
    assert "debugpy: pip install debugpy" in raised.value.hints


@pytest.mark.usefixtures("no_debugpy")
def test_old_interpreter_that_nobody_chose_gives_way_to_dapkits_own(world: World) -> None:
    world.write("a.py")
    old = world.install_python("python3", "3.11.2")
    choice = choose(world, "a.py")
    assert choice.definition.name == "dapkit"
    assert choice.python is not None
    assert choice.python.resolve() == Path(sys.executable).resolve()
    assert any(f"{old} (first on PATH) is Python 3.11.2" in notice for notice in choice.notices)
    assert any(" is Python 3.13.1, and is the default, since " in notice for notice in choice.notices)


def test_debugpy_of_dapkits_own_environment_will_do(world: World) -> None:
    world.write("a.py")
    python = world.install_python("python3", "3.9.1")
    choice = choose(world, "a.py")
    assert choice.command == (sys.executable, *choice.definition.command[0][1:])
    assert choice.python == python


def test_first_line_of_a_script_names_its_interpreter(world: World) -> None:
    other = world.install_python(str(world.home / "other/bin/python3.12"), "3.12.0")
    world.install_python(str(world.project / ".venv/bin/python"), "3.13.0")
    world.write("tool", f"#!{other}\n")
    choice = choose(world, "tool")
    assert (choice.definition.name, choice.python) == ("dapkit", other)
    assert "tool is a script for python, for which there is dapkit, debugpy" in choice.reasons


def test_interpreter_that_was_asked_for_decides(world: World) -> None:
    world.write("a.py")
    old = world.install_python("old", "3.8.1", modules="debugpy")
    world.install_python("python3", "3.13.0")
    assert choose(world, "a.py", python=old).definition.name == "debugpy"


def test_own_adapter_that_was_asked_for_is_refused_for_an_old_python(world: World) -> None:
    world.write("a.py")
    world.install_python(str(world.project / ".venv/bin/python"), "3.10.1")
    with pytest.raises(NoAdapter, match=r"adapter 'dapkit' is not available: .* is Python 3.10.1"):
        choose(world, "a.py", adapter="dapkit")


def test_own_adapter_attaches_to_a_port_whatever_python_is_here(world: World) -> None:
    world.install_python("python3", "3.10.1")
    choice = world.load().choose(cwd=world.project, adapter="dapkit", port=5678)
    assert choice.definition.name == "dapkit"


def test_folder_with_main_is_a_program(world: World) -> None:
    world.write("package/__main__.py")
    world.install_python("python3", "3.13.0")
    assert choose(world, "package").definition.name == "dapkit"


def test_language_chooses_where_there_is_no_file(world: World) -> None:
    world.install_python("python3", "3.13.0")
    choice = world.load().choose(language="python", cwd=world.project)
    assert choice.definition.name == "dapkit"
    with pytest.raises(NoAdapter, match="no adapter debugs cobol"):
        world.load().choose(language="cobol", cwd=world.project)


# By what it is


@pytest.fixture(scope="session")
def compiled(require_tool: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "a.c").write_text("int main(void) { return 0; }\n")
    subprocess.run([require_tool("cc"), "-o", folder / "program", folder / "a.c"], check=True)
    subprocess.run([require_tool("cc"), "-c", "-o", folder / "part.o", folder / "a.c"], check=True)
    return folder


def test_executable_without_suffix_goes_to_a_native_debugger(world: World, compiled: Path) -> None:
    world.install("lldb-dap")
    world.write("package.json")  # does not make JavaScript of it
    world.install("js-debug-adapter")
    choice = choose(world, str(compiled / "program"))
    assert choice.definition.name == "lldb-dap"
    assert "program is an executable of this machine" in choice.reasons[0]


def test_executable_with_any_suffix_goes_to_a_native_debugger(world: World, compiled: Path) -> None:
    world.install("lldb-dap")
    (world.project / "a.out").write_bytes((compiled / "program").read_bytes())
    assert choose(world, "a.out").definition.name == "lldb-dap"


def test_object_file_is_refused(world: World, compiled: Path) -> None:
    world.install("lldb-dap")
    with pytest.raises(NoProgram, match="is an object file: link it"):
        choose(world, str(compiled / "part.o"))


def test_executable_of_go_goes_to_delve_and_else_to_a_native_debugger(
    world: World, require_tool: Callable[[str], Path]
) -> None:
    program = str(require_tool("dlv"))  # is written in Go itself
    world.install("lldb-dap")
    choice = choose(world, program)
    assert choice.definition.name == "lldb-dap"
    assert "not dlv: dlv was not found on PATH" in choice.reasons
    world.install("dlv")
    choice = choose(world, program)
    assert choice.definition.name == "dlv"
    assert choice.launch_arguments()["mode"] == "exec"


@pytest.mark.parametrize(
    ("first", "adapter"),
    [
        ("#!/usr/bin/env node", "js-debug-adapter"),
        ("#!/usr/bin/env -S FOO=1 ruby -w", "rdbg"),
        ("#!/usr/bin/ruby3.1", "rdbg"),
    ],
)
def test_first_line_of_a_script_says_its_language(world: World, first: str, adapter: str) -> None:
    for name in ("js-debug-adapter", "rdbg", "ruby"):
        world.install(name, says="1.9.2")
    world.write("tool", f"{first}\n")
    assert choose(world, "tool").definition.name == adapter


def test_script_of_an_unknown_language_is_refused(world: World) -> None:
    world.install("gdb", says="16.3")
    world.write("tool", "#!/usr/bin/perl\n")
    with pytest.raises(NoAdapter, match=r"tool is a script for perl[^$]*no adapter debugs programs of perl"):
        choose(world, "tool")


def test_folder_that_is_no_program_is_refused(world: World) -> None:
    world.write("Makefile")
    with pytest.raises(NoAdapter, match=r"project is a folder[^$]*folders can be programs for dapkit, debugpy, dlv"):
        choose(world, ".")


def test_dart_in_a_flutter_project_is_never_run_by_plain_dart(world: World) -> None:
    world.write("pubspec.yaml", "name: app\ndependencies:\n  args: any\n")
    world.write("lib/main.dart")
    world.install("dart")
    assert choose(world, "lib/main.dart").definition.name == "dart-debug-adapter"
    world.write("pubspec.yaml", "dependencies:\n  flutter:\n    sdk: flutter\n")
    with pytest.raises(NoAdapter, match=r"flutter was not found on PATH\n .*install the Flutter SDK"):
        choose(world, "lib/main.dart")
    world.install("flutter")
    choice = choose(world, "lib/main.dart")
    assert choice.command == (str(world.bin / "flutter"), "debug_adapter")
    assert choice.launch_arguments()["cwd"] == str(world.project)


# By name of the adapter


def test_adapter_that_was_asked_for_is_taken_whatever_the_program(world: World) -> None:
    world.write("a.py")
    world.install("gdb", says="16.3")
    choice = choose(world, "a.py", adapter="gdb")
    assert choice.definition.name == "gdb"
    assert choice.reasons[0] == "gdb was asked for"


def test_unknown_adapter_is_refused_with_the_names_that_there_are(world: World) -> None:
    with pytest.raises(
        NoAdapter, match=r"there is no adapter 'gbd'\n  did you mean gdb\?\n  there are bash-dap, bash-debug-adapter, "
    ):
        choose(world, "a.py", adapter="gbd")


def test_missing_adapter_that_was_asked_for_is_told(world: World) -> None:
    with pytest.raises(
        NoAdapter,
        match=r"adapter 'rdbg' is not available: rdbg was not found on PATH\n  rdbg: gem install debug; it has to be",
    ):
        choose(world, "a.rb", adapter="rdbg")


def test_port_that_cannot_be_looked_at_goes_to_the_adapter_that_the_data_names(world: World) -> None:
    world.write(
        "dap.toml",
        """
        [adapters.debugpy]
        usual_at_ports = false
        [adapters.mine]
        command = ["mine"]
        usual_at_ports = true
        attach_to_port = { port = "${port}" }
        """,
    )
    world.install("mine")
    choice = world.load().choose(host="192.0.2.1", port=9, cwd=world.project)
    assert choice.definition.name == "mine"
    assert choice.reasons[0].startswith("mine is the usual one for 192.0.2.1:9: that is another machine")
