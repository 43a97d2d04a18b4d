"""What editors send to a Python program, in their own order and words, and what they make of the answers.

Each test names the editor whose order it is. What a plug-in computes from an answer is computed here the same way.
"""

import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from e2e.python.raw_client import Message, RawClient, raw_client

VS_CODE = {"clientID": "vscode", "linesStartAt1": True, "columnsStartAt1": True, "supportsVariablePaging": True}


@asynccontextmanager
async def stopped(folder: Path, program: str, line: int, **launch: object) -> AsyncIterator[tuple[RawClient, int]]:
    """Run a program up to a line as VS Code does; yield its client, and the frame that stands there."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program).lstrip("\n"))
    async with raw_client() as editor:
        await editor.initialize(**VS_CODE)
        await editor.send("launch", {"program": str(file), **launch})
        await editor.event("initialized")
        await editor.ask("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": [{"line": line}]})
        assert (await editor.ask("configurationDone"))["success"]
        thread = (await editor.event("stopped"))["threadId"]
        yield editor, await newest_frame(editor, thread)
        await editor.ask("disconnect", {"terminateDebuggee": True})


async def newest_frame(editor: RawClient, thread: int) -> int:
    trace = await editor.ask("stackTrace", {"threadId": thread, "startFrame": 0, "levels": 1})
    frame: int = trace["body"]["stackFrames"][0]["id"]
    return frame


def shown(failed: Message) -> str:
    """Return what VS Code makes of a failure: its `formatPII` fills holes that have a value."""
    error = failed["body"]["error"]
    text: str = error["format"]
    for name, value in error.get("variables", {}).items():
        text = text.replace("{" + name + "}", value)
    return text


async def test_vs_code_shows_what_failed_as_it_was_said_and_a_notification_only_for_what_the_user_did(
    tmp_path: Path,
) -> None:
    async with stopped(tmp_path, "x = 1\nprint(x)\n", 2) as (editor, frame):
        locals_ = (await editor.ask("scopes", {"frameId": frame}))["body"]["scopes"][0]["variablesReference"]
        looked = [
            await editor.ask("evaluate", {"expression": text, "context": context, "frameId": frame})
            for text, context in [("while", "hover"), ("gone", "watch"), ("{1", "repl"), ("f'{'", "clipboard")]
        ]
        assert not any(answer["success"] or answer["body"]["error"].get("showUser") for answer in looked)
        assert [shown(answer) for answer in looked] == [answer["message"] for answer in looked]
        assert "'{' was never closed" in shown(looked[2])

        done = [
            await editor.ask("setVariable", {"variablesReference": locals_, "name": "x", "value": "{1"}),
            await editor.ask("setExpression", {"expression": "1", "value": "2", "frameId": frame}),
            await editor.ask("goto", {"threadId": 1, "targetId": 4711}),
        ]
        assert all(answer["body"]["error"]["showUser"] for answer in done)
        assert "'{' was never closed" in shown(done[0])


def at_cursor(text: str) -> Message:
    """Return a request for completions at the mark in a text, with the rest of it behind the cursor."""
    before, _, after = text.partition("|")
    return {"text": before + after, "column": len(before.rpartition("\n")[2]) + 1, "line": before.count("\n") + 1}


async def test_completions_are_inserted_where_each_editor_counts_from(tmp_path: Path) -> None:
    program = """
        class Store:
            count = 1
        store = Store()
        table = {"one": 1, "two": 2}
        print()
    """
    async with stopped(tmp_path, program, 5) as (editor, frame):

        async def targets(text: str) -> list[Message]:
            answer = await editor.ask("completions", {"frameId": frame, **at_cursor(text)})
            found: list[Message] = answer["body"]["targets"]
            return found

        (count,) = await targets("store.co|")
        word: str = count["text"] if "text" in count else count["label"]
        # nvim-dap: `vim.fn.complete(offset + start + 1, ...)` counts from 1; vimspector: `ArgLead[ 0 : start ]`.
        assert "store.co"[: count["start"]] + word == "store.count"
        # dape: what of the word lies before the bounds of the word at point is cut off.
        assert word[max(0, len("store.") - count["start"]) :] == "count"
        # VS Code: what was typed has to begin with text.substring(start, start + length).
        assert "store.co"[count["start"] :][: count["length"]] == "co"
        # VS Code: a `start` in the second line counts from the beginning of the text.
        (count,) = await targets("x = 1\nstore.co|")
        assert "x = 1\nstore.co"[count["start"] :][: count["length"]] == "co"

        # VS Code closes brackets and quotes itself: they stand behind the cursor.
        for typed, texts in {
            'table["|': ['"one"]', '"two"]'],
            'table["|"': ['"one', '"two'],
            'table["|"]': ['"one', '"two'],
            'table["o|"] + 1': ['"one'],
            "table[|]": ["'one'", "'two'"],
            "table[|": ["'one']", "'two']"],
        }.items():
            found = await targets(typed)
            assert [item["text"] for item in found if item["type"] == "value"] == texts, typed


async def test_orders_that_come_after_the_end_are_answered_as_of_a_program_without_anything() -> None:
    async with raw_client() as editor:
        await editor.start(code="pass")
        await editor.event("terminated")

        async def body(command: str, **arguments: object) -> Message:
            answer = await editor.ask(command, arguments)
            assert answer["success"], answer
            found: Message = answer.get("body", {})
            return found

        # dape: `terminate` after each end, and it waits for the answer.
        assert await body("terminate", restart=False) == {}
        assert await body("terminate") == {}
        # VS Code: what it shows is asked for once more, and breakpoints are set in files that are opened.
        source = {"path": "/program.py"}
        assert await body("threads") == {"threads": []}
        assert await body("breakpointLocations", source=source, line=1) == {"breakpoints": []}
        assert await body("stackTrace", threadId=1) == {"stackFrames": [], "totalFrames": 0}
        assert await body("loadedSources") == {"sources": []}
        ended = {"verified": False, "message": "the debug session has ended"}
        assert await body("setBreakpoints", source=source, breakpoints=[{"line": 1}, {"line": 2}]) == {
            "breakpoints": [ended, ended]
        }
        assert await body("setFunctionBreakpoints", breakpoints=[{"name": "f"}]) == {"breakpoints": [ended]}
        assert await body("setExceptionBreakpoints", filters=["raised"]) == {}
        for command, arguments in {
            "evaluate": {"expression": "x", "frameId": 1, "context": "watch"},
            "variables": {"variablesReference": 1},
            "scopes": {"frameId": 1},
            "continue": {"threadId": 1},
        }.items():
            answer = await editor.ask(command, arguments)
            assert answer["message"] == f"{command}: the debug session has ended"
            assert "showUser" not in answer["body"]["error"]
        # Helix: `disconnect` twice.
        twice = await editor.send_at_once(("disconnect", {"restart": False}), ("disconnect", {"restart": False}))
        await editor.hear_the_end()
        assert [(await editor.answer(seq))["success"] for seq in twice] == [True, True]


@pytest.mark.thorough
async def test_what_vs_code_asks_for_while_the_program_ends_is_answered_as_after_the_end(tmp_path: Path) -> None:
    async with stopped(tmp_path, "x = 1\nprint(x)\n", 2) as (editor, _):
        await editor.send("continue", {"threadId": 1})
        source = {"path": str(tmp_path / "program.py")}
        asked = [await editor.send("breakpointLocations", {"source": source, "line": line}) for line in range(1, 200)]
        assert all([(await editor.answer(seq))["success"] for seq in asked])
        await editor.event("terminated")


@pytest.mark.thorough
async def test_console_shows_what_is_worth_seeing_and_targets_of_steps_can_be_told_apart(tmp_path: Path) -> None:
    program = """
        def twice(number):
            return 2 * number
        many = list(range(100_000))
        nothing = None
        print(twice(1) + twice(many[2]) + twice(1) + max(3, 4))
        print()
    """
    async with stopped(tmp_path, program, 5) as (editor, frame):

        async def console(expression: str, context: str = "repl") -> str:
            answer = await editor.ask("evaluate", {"expression": expression, "context": context, "frameId": frame})
            result: str = answer["body"]["result"]
            return result

        assert await console("print('hi')") == ""
        assert await console("nothing") == "None"
        assert await console("twice(4)") == "8"
        assert (await console("many")).endswith("298, 299, … (100,000 in all)]")
        assert (await console("many", "clipboard")).endswith("99998, 99999]")

        targets = (await editor.ask("stepInTargets", {"frameId": frame}))["body"]["targets"]
        assert [target["label"] for target in targets] == [
            *("twice(1), 1 of 2", "twice(many[2])", "twice(1), 2 of 2", "max(…)", "print(…)"),
        ]
        # VS Code opens the first scope alone.
        await editor.ask("next", {"threadId": 1})
        await editor.until_stopped(2)
        scopes = (await editor.ask("scopes", {"frameId": await newest_frame(editor, 1)}))["body"]["scopes"]
        rows = (await editor.ask("variables", scopes[0]))["body"]["variables"]
        assert [row["name"] for row in rows[:3]] == ["(return) twice"] * 3
        # A client offers to set what is not marked so.
        assert all(row["presentationHint"]["attributes"] == ["readOnly"] for row in rows[:3])
