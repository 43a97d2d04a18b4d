"""Variables of launch configurations."""

from pathlib import Path

import pytest

from dapkit.catalog.launch_json.inputs import Input
from dapkit.catalog.launch_json.variables import Unresolved, VariableContext, resolve

AROUND = VariableContext(
    folder=Path("/work/shop"),
    env={"HOME": "/home/me", "TOKEN": "t"},
    file=Path("/work/shop/src/app/main.py"),
    inputs={"who": "me"},
    asked={
        "who": Input(name="who"),
        "how": Input(name="how", default="fast"),
        "which": Input(name="which", description="Which one?", choices=("a", "b")),
    },
    settings=lambda: {"python.args": "-X dev", "shop": {"debug": True, "list": []}},
    pid=77,
    python=lambda: Path("/venv/bin/python"),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${workspaceFolder}/a", "/work/shop/a"),
        ("${workspaceFolder:shop}", "/work/shop"),
        ("${workspaceFolderBasename}", "shop"),
        ("${workspaceRoot}", "/work/shop"),
        ("${cwd}", "/work/shop"),
        ("${file}", "/work/shop/src/app/main.py"),
        ("${fileWorkspaceFolder}", "/work/shop"),
        ("${relativeFile}", "src/app/main.py"),
        ("${relativeFileDirname}", "src/app"),
        ("${fileBasename}", "main.py"),
        ("${fileBasenameNoExtension}", "main"),
        ("${fileExtname}", ".py"),
        ("${fileDirname}", "/work/shop/src/app"),
        ("${fileDirnameBasename}", "app"),
        ("${userHome}", "/home/me"),
        ("a${pathSeparator}b${/}c", "a/b/c"),
        ("${env:TOKEN}${env:MISSING}", "t"),
        ("${config:python.args}", "-X dev"),
        ("${config:shop.debug}", "true"),
        ("${input:who} ${input:how}", "me fast"),
        ("${command:pickProcess}", "77"),
        ("${command:python.interpreterPath}", "/venv/bin/python"),
        ("-dxdebug.client_port=${port}", "-dxdebug.client_port=${port}"),
        ("$HOME ${} $${", "$HOME ${} $${"),
    ],
)
def test_variable_has_its_value(text: str, value: str) -> None:
    assert resolve(text, AROUND) == value


def test_texts_are_resolved_at_any_depth_and_all_else_stays() -> None:
    found = resolve({"args": ["${file}", 1, None], "env": {"A": "${env:TOKEN}"}, "stop": True}, AROUND)
    assert found == {"args": [str(AROUND.file), 1, None], "env": {"A": "t"}, "stop": True}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("${workspaceFolder:other}", "${workspaceFolder:other} is another folder than shop: write its path"),
        ("${config:missing}", "${config:missing} is not set, or no text, in .vscode/settings.json: set it there"),
        ("${config:shop.list}", "${config:shop.list} is not set, or no text"),
        ("${input:which}", "${input:which} asks the user (Which one?, one of a, b): give it in `inputs`, on a c"),
        ("${input:none}", "${input:none} is not among the inputs of the file: give it in `inputs`"),
        (
            "${command:cmake.launchTargetPath}",
            "${command:cmake.launchTargetPath} is a command of the editor or of an ext",
        ),
        ("${selectedText}", "${selectedText} is known to an editor only: write its value instead"),
    ],
)
def test_variable_without_a_value_says_what_to_do(text: str, problem: str) -> None:
    with pytest.raises(Unresolved) as raised:
        resolve({"args": ["x", text]}, AROUND)
    assert str(raised.value).startswith(f".args[1]: {problem}")


@pytest.mark.parametrize("text", ["${file}", "${command:pickProcess}"])
def test_what_was_not_given_is_asked_for(text: str) -> None:
    with pytest.raises(Unresolved, match="give"):
        resolve(text, VariableContext(folder=Path("/work/shop")))


def test_answer_that_is_no_choice_is_refused() -> None:
    around = VariableContext(folder=Path("/"), inputs={"which": "c"}, asked=AROUND.asked)
    with pytest.raises(Unresolved, match="was given as 'c', expected one of a, b"):
        resolve("${input:which}", around)
