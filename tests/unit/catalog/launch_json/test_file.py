"""Configurations of a `launch.json`, with the adapter for each and what it is sent."""

import json
import sys
from pathlib import Path

import pytest

from catalog_world import World
from dapkit.catalog import LaunchFileError, NoAdapter, launch_json
from dapkit.catalog.launch_json import Compound, LaunchFile, Plan
from dapkit.client.routes import Spawned, Tcp


def write(world: World, *configurations: object, **more: object) -> LaunchFile:
    world.write(".vscode/launch.json", json.dumps({"version": "0.2.0", "configurations": configurations, **more}))
    return launch_json.read(world.project)


def plan(world: World, **settings: object) -> Plan:
    file = write(world, {"name": "x", "request": "launch", **settings})
    return file.plan("x", world.load())


def test_file_with_comments_is_read(world: World) -> None:
    text = """{
        // Use IntelliSense to learn about possible attributes.
        "configurations": [
            {"name": "A", "type": "debugpy", "request": "launch", "program": "${file}",},
        ],
        "compounds": [{"name": "Both", "configurations": ["A", {"name": "A", "folder": "x"}], "stopAll": true}],
    }"""
    world.write(".vscode/launch.json", text)
    file = launch_json.read(world.project)
    assert file.names == ("A", "Both")
    assert file.compounds == (Compound("Both", ("A", "A"), stop_all=True),)
    assert (file.members("A"), file.members("Both")) == (("A",), ("A", "A"))


def test_nearest_file_of_the_repository_is_found(world: World) -> None:
    (world.project / ".git").mkdir()
    inner = world.write("a/b/c.py").parent
    assert launch_json.find(inner) is None
    write(world)
    assert launch_json.find(inner) == world.project


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"configurations": [}', "line 1, column 21: Expecting value; expected JSON with comments"),
        ("[]", "expected an object with configurations"),
        ('{"configurations": {}}', "configurations: expected a list"),
        ('{"configurations": [1]}', "configurations[0]: expected an object"),
        ('{"configurations": [{"name": "A", "request": "launch"}]}', 'configurations[0] ("A").type: expected a text'),
        (
            '{"configurations": [{"name": "A", "type": "x", "request": "run"}]}',
            'configurations[0] ("A").request: expected launch or attach, found "run"',
        ),
        ('{"compounds": [{"name": "A"}]}', "compounds[0]: expected an object with name and configurations"),
    ],
)
def test_what_is_wrong_is_told_by_its_place(world: World, text: str, problem: str) -> None:
    file = world.write(".vscode/launch.json", text)
    with pytest.raises(LaunchFileError) as raised:
        launch_json.read(world.project)
    assert str(raised.value) == f"{file}: {problem}"


def test_missing_file_is_told(world: World) -> None:
    with pytest.raises(LaunchFileError, match=r"launch\.json: is not there"):
        launch_json.read(world.project)


def test_unknown_name_is_answered_with_those_that_there_are(world: World) -> None:
    file = write(
        world,
        {"name": "A", "type": "x", "request": "launch"},
        compounds=[{"name": "Two", "configurations": ["A", "B"]}],
    )
    with pytest.raises(LaunchFileError, match=r'there is no configuration "C"; there are "A", "Two"'):
        file.plan("C", world.load())
    with pytest.raises(LaunchFileError, match=r'the compound "Two" names "B", and there is no such'):
        file.members("Two")


def test_python_configuration_goes_to_our_own_adapter_as_it_is(world: World) -> None:
    python = world.install_python("python3", "3.13.0")
    planned = plan(
        world,
        type="debugpy",
        module="shop",
        args=["--port", "${env:HOME}"],
        justMyCode=True,
        presentation={"hidden": True},
    )
    assert planned.choice is not None
    assert (planned.choice.definition.name, planned.choice.python) == ("dapkit", python)
    assert planned.arguments == {
        "name": "x",
        "type": "debugpy",
        "request": "launch",
        "module": "shop",
        "args": ["--port", str(world.home)],
        "justMyCode": True,
    }
    assert planned.choice.reasons[0] == "the configuration's type is debugpy, for which there is dapkit, debugpy"
    assert planned.route() == Spawned((sys.executable, "-P", "-m", "dapkit.python"), world.project, planned.choice.env)


def test_interpreter_of_the_configuration_decides(world: World) -> None:
    old = world.install_python(str(world.project / "old/bin/python"), "3.9.1")
    planned = plan(world, type="python", program="a.py", python="${workspaceFolder}/old/bin/python")
    assert planned.choice is not None
    assert (planned.choice.definition.name, planned.choice.python) == ("debugpy", old)


def test_attach_to_a_process_goes_to_an_adapter_that_can(world: World) -> None:
    file = write(world, {"name": "x", "type": "debugpy", "request": "attach", "processId": "${command:pickProcess}"})
    planned = file.plan("x", world.load(), pid=77)
    assert planned.choice is not None
    assert planned.choice.definition.name == "dapkit"
    assert (planned.request, planned.arguments["processId"]) == ("attach", "77")


def test_attach_to_a_port_where_nobody_is_seen_goes_to_debugpy(world: World) -> None:
    place = {"host": "192.0.2.1", "port": 5678}
    planned = write(world, {"name": "x", "type": "python", "request": "attach", "connect": place}).plan(
        "x", world.load()
    )
    assert planned.choice is not None
    assert planned.choice.definition.name == "debugpy"
    assert planned.arguments["connect"] == place


def test_attach_to_a_port_that_is_the_adapter_connects_to_it(world: World) -> None:
    world.install("dlv")
    file = write(world, {"name": "x", "type": "go", "request": "attach", "mode": "remote", "host": "far", "port": 2345})
    assert file.plan("x", world.load()).route() == Tcp("far", 2345)


def test_attach_to_a_process_by_an_adapter_that_cannot_is_refused(world: World) -> None:
    file = write(world, {"name": "x", "type": "php", "request": "attach", "processId": 7})
    with pytest.raises(
        NoAdapter, match="no debugger for type 'php' is available: it attaches to a process, which no adapter can"
    ):
        file.plan("x", world.load())


def test_attach_to_a_port_of_another_language_says_nothing_of_python(world: World) -> None:
    world.install("js-debug-adapter")
    file = write(world, {"name": "x", "type": "node", "request": "attach", "port": 9229})
    planned = file.plan("x", world.load())
    assert planned.choice is not None
    assert not any("debugpy" in reason for reason in planned.choice.reasons)


@pytest.mark.parametrize(("kind", "sent"), [("node", "pwa-node"), ("pwa-node", "pwa-node"), ("chrome", "pwa-chrome")])
def test_javascript_types_are_those_of_the_adapter(world: World, kind: str, sent: str) -> None:
    world.install("js-debug-adapter")
    assert plan(world, type=kind, program="a.js").arguments["type"] == sent


def test_go_mode_auto_is_decided(world: World) -> None:
    world.install("dlv")
    world.write("go.mod")
    world.write("cmd/main_test.go")
    planned = plan(world, type="go", mode="auto", program="${workspaceFolder}/cmd/main_test.go")
    assert (planned.arguments["mode"], planned.arguments["program"]) == ("test", str(world.project / "cmd"))
    assert plan(world, type="go", mode="exec", program="x").arguments["mode"] == "exec"


def test_configuration_of_cpptools_becomes_one_of_a_native_debugger(world: World) -> None:
    world.install("gdb", says="16.3")
    planned = plan(
        world,
        type="cppdbg",
        program="${workspaceFolder}/build/shop",
        args=["1"],
        cwd="${workspaceFolder}/run",
        environment=[{"name": "A", "value": "1"}],
        stopAtEntry=True,
        MIMode="gdb",
        setupCommands=[],
        preLaunchTask="build",
        visualizerFile="x.natvis",
    )
    assert planned.arguments == {
        "request": "launch",
        "program": str(world.project / "build/shop"),
        "args": ["1"],
        "cwd": str(world.project / "run"),
        "env": {**world.env, "A": "1"},
        "stopAtBeginningOfMainSubprogram": True,
    }
    assert planned.notes == (
        "preLaunchTask 'build' is not run: run it yourself",
        "gdb does not know visualizerFile, which cppdbg does",
    )


def test_debugger_of_cpptools_its_commands_and_its_sources_are_heeded(world: World) -> None:
    world.install("gdb", says="16.3")
    planned = plan(
        world,
        type="cppdbg",
        program="/a.out",
        miDebuggerPath="/opt/gdb-16/bin/gdb",
        setupCommands=[{"text": "-enable-pretty-printing", "ignoreFailures": True}, {"text": "set print elements 50"}],
        sourceFileMap={
            "/build": "${workspaceFolder}/src",
            "/other": {"editorPath": "/mine", "useForBreakpoints": True},
        },
    )
    route = planned.route()
    assert isinstance(route, Spawned)
    assert list(route.argv[:4]) == ["/opt/gdb-16/bin/gdb", "-q", "-i", "dap"]
    assert list(route.argv[-8:]) == [
        *("-iex", f"set substitute-path '/build' '{world.project}/src'"),
        *("-iex", "set substitute-path '/other' '/mine'"),
        *("-iex", 'interpreter-exec mi "-enable-pretty-printing"'),
        *("-iex", "set print elements 50"),
    ]
    assert planned.notes == ()


@pytest.mark.parametrize("commands", [["set print pretty on"], [1, None], [{"description": "none"}], "text"])
def test_setup_commands_without_a_text_are_left_out(world: World, commands: object) -> None:
    world.install("gdb", says="16.3")
    route = plan(world, type="cppdbg", program="/a.out", setupCommands=commands).route()
    assert route == plan(world, type="cppdbg", program="/a.out").route()


def test_lldb_gets_the_sources_and_commands_of_cpptools_and_names_the_debugger_that_it_is_not(world: World) -> None:
    world.install("lldb-dap")
    planned = plan(
        world,
        type="cppdbg",
        program="/a.out",
        miDebuggerPath="/usr/bin/gdb",
        setupCommands=[{"text": "settings set target.max-children-count 50"}],
        sourceFileMap={"/build": "/src"},
    )
    assert planned.arguments["sourceMap"] == [["/build", "/src"]]
    assert planned.arguments["initCommands"] == ["settings set target.max-children-count 50"]
    assert planned.notes == ("lldb-dap is not the debugger of miDebuggerPath, /usr/bin/gdb",)


def test_settings_for_linux_have_precedence(world: World) -> None:
    world.install("lldb-dap")
    planned = plan(world, type="lldb-dap", program="a", linux={"program": "/b"}, windows={"program": "c"})
    assert planned.arguments == {"name": "x", "type": "lldb-dap", "request": "launch", "program": "/b"}


def test_debug_server_is_connected_to(world: World) -> None:
    planned = plan(world, type="whatever", debugServer=4711)
    assert planned.choice is None
    assert planned.route() == Tcp("127.0.0.1", 4711)


def test_unknown_type_is_refused(world: World) -> None:
    with pytest.raises(
        NoAdapter, match=r"no adapter is for configurations of type 'cobol'\n  there are adapters for Ruby, "
    ):
        plan(world, type="cobol")


def test_variable_without_value_is_told_with_file_configuration_and_place(world: World) -> None:
    with pytest.raises(LaunchFileError) as raised:
        plan(world, type="python", env={"A": "${command:x.y}"})
    assert str(raised.value).startswith(
        f'{world.project}/.vscode/launch.json: configuration "x", env.A: ${{command:x.y}} is a command of the editor'
    )


def test_settings_that_cannot_be_read_are_told_when_they_are_needed(world: World) -> None:
    world.install_python("python3", "3.13.0")
    world.write(".vscode/settings.json", "{")
    assert plan(world, type="python", program="a.py").choice is not None
    with pytest.raises(LaunchFileError, match=r"settings\.json cannot be read: line 1, column 2"):
        plan(world, type="python", program="${config:a}")


def test_file_of_the_editor_is_given_from_outside(world: World) -> None:
    world.install_python("python3", "3.13.0")
    file = write(world, {"name": "x", "type": "python", "request": "launch", "program": "${file}"})
    assert file.plan("x", world.load(), program=Path("/a.py")).arguments["program"] == "/a.py"
    with pytest.raises(LaunchFileError, match=r'configuration "x", program: \$\{file\} is about the file that is open'):
        file.plan("x", world.load())
