"""Arguments of callers: what is accepted, and what is said of the others."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dapkit.agent.actions import in_order
from dapkit.agent.calls.arguments import read
from dapkit.agent.calls.failures import InvalidArguments

ACTIONS = in_order()
FOLDER = Path("/work")


def reading(name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    return read(ACTIONS[name], arguments, folder=FOLDER)


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("set_instruction_breakpoint", {}, "instruction_reference is required for set_instruction_breakpoint"),
        ("remove_instruction_breakpoint", {}, "instruction_reference is required for remove_instruction_breakpoint"),
        ("data_breakpoint_info", {}, "name is required for data_breakpoint_info"),
        ("remove_data_breakpoint", {}, "data_id is required for remove_data_breakpoint"),
        ("evaluate", {}, "expression is required for evaluate"),
        ("disassemble", {}, "instruction_count is required for disassemble"),
        ("read_memory", {}, "memory_reference is required for read_memory"),
        ("write_memory", {}, "memory_reference is required for write_memory"),
        ("read_memory", {"memory_reference": "0x1"}, "count is required for read_memory"),
        ("write_memory", {"memory_reference": "0x1"}, "data is required for write_memory"),
        ("custom_request", {}, "command is required for custom_request"),
        ("evaluate", {"expression": None}, "expression is required for evaluate"),
    ],
)
def test_what_is_missing_is_named_in_the_words_of_the_contract(
    name: str, given: Mapping[str, object], text: str
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        reading(name, given)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("set_breakpoint", {"file": "a", "line": "12a"}, "line must be a whole number, not '12a'"),
        ("set_breakpoint", {"file": "a", "line": True}, "line must be a whole number, not True"),
        ("set_breakpoint", {"file": "a", "line": 1.5}, "line must be a whole number, not 1.5"),
        ("set_breakpoint", {"file": ""}, "file must be a path, not ''"),
        ("launch", {"args": "--fast"}, "args must be a list of strings, not '--fast'"),
        ("launch", {"args": ["a", 1]}, "args must be a list of strings, not ['a', 1]"),
        ("launch", {"env": {"A": 1}}, "env must be an object of strings, not {'A': 1}"),
        ("launch", {"stop_on_entry": "yes"}, "stop_on_entry must be true or false, not 'yes'"),
        ("launch", {"breakpoints": [3]}, "breakpoints must be a list of strings and objects, not [3]"),
        ("wait", {"timeout": "5 s"}, "timeout must be a number, not '5 s'"),
        ("custom_request", {"command": "x", "arguments": []}, "arguments must be an object, not []"),
        ("breakpoints", {"numbers": [1, "2"]}, "numbers must be a list of whole numbers, not [1, '2']"),
        (
            "step_over",
            {"granularity": "lines"},
            "granularity must be one of statement, line, instruction, not 'lines'",
        ),
        (
            "evaluate",
            {"expression": ["x" * 100]},
            "expression must be a string, not ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_was_found_and_expected(
    name: str, given: Mapping[str, object], text: str
) -> None:
    with pytest.raises(InvalidArguments) as caught:
        reading(name, given)
    assert str(caught.value) == text


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InvalidArguments) as caught:
        reading("set_breakpoint", {"file": "a.py", "linee": 3})
    assert caught.value.message == "set_breakpoint has no parameter 'linee'"
    assert caught.value.hint == "Did you mean line?"


def test_an_unknown_parameter_that_is_like_no_other_is_refused_with_all_names() -> None:
    with pytest.raises(InvalidArguments) as caught:
        reading("wait", {"q": 3})
    assert caught.value.hint == "It has timeout."


def test_null_is_an_absent_parameter() -> None:
    assert reading("set_breakpoint", {"file": "a.py", "line": 3, "condition": None}) == {
        "file": Path("/work/a.py"),
        "line": 3,
    }


def test_a_path_is_taken_relative_to_the_folder_of_the_caller() -> None:
    assert reading("set_breakpoint", {"file": "src/a.py"}) == {"file": Path("/work/src/a.py")}
    assert reading("set_breakpoint", {"file": "/src/a.py"}) == {"file": Path("/src/a.py")}


def test_a_whole_number_may_come_as_javascript_writes_it() -> None:
    assert reading("set_breakpoint", {"line": 3.0}) == {"line": 3}


@pytest.mark.parametrize("given", [{"program": "a\udc9b.py"}, {"program": "a.py", "args": ["b", "\udc9b"]}])
def test_bytes_that_are_no_text_are_refused_and_not_changed(given: Mapping[str, object]) -> None:
    with pytest.raises(
        InvalidArguments, match="has bytes that are not UTF-8, which the protocol cannot carry"
    ) as caught:
        reading("launch", given)
    assert caught.value.hint == "Rename the file, or give a link to it that has another name."


def test_number_may_be_written_as_a_string() -> None:
    given = {"file": "a.py", "line": "12"}
    assert reading("set_breakpoint", given)["line"] == 12
    assert reading("wait", {"timeout": "2.5"}) == {"timeout": 2.5}
    assert reading("stack_trace", {"own_code": "true"}) == {"own_code": True}
    assert reading("launch", {"program": "a.py", "breakpoints": "a.py:3"})["breakpoints"] == ["a.py:3"]
    assert reading("breakpoints", {"do": "clear", "numbers": 2})["numbers"] == [2]
