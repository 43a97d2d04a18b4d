"""What an adapter is sent for a program, and how it is started."""

from pathlib import Path

import pytest

from catalog_world import World
from dapkit.catalog import (
    CatalogError,
    Choice,
    MissingArgument,
    NoProgram,
    route_to,
    with_commands,
    with_sources_mapped,
)
from dapkit.catalog.files import built_in
from dapkit.client.routes import Listening, Spawned, Tcp


def choose(world: World, adapter: str, program: str | None = None, *installed: str) -> Choice:
    for name in installed or (adapter,):
        world.install(name, says="99.1")
    return world.load().choose(program, cwd=world.project, adapter=adapter)


def known(adapter: str, **env: str) -> Choice:
    """Choose an adapter as if it were installed."""
    return Choice(definition=built_in()[adapter], command=(), reasons=(), cwd=Path("/"), env=env)


def test_gdb_gets_the_whole_environment_since_it_replaces_it(world: World) -> None:
    choice = choose(world, "gdb", "a.out")
    assert "env" not in choice.launch_arguments()
    env = choice.launch_arguments(env={"ONE": "1", "HOME": None})["env"]
    assert env == {"PATH": str(world.bin), "ONE": "1"}


def test_stop_on_entry_is_said_in_the_adapters_own_words(world: World) -> None:
    assert choose(world, "gdb").launch_arguments("a", stop_on_entry=True)["stopAtBeginningOfMainSubprogram"] is True
    assert choose(world, "lldb-dap").launch_arguments("a", stop_on_entry=True)["stopOnEntry"] is True
    assert choose(world, "netcoredbg").launch_arguments("a.dll", stop_on_entry=True)["stopAtEntry"] is True
    assert choose(world, "rdbg", None, "rdbg", "ruby").launch_arguments("a.rb", stop_on_entry=True)["nonstop"] is False
    assert not choose(world, "dart-debug-adapter", None, "dart").stops_on_entry


@pytest.mark.parametrize(
    ("adapter", "key", "usual", "in_terminal"),
    [
        ("dapkit", "console", None, "integratedTerminal"),
        ("debugpy", "console", "internalConsole", "integratedTerminal"),
        ("js-debug-adapter", "console", "internalConsole", "integratedTerminal"),
        ("codelldb", "terminal", "console", "integrated"),
        ("lldb-dap", "runInTerminal", None, True),
    ],
)
def test_terminal_is_asked_for_in_the_adapters_own_words(
    adapter: str, key: str, usual: object, in_terminal: object
) -> None:
    choice = known(adapter)
    assert choice.runs_in_terminal
    assert choice.launch_arguments("a").get(key) == usual
    assert choice.launch_arguments("a", terminal=True)[key] == in_terminal
    assert choice.launch_arguments("a", terminal=True, more={key: "else"})[key] == "else"


def test_terminal_of_an_adapter_of_the_user_is_asked_for_as_the_user_says(world: World) -> None:
    world.write("dap.toml", '[one]\ncommand = "one"\nlaunch_in_terminal = { tty = "${cwd}" }\nlaunch.tty = false\n')
    choice = choose(world, "one")
    assert choice.launch_arguments("a", terminal=True) == {"tty": str(world.project)}
    assert choice.launch_arguments("a") == {"tty": False}
    world.write("dap.toml", '[two]\ncommand = "two"\nlaunch.console = "none"\n')
    assert choose(world, "two").launch_arguments("a", terminal=True) == {"console": "integratedTerminal"}


def test_terminal_is_refused_by_an_adapter_without_any() -> None:
    choice = known("gdb")
    assert not choice.runs_in_terminal
    with pytest.raises(CatalogError, match="gdb runs no programs in terminals"):
        choice.launch_arguments("a", terminal=True)


def test_lldb_in_a_terminal_asks_no_servers_for_symbols_unless_the_user_has_named_some(world: World) -> None:
    offline = "?settings clear plugin.symbol-locator.debuginfod.server-urls"
    assert offline not in str(known("lldb-dap").launch_arguments("a"))
    assert offline in str(known("lldb-dap").launch_arguments("a", terminal=True))
    named = known("lldb-dap", DEBUGINFOD_URLS="https://symbols.example")
    assert offline not in str(named.launch_arguments("a", terminal=True))
    world.write("dap.toml", '[lldb-dap]\nlaunch.preRunCommands = ["mine"]\n')
    assert choose(world, "lldb-dap").launch_arguments("a", terminal=True)["preRunCommands"] == ["mine"]


def test_program_is_relative_to_the_folder(world: World) -> None:
    arguments = choose(world, "lldb-dap").launch_arguments("bin/a", cwd=world.project / "sub")
    assert (arguments["program"], arguments["cwd"]) == (
        f"{world.project}/sub/bin/a",
        f"{world.project}/sub",
    )


def test_more_arguments_have_the_last_word(world: World) -> None:
    arguments = choose(world, "lldb-dap").launch_arguments("a", more={"stopOnEntry": True, "initCommands": ["x"]})
    assert (arguments["stopOnEntry"], arguments["initCommands"]) == (True, ["x"])


def test_source_that_has_to_be_compiled_is_refused_and_what_was_built_is_named(world: World) -> None:
    world.write("a.c")
    choice = choose(world, "lldb-dap", "a.c")
    with pytest.raises(NoProgram, match=r"a\.c is a source, and lldb-dap debugs executables: compile it with"):
        choice.launch_arguments()
    (world.project / "a").write_bytes(Path("/proc/self/exe").read_bytes())
    with pytest.raises(NoProgram, match=r"\(a is beside it\)"):
        choice.launch_arguments()


def test_module_is_launched_by_those_that_can(world: World) -> None:
    world.install_python("python3", "3.13.0")
    choice = world.load().choose(language="python", cwd=world.project)
    arguments = choice.launch_arguments(module="pytest", args=["-x"])
    assert (arguments["module"], "program" in arguments, arguments["args"]) == ("pytest", False, ["-x"])
    with pytest.raises(NoProgram, match="lldb-dap launches programs, and cannot launch the module pytest"):
        choose(world, "lldb-dap").launch_arguments(module="pytest")


@pytest.mark.parametrize(
    ("program", "text", "mode", "sent"),
    [
        (".", "", "debug", "."),
        ("main.go", "package main", "debug", "."),
        ("gen.go", "//go:build ignore\n\npackage main", "debug", "gen.go"),
        ("main_test.go", "package main", "test", "."),
        ("built", "", "exec", "built"),
    ],
)
def test_delve_gets_the_mode_and_the_package(world: World, program: str, text: str, mode: str, sent: str) -> None:
    world.write("go.mod")
    if program != ".":
        world.write(program, text)
    choice = choose(world, "dlv", program)
    arguments = choice.launch_arguments()
    assert (arguments["mode"], arguments["program"]) == (mode, str(world.project / sent))
    route = route_to(choice, arguments)
    assert isinstance(route, Listening)
    assert route.cwd == world.project


def test_single_go_file_outside_of_a_module_is_built_alone(world: World) -> None:
    file = world.write("main.go")
    assert choose(world, "dlv", "main.go").launch_arguments()["program"] == str(file)


@pytest.mark.parametrize(
    ("name", "text", "main"),
    [
        ("main.kt", "package com.example\n\nfun main() {}\n", "com.example.MainKt"),
        ("App.kt", "suspend fun main(args: Array<String>) {}\n", "AppKt"),
        ("a.kt", '@file:JvmName("Start")\npackage x\nfun main() {}\n', "x.Start"),
    ],
)
def test_kotlin_gets_the_class_of_the_main_function(world: World, name: str, text: str, main: str) -> None:
    world.write("build.gradle.kts")
    world.write(f"src/{name}", text)
    arguments = choose(world, "kotlin-debug-adapter", f"src/{name}").launch_arguments()
    assert (arguments["mainClass"], arguments["projectRoot"]) == (main, str(world.project))


def test_kotlin_says_what_is_missing(world: World) -> None:
    world.write("a.kt", "fun other() {}\n")
    choice = choose(world, "kotlin-debug-adapter", "a.kt")
    with pytest.raises(
        MissingArgument, match=r"kotlin-debug-adapter needs `mainClass` to launch .*a\.kt: the class that"
    ):
        choice.launch_arguments()
    with pytest.raises(MissingArgument, match="needs `projectRoot`"):
        choice.launch_arguments(more={"mainClass": "AKt"})


def test_php_adapter_gets_its_own_placeholder(world: World) -> None:
    arguments = choose(world, "php-debug-adapter", "a.php", "php-debug-adapter", "php").launch_arguments()
    assert "-dxdebug.client_port=${port}" in arguments["runtimeArgs"]  # type: ignore[operator]  # a list of texts


# Attach


def test_attach_says_pid_and_port_in_the_adapters_own_words(world: World) -> None:
    lldb = choose(world, "lldb-dap")
    assert lldb.attach_arguments(pid=7) == {"request": "attach", "pid": 7}
    assert lldb.attach_arguments(host="far", port=9) == {
        "request": "attach",
        "gdb-remote-hostname": "far",
        "gdb-remote-port": 9,
    }
    assert choose(world, "js-debug-adapter").attach_arguments(pid=7)["processId"] == "7"
    assert choose(world, "gdb").attach_arguments(port=9)["target"] == "127.0.0.1:9"


def test_adapter_that_cannot_attach_so_says_it(world: World) -> None:
    with pytest.raises(CatalogError, match="rdbg cannot attach to a process"):
        choose(world, "rdbg", None, "rdbg", "ruby").attach_arguments(pid=7)
    with pytest.raises(CatalogError, match="netcoredbg cannot attach to a port"):
        choose(world, "netcoredbg").attach_arguments(port=7)


# The way to the adapter


def test_adapter_on_stdio_is_spawned(world: World) -> None:
    choice = choose(world, "netcoredbg")
    command = (str(world.bin / "netcoredbg"), "--interpreter=vscode")
    assert route_to(choice) == Spawned(command, world.project, choice.env)


def test_adapter_inside_its_program_is_started_with_it(world: World) -> None:
    world.write("a.rb")
    choice = choose(world, "rdbg", "a.rb", "rdbg", "ruby")
    arguments = choice.launch_arguments(args=["1", "2 3"], env={"ONE": "1"}, cwd=world.project / "sub")
    (world.project / "sub").mkdir()
    route = route_to(choice, {**arguments, "program": "a.rb"})
    assert isinstance(route, Listening)
    assert route.argv[1:] == (
        "--open", "--sock-path=${socket}", "--command", "--", "ruby", "a.rb", "1", "2 3",
    )  # fmt: skip
    assert route.cwd == world.project / "sub"
    assert route.ready == "wait for debugger connection"
    assert route.env is not None
    assert route.env["ONE"] == "1"
    with pytest.raises(MissingArgument, match="rdbg is started with the program"):
        route_to(choice)


def test_port_of_an_adapter_is_connected_to(world: World) -> None:
    assert route_to(choose(world, "dlv"), host="far", port=9) == Tcp("far", 9)
    assert isinstance(route_to(choose(world, "lldb-dap"), port=9), Spawned)


def test_adapter_that_listens_already_is_connected_to(world: World) -> None:
    world.write("dap.toml", '[game]\ntransport = "connect"\nport = 6006\nfile_types = [".gd"]\n')
    world.write("a.gd")
    choice = world.load().choose("a.gd", cwd=world.project)
    assert choice.command == ()
    assert route_to(choice) == Tcp("127.0.0.1", 6006)


def test_cmake_names_its_folder_and_socket(world: World) -> None:
    file = world.write("CMakeLists.txt")
    world.install("cmake", says="cmake version 4.1.0")
    choice = world.load().choose(file, cwd=world.project)
    route = route_to(choice, choice.launch_arguments())
    assert isinstance(route, Listening)
    folder = str(world.project)
    assert route.argv[1:] == (
        "--debugger", "--debugger-pipe=${socket}", "-S", folder, "-B", f"{folder}/build",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("adapter", "sent"),
    [
        ("lldb-dap", {"sourceMap": [["/build", "/here"], ["/two", "/2"]]}),
        ("codelldb", {"sourceMap": {"/build": "/here", "/two": "/2"}}),
        ("dlv", {"substitutePath": [{"from": "/here", "to": "/build"}, {"from": "/2", "to": "/two"}]}),
        (
            "dapkit",
            {
                "pathMappings": [
                    {"localRoot": "/here", "remoteRoot": "/build"},
                    {"localRoot": "/2", "remoteRoot": "/two"},
                ]
            },
        ),
    ],
)
def test_sources_are_mapped_in_the_adapters_own_words(adapter: str, sent: dict[str, object]) -> None:
    choice = with_sources_mapped(known(adapter), {"/build": "/here", "/two": "/2"})
    assert sent.items() <= choice.launch_arguments("a").items()
    if choice.definition.attach_to_pid is not None:
        assert sent.items() <= choice.attach_arguments(pid=1).items()
    assert not sent.keys() & known(adapter).launch_arguments("a").keys()


def test_folder_to_run_in_is_taken_from_where_the_adapter_runs(world: World) -> None:
    (world.project / "sub").mkdir()
    choice = choose(world, "dapkit")
    choice.check_launch({"cwd": "sub"})
    with pytest.raises(CatalogError, match=f"there is no folder {world.project}/nowhere"):
        choice.check_launch({"cwd": "nowhere"})


def test_gdb_maps_sources_and_runs_commands_by_its_command_line(world: World) -> None:
    choice = with_sources_mapped(choose(world, "gdb", "a.out"), {"/build": "/here it is"})
    choice = with_commands(choice, ["set print pretty on"])
    words = ["-iex", "set substitute-path '/build' '/here it is'", "-iex", "set print pretty on"]
    route = route_to(choice)
    assert isinstance(route, Spawned)
    assert list(route.argv[-4:]) == words


def test_adapter_that_cannot_map_sources_is_named() -> None:
    with pytest.raises(CatalogError, match="rdbg cannot map sources"):
        with_sources_mapped(known("rdbg"), {"/build": "/here"})
    with pytest.raises(CatalogError, match="dlv takes no commands at its start"):
        with_commands(known("dlv"), ["help"])
