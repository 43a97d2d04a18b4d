"""Launch configurations as people have them, with everything that debugpy takes."""

from pathlib import Path

import pytest

from dapkit.client import Ended
from dapkit.endpoint import RequestFailed
from dapkit.protocol import OutputEvent, Source, StoppedEvent
from dapkit.python.adapter import PythonLaunch
from e2e.python.adapter_client import AdapterClient
from e2e.python.processes import only_line

pytestmark = pytest.mark.row("launch")


async def test_configuration_of_an_editor_works_unchanged(driver: AdapterClient, python: str) -> None:
    file = driver.write("import os, sys\nprint(sys.argv[1:], os.environ['FROM_FILE'], os.environ['BOTH'])\n")
    (driver.folder / ".env").write_text("# mine\nexport FROM_FILE='a b'\nBOTH=file\n")
    configuration = {
        "name": "Python Debugger: Current File",
        "type": "debugpy",
        "request": "launch",
        "program": str(file),
        "console": "internalConsole",
        "args": "--name 'two words' last",
        "env": {"BOTH": "env"},
        "envFile": str(driver.folder / ".env"),
        "python": [python],
        "cwd": str(driver.folder),
        "justMyCode": False,
        "rules": [{"path": "**/site-packages/**", "include": True}, {"module": "json", "include": False}],
        "subProcess": False,
        "redirectOutput": True,
        "showReturnValue": True,
        "pathMappings": [{"localRoot": str(driver.folder), "remoteRoot": "."}],
        "stopOnEntry": False,
        "autoReload": {"enable": False},
        "django": False,
        "jinja": True,
        "gevent": False,
        "pyramid": False,
        "purpose": ["debug-in-terminal"],
        "preLaunchTask": "build",
        "presentation": {"hidden": False, "group": "", "order": 1},
        "internalConsoleOptions": "neverOpen",
        "serverReadyAction": {"pattern": "x"},
        "clientOS": "unix",
        "__sessionId": "7",
    }
    await driver.session.launch(configuration)
    assert await driver.session.wait_until_ended() == Ended(0)
    assert driver.output("stdout") == "['--name', 'two words', 'last'] a b env\n"
    assert driver.output("console") == ""


async def test_null_is_as_good_as_nothing_for_every_key(driver: AdapterClient) -> None:
    file = driver.write("import os\nprint(os.getcwd())\n")
    keys = [key for key in PythonLaunch.__struct_encode_fields__ if key not in ("extra", "program")]
    await driver.session.launch({"program": str(file), **dict.fromkeys(keys), "unknown": None})
    assert await driver.session.wait_until_ended() == Ended(0)
    assert driver.output("stdout") == f"{driver.folder}\n"  # the folder of the program


async def test_variables_may_be_numbers_and_a_module_runs_where_the_editor_is(driver: AdapterClient) -> None:
    env = {"ONE": 1, "YES": True, "HALF": 0.5, "HOME": None}
    driver.write("import os; print(os.getcwd(), *map(os.environ.get, ('ONE', 'YES', 'HALF', 'HOME')))", "shown.py")
    await driver.session.launch({"module": "shown", "env": env, "workspaceFolder": str(driver.folder)})
    assert await driver.session.wait_until_ended() == Ended(0)
    assert driver.output("stdout") == f"{driver.folder} 1 true 0.5 None\n"


@pytest.mark.thorough
async def test_keys_that_do_nothing_here_are_named_with_what_to_do_instead(driver: AdapterClient) -> None:
    asked = {"logToFile": True, "waitOnNormalExit": True, "debugpyArgs": ["--x"]}
    quiet = {
        "gevent": True,
        "guiEventLoop": "qt",
        "clientOS": "unix",
        "waitOnAbnormalExit": False,
        "processName": "x",
        "subProcess": False,
    }
    await driver.run("print('ran')", **asked, **quiet)
    said = driver.output("console").splitlines()
    assert sorted(line.partition(":")[0] for line in said) == sorted(asked)
    assert driver.output("stdout") == "ran\n"


async def test_older_keys_mean_what_has_replaced_them(driver: AdapterClient) -> None:
    flags = ["RedirectOutput", "DebugStdLib", "StopOnEntry", "FixFilePathCase"]
    await driver.start("import json\njson.loads('x')\n", debugOptions=flags, stopAllThreadsOnSuspend=True)
    assert (await driver.session.next_stop()).reason == "entry"
    await driver.session.step_in(1)
    await driver.session.next_stop()
    assert driver.output("console") == ""
    [newest, *_] = await driver.frames()
    assert newest.source is not None
    assert newest.source.path != str(driver.file)  # but the standard library's


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["python", "pythonPath", "pythonpath"])
async def test_interpreter_has_old_names_too(driver: AdapterClient, name: str, python: str) -> None:
    await driver.run("import sys; print(sys.executable)", **{name: python})
    assert driver.output("stdout") == f"{python}\n"


async def test_python_arguments_may_be_one_text(driver: AdapterClient) -> None:
    await driver.run("import sys; print(sys.flags.dev_mode, sys.flags.utf8_mode)", pythonArgs="-X dev -X utf8=1")
    assert driver.output("stdout") == "True 1\n"


async def test_arguments_that_cannot_be_split_are_refused(driver: AdapterClient) -> None:
    with pytest.raises(Exception, match=r"args is .* which cannot be split into words: No closing quotation"):
        await driver.run("", args="'open")


async def test_env_file_that_is_not_there_is_told_and_the_program_runs(driver: AdapterClient) -> None:
    await driver.run("print('ran')", envFile=".env")
    assert driver.output("stdout") == "ran\n"
    assert driver.output("console") == f"envFile {driver.folder / '.env'} does not exist\n"


async def test_lines_of_the_env_file_that_are_none_are_told(driver: AdapterClient) -> None:
    (driver.folder / ".env").write_text("GOOD=1\nnot good\n")
    await driver.run("import os; print(os.environ['GOOD'])", envFile=".env")
    assert driver.output("stdout") == "1\n"
    assert driver.output("console") == f"line 2 of {driver.folder / '.env'} is not NAME=value: 'not good'\n"


async def test_output_can_be_left_out(driver: AdapterClient) -> None:
    assert await driver.run("print(1)", redirectOutput=False) == Ended(0)
    assert driver.output("stdout") == ""


# Path mappings


async def mapped(driver: AdapterClient, python: str | None = None) -> Path:
    """Stop a program whose files the client knows by other paths; return the client's folder."""
    there, here = driver.folder / "there", driver.folder / "here"
    there.mkdir()
    driver.write("import helper\nhelper.help()\n", "there/prog.py")
    driver.write("def help():\n    print('hello')\n    return 1 / 0\n", "there/helper.py")
    await driver.session.add_breakpoint(here / "helper.py", 2, log_message="log")
    await driver.session.add_breakpoint(here / "helper.py", 3)
    mapping = [{"localRoot": "/elsewhere", "remoteRoot": "/nowhere"}, {"localRoot": str(here), "remoteRoot": "."}]
    more = {} if python is None else {"python": python}
    await driver.session.launch({"program": "prog.py", "cwd": str(there), "pathMappings": mapping, **more})
    return here


async def test_breakpoints_and_frames_have_the_paths_of_the_client(driver: AdapterClient, python: str) -> None:
    here = await mapped(driver, python)
    await driver.session.next_stop()
    frames = await driver.frames()
    assert [frame.source and frame.source.path for frame in frames] == [str(here / "helper.py"), str(here / "prog.py")]
    places = [(one.verified, one.source and one.source.path) for one in driver.session.breakpoints]
    assert places == [(True, str(here / "helper.py"))] * 2


async def test_output_with_a_source_has_the_path_of_the_client(driver: AdapterClient) -> None:
    here = await mapped(driver)
    log = await driver.session.wait_for(OutputEvent, where=lambda event: event.output == "log\n", since=0)
    assert isinstance(log.source, Source)
    assert log.source.path == str(here / "helper.py")


# Without debugging


@pytest.mark.each_python
async def test_program_without_debugging_has_no_monitoring(driver: AdapterClient, python: str) -> None:
    program = """
        import sys, time
        print(set(map(sys.monitoring.get_tool, range(6))), flush=True)
        time.sleep(60)
    """
    await driver.start(program, 1, noDebug=True, stopOnEntry=True, python=python)
    await only_line(driver)
    assert driver.output("stdout") == "{None}\n"
    [breakpoint_] = driver.session.breakpoints
    assert not breakpoint_.verified
    assert breakpoint_.message == "the program runs without debugging"
    with pytest.raises(RequestFailed, match=r"pause: the program runs without debugging \(noDebug\)"):
        await driver.session.pause(1)
    assert [thread.name for thread in (await driver.session.threads()).threads] == ["MainThread"]
    await driver.session.terminate()
    assert await driver.session.wait_until_ended() == Ended(130)


async def test_default_folder_is_that_of_the_adapter(driver: AdapterClient) -> None:
    await driver.session.launch({"code": "import os; print(os.getcwd())"})
    await driver.session.wait_until_ended()
    assert driver.output("stdout") == f"{Path.cwd()}\n"


async def test_variables_are_presented_as_the_configuration_says(driver: AdapterClient) -> None:
    text = "class Thing:\n    def __init__(self):\n        self._hidden, self.shown = 1, 2\nthing = Thing()\nx = 1\n"
    presentation = {"all": "hide", "class": "inline", "protected": "group"}
    await driver.start(text, 5, variablePresentation=presentation, maxExceptionStackFrames=1)
    await driver.session.next_stop()
    shown = await driver.locals()
    assert {"Thing", "thing"} <= set(shown)  # a class inline, and nothing special
    assert not {"__name__", "special variables", "class variables"} & set(shown)
    members = await driver.session.variables(shown["thing"].variables_reference)
    assert [member.name for member in members.variables] == ["shown", "private variables"]


RENDERING = {
    "flask": """
        import flask
        app = flask.Flask(__name__, template_folder=".")
        with app.app_context(): print(flask.render_template("page.html", names=["Ada"]))
    """,
    "django": """
        import django
        from django.conf import settings
        settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["."]}])
        django.setup()
        from django.template.loader import render_to_string
        print(render_to_string("page.html", {"names": ["Ada"]}))
    """,
}


@pytest.mark.thorough
@pytest.mark.parametrize("key", RENDERING)
async def test_key_of_a_framework_makes_its_templates_sources(driver: AdapterClient, key: str) -> None:
    page = driver.write("<ul>\n{% for name in names %}\n<li>\n{{ name }}\n{% endfor %}\n", "page.html")
    await driver.session.add_breakpoint(page, 3)
    await driver.start(RENDERING[key], **{key: True})
    await driver.session.wait_for(StoppedEvent, since=0)
    [breakpoint_] = driver.session.breakpoints
    assert (breakpoint_.verified, breakpoint_.line) == (True, 4)
    [frame, *_] = await driver.frames()
    assert (frame.source and frame.source.path, frame.line) == (str(page), 4)
    assert (await driver.locals())["name"].value == "'Ada'"
    assert await driver.resume() == Ended(0)
    assert "<li>\nAda\n" in driver.output("stdout")
