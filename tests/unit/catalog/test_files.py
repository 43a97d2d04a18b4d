"""Users' own definitions over those that come with dapkit."""

import json
import re
from pathlib import Path

import pytest

from catalog_world import World
from dapkit.catalog import Traits
from dapkit.catalog.files import FILE_NAMES

MINE = {
    "json": '{"adapters": {"mine": {"command": "mine", "args": ["--dap"], "fileTypes": [".MY"]}}}',
    "yaml": "adapters:\n  mine:\n    command: mine\n    args: [--dap]\n    fileTypes: ['.MY']\n",
    "yml": "mine: {command: [mine, --dap], file_types: [.my]}\n",
    "toml": '[adapters.mine]\ncommand = ["mine", "--dap"]\nfile_types = [".my"]\n',
}


@pytest.mark.parametrize("name", FILE_NAMES)
def test_each_form_defines_an_adapter(world: World, name: str) -> None:
    file = world.write(name, MINE[name.rpartition(".")[2]])
    catalog = world.load()
    assert catalog.problems == ()
    mine = catalog.adapters["mine"]
    assert (mine.command, mine.file_types, mine.sources) == ((("mine", "--dap"),), (".my",), (file,))


def test_new_adapter_is_sent_what_is_usual(world: World) -> None:
    world.write("dap.toml", MINE["toml"])
    world.install("mine")
    choice = world.load().choose(world.write("a.my"), cwd=world.project)
    assert choice.command == (str(world.bin / "mine"), "--dap")
    file = f"{world.project}/dap.toml"
    assert choice.reasons[-2] == f"the definition of mine is from {file}"
    assert choice.reasons[-1] == f"as {file} of the project says, mine is started by: {' '.join(choice.command)}"
    assert choice.launch_arguments(args=["1"], stop_on_entry=True) == {
        "request": "launch",
        "program": str(world.project / "a.my"),
        "args": ["1"],
        "cwd": str(world.project),
        "stopOnEntry": True,
    }


def test_note_about_a_definition_of_the_project_leaves_out_code_of_ours(world: World) -> None:
    world.install("gdb", says="GNU gdb 16.3")
    world.write("dap.toml", "[adapters.gdb]\nrank = 1\n")
    choice = world.load().choose(adapter="gdb", cwd=world.project, port=1)
    [note] = [reason for reason in choice.reasons if "is started by" in reason]
    assert "gdb -q -i dap -iex set print symbol-loading off -iex ... -iex python" in note
    assert len(note) < 1000


def test_project_overrides_home_key_by_key(world: World) -> None:
    (world.home / "dap.toml").write_text("[gdb]\nrank = 50\nlaunch = { a = 1, b = 1 }\n")
    world.write(".dap.json", '{"gdb": {"launchDefaults": {"b": 2}}}')
    gdb = world.load().adapters["gdb"]
    assert gdb.rank == 50
    assert {"a": 1, "b": 2, "program": "${program}"}.items() <= gdb.launch.items()
    assert gdb.title == "GDB"
    assert [source.name for source in gdb.sources] == ["gdb.toml", "dap.toml", ".dap.json"]


def test_folders_of_the_repository_count_down_to_the_users(world: World) -> None:
    (world.project / ".git").mkdir()
    inner = world.write("packages/one/dap.toml", "[gdb]\nrank = 2\n").parent
    world.write("packages/dap.toml", "[gdb]\nrank = 1\n")
    world.write("dap.toml", "[lldb-dap]\nrank = 3\n")
    (world.project.parent / "dap.toml").write_text("[gdb]\ntitle = 'not of this repository'\n")
    adapters = world.load(inner).adapters
    assert (adapters["gdb"].rank, adapters["lldb-dap"].rank, adapters["gdb"].title) == (2, 3, "GDB")


def test_configuration_folder_counts_above_home(world: World) -> None:
    (world.home / "dap.toml").write_text("[gdb]\nrank = 1\n")
    own = world.home / ".config/dapkit"
    own.mkdir(parents=True)
    (own / "dap.toml").write_text("[gdb]\nrank = 2\n")
    assert world.load().adapters["gdb"].rank == 2


@pytest.mark.parametrize(
    ("override", "command"),
    [
        ({"command": "/opt/dbg"}, ("/opt/dbg", "--interpreter=vscode")),
        ({"args": ["--nx", "-i", "dap"]}, ("netcoredbg", "--nx", "-i", "dap")),
        ({"command": "my-dbg", "args": []}, ("my-dbg",)),
        ({"command": ["my-dbg", "-i=dap"]}, ("my-dbg", "-i=dap")),
    ],
)
def test_command_and_args_override_each_its_own_part(
    world: World, override: dict[str, object], command: tuple[str, ...]
) -> None:
    world.write("dap.json", json.dumps({"netcoredbg": override}))
    assert world.load().adapters["netcoredbg"].command == (command,)


def test_every_setting_is_understood_in_camel_case(world: World) -> None:
    in_camel_case = '"folderMarkers": ["m"], "attachToPidNeeds": ["gdb"], "portIsAdapter": true, "minimumPython": "3.9"'
    world.write("dap.json", f'{{"new": {{"command": "new", {in_camel_case}}}}}')
    catalog = world.load()
    assert catalog.problems == ()
    new = catalog.adapters["new"]
    assert (new.folder_markers, new.attach_to_pid_needs) == (("m",), ("gdb",))
    assert (new.port_is_adapter, new.minimum_python) == (True, "3.9")


def test_traits_are_laid_over_those_below_one_by_one(world: World) -> None:
    world.write("dap.json", r'{"dlv": {"traits": {"exitMessage": "gone: (\\d+)"}}}')
    catalog = world.load()
    assert catalog.problems == ()
    traits = catalog.adapters["dlv"].traits
    assert (traits.exit_code_in("gone: 3"), traits.total_frames_is_guess) == (3, True)
    assert traits.exit_code_in("Process 17 has exited with status 3\n") is None


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("gone", None),
        ("gone with -9", -9),
        ("gone with honour", None),
        ("gone with 123456789012", None),
        ("it is gone with 3", None),
    ],
)
def test_exit_code_is_a_number_in_the_whole_message(said: str, code: int | None) -> None:
    assert Traits(exit_message=re.compile("gone(?: with (.+))?")).exit_code_in(said) == code


def test_attach_defaults_go_to_every_way_of_attaching(world: World) -> None:
    world.write(
        "dap.json",
        '{"debugpy": {"attachDefaults": {"subProcess": false}}, "new": {"command": "new", "attach": {"x": 1}}}',
    )
    adapters = world.load().adapters
    for table in (adapters["debugpy"].attach_to_pid, adapters["debugpy"].attach_to_port):
        assert table is not None
        assert table["subProcess"] is False
    assert adapters["new"].attach_to_port == {
        "request": "attach",
        "cwd": "${cwd}",
        "host": "${host}",
        "port": "${port}",
        "x": 1,
    }


@pytest.mark.parametrize(
    ("name", "text", "place", "problem"),
    [
        ("dap.json", '{"a": \n}', "", "line 2, column 1: Expecting value; expected JSON"),
        ("dap.toml", "[a\n", "", "Expected ']'"),
        ("dap.yaml", "a: [1\nb: 2", "", "line 2, column 2: expected ',' or ']'"),
        ("dap.toml", "[gdb]\n\nrank = 'first'\n", "gdb.rank, line 3", 'found "first", expected a whole number'),
        ("dap.json", '{"adapters": {\n"x": {\n"command": 3}}}', "adapters.x.command, line 3", "found the number 3"),
        ("dap.toml", "[x]\ncommand = ['x']\nfile_types = ['.x', 4]", "x.file_types.1, line 3", "found the number 4"),
        ("dap.toml", "[x]\ncomand = ['x']", "x.comand, line 2", "no adapter has this setting; there are adapter_id"),
        ("dap.yaml", "x:\n  1: x", "x.1, line 2", "no adapter has this setting; there are adapter_id"),
        ("dap.toml", "[x]\ntitle = 'x'", "x.command, line 1", "missing: there is nothing to start"),
        ("dap.yaml", "x:\n  command: [x]\n  transport: tcp", "x.command, line 2", 'the transport "tcp" needs ${port}'),
        ("dap.yaml", "x:\n  transport: pipe", "x.transport, line 2", 'found "pipe", expected one of stdio'),
        ("dap.yaml", "x:\n  transport: connect", "x.port, line 1", "missing"),
        (
            "dap.toml",
            "[x.traits]\nexit_message = '('",
            "x.traits.exit_message, line 2",
            'found "(", expected a regular',
        ),
        ("dap.toml", "[x.traits]\nexit_message = '0'", "x.traits.exit_message, line 2", "with one group"),
        (
            "dap.toml",
            "[x.traits]\nrepl = true",
            "x.traits.repl, line 2",
            "no adapter has this trait; there are adapter_",
        ),
        ("dap.toml", "[x]\ntraits = 'gdb'", "x.traits, line 2", 'found "gdb", expected a table'),
        ("dap.json", '{"x": []}', "x, line 1", "found a list, expected a table"),
        ("dap.json", "[]", "", "found a list, expected a table"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_place(world: World, name: str, text: str, place: str, problem: str) -> None:
    file = world.write(name, text)
    (told,) = world.load().problems
    assert (told.file, told.place) == (file, place)
    assert problem in told.text
    assert str(told).startswith(f"{file}{', ' if place else ''}{place}: ")


def test_invalid_override_keeps_what_was_below_and_the_rest_goes_on(world: World) -> None:
    world.write("dap.toml", "[gdb]\nrank = 'x'\n[lldb-dap]\nrank = 9\n")
    catalog = world.load()
    assert (catalog.adapters["gdb"].rank, catalog.adapters["lldb-dap"].rank) == (0, 9)
    assert len(catalog.problems) == 1


def test_file_that_is_no_text_is_told(world: World) -> None:
    file = world.project / "dap.toml"
    file.write_bytes(b"\xff\xfe")
    (told,) = world.load().problems
    assert told.text == "is not UTF-8: byte 0 is not text"


def test_command_with_a_path_is_looked_for_beside_the_file_that_says_it(world: World) -> None:
    world.write("tools/dap.toml", '[mine]\ncommand = ["./run"]\nfile_types = [".my"]\n')
    run = world.install("run", folder=world.project / "tools")
    tools = run.parent
    assert world.load(tools).choose(world.write("tools/a.my"), cwd=tools).command == (str(run),)


def test_all_files_that_come_with_dapkit_are_sound(world: World) -> None:
    catalog = world.load()
    assert catalog.problems == ()
    seed = "gdb lldb-dap codelldb debugpy dlv js-debug-adapter netcoredbg kotlin-debug-adapter rdbg php-debug-adapter"
    others = "bash-dap bash-debug-adapter dart-debug-adapter flutter-debug-adapter elixir-ls-debugger dapkit cmake"
    assert {*seed.split(), *others.split(), "cdt-gdb-adapter"} <= set(catalog.adapters)
    for adapter in catalog.adapters.values():
        assert adapter.title, adapter.name
        assert adapter.install, adapter.name
        assert adapter.notes, adapter.name
        assert adapter.languages, adapter.name
        assert adapter.launch["request"] in {"launch", "attach"}, adapter.name
        assert all(isinstance(source, Path) for source in adapter.sources)
