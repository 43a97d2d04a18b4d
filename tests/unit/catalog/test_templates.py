"""Placeholders in the texts of a definition."""

from dapkit.catalog.templates import UNKNOWN, fill, fill_command, fill_table, placeholders

VALUES: dict[str, object] = {"port": 7, "args": ["a", "b"], "program": "x.py", "nothing": None, "stop": False}


def value(name: str) -> object:
    return VALUES.get(name, UNKNOWN)


def test_placeholder_alone_is_the_value_with_its_type() -> None:
    assert fill_table({"port": "${port}", "stop": "${stop}", "args": "${args}"}, value) == {
        "port": 7,
        "stop": False,
        "args": ["a", "b"],
    }


def test_placeholder_within_a_text_is_text() -> None:
    assert fill("gdb-remote ${program}:${port}", value) == "gdb-remote x.py:7"


def test_list_alone_in_a_list_gives_its_items() -> None:
    assert fill(["${program}", "${args}"], value) == ["x.py", "a", "b"]


def test_what_needs_a_missing_value_is_left_out() -> None:
    assert fill_table({"gone": "${nothing}", "within": "a ${nothing}", "items": ["${nothing}", 1]}, value) == {
        "items": [1]
    }


def test_unknown_placeholder_stays() -> None:
    assert fill("${port}:${socket}", value) == "7:${socket}"
    assert fill("${socket}", value) == "${socket}"


def test_two_dollars_keep_a_placeholder_for_the_adapter() -> None:
    assert fill("client_port=$${port}", value) == "client_port=${port}"
    assert fill("$${port}", value) == "${port}"
    assert placeholders("$${port} ${program}") == {"program"}


def test_command_with_a_missing_value_is_none() -> None:
    assert fill_command(("ruby", "${program}", "${args}"), value) == ("ruby", "x.py", "a", "b")
    assert fill_command(("ruby", "${nothing}"), value) is None


def test_nested_tables_are_filled() -> None:
    assert fill_table({"connect": {"port": "${port}", "host": "${nothing}"}}, value) == {"connect": {"port": 7}}
