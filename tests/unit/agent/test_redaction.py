"""Secrets in answers."""

import pytest

from dapkit.agent.results.program import SourceText
from dapkit.agent.results.session import CustomBody, SourceLine
from dapkit.agent.results.values import ExceptionRow, VariableRow
from dapkit.redaction.redaction import Redaction, TextKind, value_of
from dapkit.redaction.secret_names import Secrecy, secrecy_of
from unit.agent.samples import STOPPED

ENVIRONMENT = {"GITHUB_TOKEN": "hush-4711", "PIN_TOKEN": "1", "PATH": "/usr/bin:/bin", "GONE_TOKEN": None}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "password",
            "dbPassword",
            "PGPASSWORD",
            "password2",
            "db.password",
            "'password'",
            "client_secret",
            "credentials",
        ),
        *("api_key", "apiKey", "APIKey", "apikey", "AWS_SECRET_ACCESS_KEY", "private_key_pem", "access_token"),
        *("GITHUB_TOKEN", "STRIPE_KEY", "NPM_AUTH"),
    ],
)
def test_a_name_says_that_its_value_is_secret(name: str) -> None:
    assert secrecy_of(name) is Secrecy.ALL


@pytest.mark.parametrize(
    "name",
    [
        *("key", "keys", "monkey", "keyboard_layout", "primary_key", "PRIMARY_KEY", "KEY", "KeyError"),
        *("next_token", "tokens", "token_count", "token_t", "TokenKind", "author", "auth", "PATH", "PWD"),
        *("password_length", "secret_name", "private_key_path", ""),
    ],
)
def test_other_names_do_not(name: str) -> None:
    assert secrecy_of(name) is Secrecy.NONE


@pytest.mark.parametrize(
    ("name", "expected"),
    [("token", Secrecy.ALL), ("ssh-key", Secrecy.ALL), ("MYSQL_PWD", Secrecy.ALL), ("key", Secrecy.NONE)],
)
def test_more_names_of_settings_do(name: str, expected: Secrecy) -> None:
    assert secrecy_of(name, setting=True) is expected


def test_a_token_is_secret_if_it_looks_random() -> None:
    assert value_of("token", "'ab12cd34ef56ab12cd34'") == "'[redacted]'"
    assert value_of("token", "'return_statement_kind'") == "'return_statement_kind'"
    assert value_of("db_pw", "'ab12cd34ef56ab12cd34'") == "'[redacted]'"
    assert value_of("pwd", "'/home/ann/work2026/project'") == "'/home/ann/work2026/project'"  # a folder, mostly


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("password", "'hunter22'", "'[redacted]'"),
        ("user.password", "hunter22", "[redacted]"),
        ("config['api_key']", '"hunter22"', '"[redacted]"'),
        ("(credentials)", "['hunter22', 2]", "['[redacted]', 2]"),
        ("credentials['user']", "'hunter22'", "'[redacted]'"),
        ("shop->password", '0x7ffe10 "hunter22"', '0x7ffe10 "[redacted]"'),
        ("password", "Secret(text=b'hunter22')", "Secret(text=b'[redacted]')"),
        ("password", "'hunter22...", "'[redacted]'"),
        ("password", "<Secret at 0x7f10>", "<Secret at 0x7f10>"),
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
        ("https://user:pass@host/", "https://[redacted]@host/"),
        ("ghp_" + "a" * 36, "[redacted]"),
        ("AKIA" + "A" * 16 + " is it", "[redacted] is it"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted]"),
        ("authorization: Basic YWxhZGRpbjpv", "authorization: Basic [redacted]"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.abcdefgh1", "[redacted]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n", "[redacted]\n"),
    ],
)
def test_a_secret_is_known_by_its_shape(text: str, expected: str) -> None:
    assert Redaction().text(text) == expected


@pytest.mark.parametrize("kind", [TextKind.OUTPUT, TextKind.VALUE])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api_key = 'abc def'", "api_key = '[redacted]'"),
        ("{'DB_PASSWORD': 'abcdef', 'user': 'bob'}", "{'DB_PASSWORD': '[redacted]', 'user': 'bob'}"),
        ("password: hunter2", "password: [redacted]"),
        ("export API_KEY=abcdef123", "export API_KEY=[redacted]"),
        ("run --password hunter22 --fast", "run --password [redacted] --fast"),
        ("['app.py', '--api-key', 'abcdef', '-v']", "['app.py', '--api-key', '[redacted]', '-v']"),
    ],
)
def test_a_secret_is_known_by_the_name_before_it(text: str, expected: str, kind: TextKind) -> None:
    assert Redaction().text(text, kind) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{'credentials': {'user': 'bobbob', 'n': 2}, 'x': 'yyyyyy'}",
            "{'credentials': {'user': '[redacted]', 'n': 2}, 'x': 'yyyyyy'}",
        ),
        ("Login(user='bobbob', password=Secret('hunter22'))", "Login(user='bobbob', password=Secret('[redacted]'))"),
        (
            '{user = 0x1 "bobbob", password = 0x2 "hunter22", n = 3}',
            '{user = 0x1 "bobbob", password = 0x2 "[redacted]", n = 3}',
        ),
        ("{'secrets': ['hunter22', 'hunter", "{'secrets': ['[redacted]', '[redacted]'"),
    ],
)
def test_all_of_a_container_with_a_secret_name_is_secret(text: str, expected: str) -> None:
    assert Redaction().text(text, TextKind.VALUE) == expected


@pytest.mark.parametrize("kind", [TextKind.VALUE, TextKind.OUTPUT])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("('password', 'hunter22')", "('password', '[redacted]')"),
        ('[("authorization", "abcd1234")]', '[("authorization", "[redacted]")]'),
        ("{'name': 'password', 'value': 'hunter22'}", "{'name': 'password', 'value': '[redacted]'}"),
        ("<password>hunter22</password>", "<password>[redacted]</password>"),
        ("('password', 'hunter22 and mo...", "('password', '[redacted]'"),
        ("('user', 'hunter22')", "('user', 'hunter22')"),
        ("('password', 'name', 'email')", "('password', 'name', 'email')"),
        ("<name>hunter22</name>", "<name>hunter22</name>"),
    ],
)
def test_a_secret_is_known_by_the_name_that_it_is_a_pair_with(text: str, expected: str, kind: TextKind) -> None:
    assert Redaction().text(text, kind) == expected


@pytest.mark.parametrize("name", ["passwords", "myPassPhrase", "passcodes"])
def test_plurals_and_words_in_camel_case_are_secret_names(name: str) -> None:
    assert secrecy_of(name) is Secrecy.ALL


@pytest.mark.parametrize("kind", [TextKind.OUTPUT, TextKind.VALUE])
@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'abcdefg'",
        "primary_key='customer_id', next_token='abcdefgh'",
        "  token_t *key_token = tokens[next];",
        "token = 'return'",
        "token = 0x7ffe3c12 (char *)",
        "password = None",
        "password = user.password",
        "password = read(prompt)",
        "if secret == 'abcdefgh':",
        "secret := abcdefgh",
        "std::secret::hunter22",
        "--token --fast",
        "--key abcdefgh --author abcdefgh",
        "the bearer of bad news",
    ],
)
def test_what_is_not_secret_stays_readable(text: str, kind: TextKind) -> None:
    assert Redaction().text(text, kind) == text


def test_a_result_is_redacted_by_what_its_fields_are() -> None:
    assigned = "password = 'hunter22'"
    secrets = Redaction([{"SHOP_TOKEN": "hush-4711"}])
    variable = VariableRow(name="secret", value="'hunter22'", was="'hunter21'", variables_reference=0)
    assert secrets.result(variable) == VariableRow(
        name="secret", value="'[redacted]'", was="'[redacted]'", variables_reference=0
    )
    member = VariableRow(name="'user'", evaluate_name="credentials['user']", value="'hunter22'", variables_reference=0)
    assert secrets.result(member).value == "'[redacted]'"
    inside = VariableRow(name="login", value="", contents='{password = "hunter22"}', variables_reference=0)
    assert secrets.result(inside).contents == '{password = "[redacted]"}'
    count = VariableRow(name="count", value="12345678", variables_reference=0)
    assert secrets.result(count) == count
    exception = ExceptionRow(exception_id="KeyError", break_mode="always", message="'hush-4711'", description=assigned)
    shown = secrets.result(exception)
    assert (shown.message, shown.description) == ("'[redacted]'", assigned)
    source = SourceText(snapshot=STOPPED, name="a.py", content=f"{assigned}\nhush-4711\n", first_line=1, total_lines=2)
    assert secrets.result(source) == source
    line = SourceLine(line=1, text=assigned)
    assert secrets.result(line) == line


def test_an_answer_to_a_request_of_the_callers_own_is_redacted_by_its_keys() -> None:
    body = {
        "variables": [{"name": "secret", "value": "'hunter22'"}, {"name": "count", "value": "12345678"}],
        "env": {"API_KEY": "longvalue", "HOME": "/home/me"},
        "content": "password = 'hunter22'",
    }
    shown = Redaction().json(body)
    assert Redaction().result(CustomBody(snapshot=STOPPED, command="own", custom_body=body)).custom_body == shown
    assert shown == {
        "variables": [{"name": "secret", "value": "'[redacted]'"}, {"name": "count", "value": "12345678"}],
        "env": {"API_KEY": "[redacted]", "HOME": "/home/me"},
        "content": "password = 'hunter22'",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET /v1?token=abc123def&page=2", "GET /v1?token=[redacted]&page=2"),
        ("https://host/a?x=1&api_key=hunter22", "https://host/a?x=1&api_key=[redacted]"),
        ("https://host/?monkey=banana1&next_token=12", "https://host/?monkey=banana1&next_token=12"),
    ],
)
def test_secrets_in_the_query_of_a_url_are_taken_out(text: str, shown: str) -> None:
    assert Redaction().text(text) == shown


def test_value_of_an_option_is_taken_out_of_a_command_line() -> None:
    arguments = {"args": ["--password", "hunter22", "--verbose", "x", "--", "--token", "--next", "harmless"]}
    assert Redaction().json(arguments) == {
        "args": ["--password", "[redacted]", "--verbose", "x", "--", "--token", "--next", "harmless"]
    }


def test_code_is_left_alone_unless_it_leaves_the_machine() -> None:
    secrets = Redaction([ENVIRONMENT])
    code = {"content": "password = 'hunter22'  # hush-4711", "line": 3}
    assert secrets.json(code) == code
    assert secrets.with_code().json(code) == {"content": "password = '[redacted]'  # [redacted]", "line": 3}


@pytest.mark.parametrize(
    "code",
    [
        'password := "hunter22"',
        'char password[] = "hunter22";',
        'password: str = "hunter22"',
        'var password string = "hunter22"',
        'std::string password{"hunter22"};',
        'if password == "hunter22":',
        'os.environ["API_TOKEN"] = "hunter22"',
        'setenv("API_TOKEN", "hunter22", 1);',
        "login(user, password='hunter22')",
        "export DB_PASSWORD=hunter22",
    ],
)
def test_code_that_leaves_the_machine_has_no_literals_of_secret_names(code: str) -> None:
    assert Redaction().text(code, TextKind.CODE) == code
    shown = Redaction().with_code().text(code, TextKind.CODE)
    assert "hunter22" not in shown
    assert shown.replace("[redacted]", "hunter22") == code


@pytest.mark.parametrize(
    "code",
    [
        'print("password is", name, "bye for now")',
        'parser.add_argument("--password", help="What to log in with")',
        'password = read(); other = "something"',
        "don't = 1",
        'keyboard = "querty12"',
        """{"password": None, "hostname": "db.example"}""",
        'setenv("API_TOKEN", token, "another text")',
    ],
)
def test_code_without_such_literals_stays(code: str) -> None:
    assert Redaction().with_code().text(code, TextKind.CODE) == code


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("app --password=hunter22 x", "app --password=[redacted] x"),
        ("--api-key='hunter 22'", "--api-key='[redacted]'"),
        ("redis://:hunter22@cache/0", "redis://[redacted]@cache/0"),
        ("--verbose=hunter22", "--verbose=hunter22"),
    ],
)
def test_options_and_urls_of_output_have_no_secrets(line: str, shown: str) -> None:
    assert Redaction().text(line, TextKind.OUTPUT) == shown


def test_what_was_secret_by_its_name_is_taken_out_everywhere_of_what_leaves_the_machine() -> None:
    redaction = Redaction()
    shown = redaction.result(VariableRow(name="password", value="'hunter22'", variables_reference=0))
    assert shown.value == "'[redacted]'"
    redaction.json({"args": ["--token", "plain-word"], "password": "something", "secret": "short"})
    assert redaction.found == {"hunter22", "plain-word", "something"}
    text = "hunter22 and plain-word and something, short"
    assert redaction.text(text, TextKind.OUTPUT) == text
    assert redaction.with_code().text(text, TextKind.OUTPUT) == "[redacted] and [redacted] and [redacted], short"
    assert redaction.without_found({"a": ["x hunter22", 1]}) == {"a": ["x [redacted]", 1]}


def test_only_so_many_values_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dapkit.redaction.redaction.SECRETS_FOUND", 3)
    redaction = Redaction()
    redaction.json([{"password": f"password-{number}"} for number in range(10)])
    assert len(redaction.found) == 3


def test_value_belongs_to_the_expression_beside_it() -> None:
    given = {"expression": "config.password", "value": "'hunter22'"}
    assert Redaction().json(given) == {"expression": "config.password", "value": "'[redacted]'"}


def test_variable_that_is_handed_on_by_its_own_name_is_no_secret() -> None:
    redaction = Redaction()
    for line in ("login(password=password)", "self.password = password"):
        assert redaction.with_code().text(line, TextKind.EXPRESSION) == line
    assert redaction.found == set()


def test_names_are_not_remembered_as_secrets() -> None:
    redaction = Redaction()
    redaction.json({"password": "password", "secret": "apiKey"})
    redaction.text("dict(password=password, secret=something)", TextKind.OUTPUT)
    assert redaction.found == set()
