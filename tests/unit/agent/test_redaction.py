"""Secrets in answers."""

import pytest

from dapkit.agent.redaction import Redaction, is_secret_name, value_of

ENVIRONMENT = {"GITHUB_TOKEN": "hush-4711", "PIN_TOKEN": "1", "PATH": "/usr/bin:/bin", "GONE_TOKEN": None}


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "api_key", "apiKey", "AWS_SECRET_ACCESS_KEY", "db.password", "Auth"])
def test_a_name_says_that_its_value_is_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name", ["monkey", "keys", "key", "tokens", "token_count", "author", "PATH", "keyboard_layout"]
)
def test_other_names_do_not(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("password", "'hunter22'", "'[redacted]'"),
        ("user.password", "hunter22", "[redacted]"),
        ("config['api_key']", '"hunter22"', '"[redacted]"'),
        ("(credentials)", "['hunter22', 2]", "[redacted]"),
        ("len(password)", "8", "8"),
        ("password.upper()", "'HUNTER22'", "'HUNTER22'"),
        ("monkey", "'hunter22'", "'hunter22'"),
        ("", "'hunter22'", "'hunter22'"),
    ],
)
def test_an_expression_says_by_its_last_name_that_its_value_is_secret(
    expression: str, value: str, expected: str
) -> None:
    assert value_of(expression, value) == expected


def test_a_secret_of_the_environment_is_found_wherever_it_appears() -> None:
    assert Redaction([ENVIRONMENT]).text("sent hush-4711 to /usr/bin") == "sent [redacted] to /usr/bin"


def test_a_secret_is_found_where_a_value_was_cut_within_it() -> None:
    secrets = Redaction([ENVIRONMENT])
    assert secrets.text("sent hush-4... (cut, 900 characters)") == "sent [redacted]... (cut, 900 characters)"
    assert secrets.text("and so on... hus...") == "and so on... hus..."


def test_what_others_take_out_is_taken_out_as_well() -> None:
    assert Redaction([], ["pin-1"], also=[Redaction([ENVIRONMENT])]).text("hush-4711 pin-1") == "[redacted] [redacted]"


def test_a_short_value_of_the_environment_is_not_looked_for() -> None:
    assert Redaction([ENVIRONMENT]).text("x = 1") == "x = 1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- api_key = 'abc def' (str)", "- api_key = '[redacted]' (str)"),
        ("{'DB_PASSWORD': 'abcdef', 'user': 'bob'}", "{'DB_PASSWORD': '[redacted]', 'user': 'bob'}"),
        ("password: hunter2", "password: [redacted]"),
        ("export API_KEY=abcdef123", "export API_KEY=[redacted]"),
        ("https://user:pass@host/", "https://[redacted]@host/"),
        ("ghp_" + "a" * 36, "[redacted]"),
        ("AKIA" + "A" * 16 + " is it", "[redacted] is it"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"),
        ("authorization: Basic YWxhZGRpbjpv", "authorization: Basic [redacted]"),
        ("run --password hunter22 --fast", "run --password [redacted] --fast"),
        ("['app.py', '--api-key', 'abcdef', '-v']", "['app.py', '--api-key', '[redacted]', '-v']"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.abcdefgh1", "[redacted]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n", "[redacted]\n"),
    ],
)
def test_a_secret_is_known_by_the_name_before_it_or_by_its_shape(text: str, expected: str) -> None:
    assert Redaction().text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "token = 'if'",
        "token = 0x7ffe3c12 (char *)",
        "token = Token('name')",
        "token = None",
        "next_token = 1234567",
        "if key == 'abcdefgh':",
        "secret := abcdefgh",
        "--token --fast",
        "--key abcdefgh --author abcdefgh",
        "the bearer of bad news",
    ],
)
def test_what_a_parser_calls_a_token_stays_readable(text: str) -> None:
    assert Redaction().text(text) == text


def test_details_are_redacted_by_the_name_of_a_variable() -> None:
    details = {
        "variables": [
            {"name": "secret", "value": "'hunter22'", "was": "'hunter21'", "variablesReference": 0},
            {"name": "count", "value": "12345678", "variablesReference": 0},
        ],
        "env": {"API_KEY": "longvalue", "HOME": "/home/me"},
    }
    assert Redaction().value(details) == {
        "variables": [
            {"name": "secret", "value": "'[redacted]'", "was": "'[redacted]'", "variablesReference": 0},
            {"name": "count", "value": "12345678", "variablesReference": 0},
        ],
        "env": {"API_KEY": "[redacted]", "HOME": "/home/me"},
    }
