"""Templates of Jinja2 as sources: breakpoints, steps, variables and exceptions where the template has them."""

from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.engine.engine_client import Refused
from e2e.engine.template_program import Rendering
from pure_libraries import libraries

BASE = """\
<html>
<title>{% block title %}{{ site }}{% endblock %}</title>
{% block body %}
{% endblock %}
</html>
"""
PAGE = """\
{% extends "base.html" %}
{% from "macros.html" import field %}
{# a comment #}
{% block body %}
<ul>
{% for item in items %}
  {% set n = loop.index %}
  <li>{{ item.name }} {{ n }}</li>
  {% if item.special %}
    <b>{{ shout(item.name) }}</b>
  {% endif %}
{% endfor %}
</ul>
{{ field("a") }}
{% include "footer.html" %}
{% endblock %}
"""
MACROS = """\
{% macro field(name, value="x") %}
  <input name="{{ name }}"
   value="{{ value }}">
{% endmacro %}
"""
FOOTER = """\
<footer>
{{ site|upper }}
</footer>
"""
PROGRAM = """
    import jinja2
    def shout(text):
        return text.upper() + "!"
    class Item:
        def __init__(self, name, special):
            self.name, self.special = name, special
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader("templates"), autoescape=True)
    environment.globals["site"] = "here"
    def main():
        template = environment.get_template("page.html")
        items = [Item("one", False), Item("two", True)]
        return template.render(items=items, shout=shout)
    print(main())
"""


def render(start: Start, tmp_path: Path, program: str = PROGRAM, **templates: str) -> Rendering:
    """Start a program below which there are templates; `page` stands for `page.html`."""
    folder = tmp_path / "templates"
    folder.mkdir()
    for name, text in ({"base": BASE, "page": PAGE, "macros": MACROS, "footer": FOOTER} | templates).items():
        (folder / f"{name}.html").write_text(text)
    return Rendering(start(program, env={"PYTHONPATH": str(libraries(tmp_path))}), tmp_path)


def test_breakpoints_wait_for_the_template_and_stop_at_its_lines(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    peer = rendering.peer
    rendering.begin(jinja=True)
    placed = rendering.place("page.html", 3, 8, 17)
    assert [(one["verified"], one["reason"]) for one in placed] == [(False, "pending")] * 3
    rendering.go()
    peer.stopped("breakpoint")
    changed = [peer.event("breakpoint")["breakpoint"] for _ in placed]
    assert [(one["line"], one["verified"]) for one in changed] == [(4, True), (8, True), (17, False)]
    assert "the last line with code is 15" in changed[2]["message"]
    assert rendering.at() == ("page.html", 4)
    frames = [(frame["name"], frame["source"]["name"], frame["line"]) for frame in peer.stack()]
    assert frames[:2] == [("block body", "page.html", 4), ("template", "base.html", 3)]
    assert frames[-2:] == [("main", "prog.py", 12), ("<module>", "prog.py", 13)]
    kinds = {frame["source"]["name"]: frame.get("presentationHint") for frame in peer.stack()}
    assert (kinds["page.html"], kinds["prog.py"], kinds["environment.py"]) == (None, None, "subtle")
    peer.go()
    peer.stopped("breakpoint")
    assert rendering.at() == ("page.html", 8)
    rendering.place("page.html")
    placed = rendering.place("page.html", 9)
    assert (placed[0]["line"], placed[0]["verified"]) == (9, True), "the template is known by now"
    lines = peer.ask("breakpointLocations", source={"path": rendering.path("page.html")}, line=1, endLine=99)
    assert [one["line"] for one in lines["breakpoints"]] == [1, 2, 4, 6, 7, 8, 9, 10, 14, 15]
    rendering.place("page.html")
    peer.go()
    assert "<b>TWO!</b>" in peer.finish()[1]


@pytest.mark.each_python
def test_steps_go_from_line_to_line_and_into_what_the_template_calls(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    rendering.begin(jinja=True)
    rendering.place("page.html", 6)
    rendering.go()
    peer = rendering.peer
    peer.stopped("breakpoint")
    rendering.place("page.html")
    stepped = [rendering.step() for _ in range(8)]
    assert [line for _, line in stepped] == [7, 8, 9, 6, 7, 8, 9, 10]
    assert rendering.step("stepIn") == ("prog.py", 3)
    assert rendering.step("stepOut") == ("page.html", 6), "as through any library, which calls for the template"
    assert rendering.step() == ("page.html", 14)
    assert rendering.step("stepIn") == ("macros.html", 1)
    assert peer.stack()[0]["name"] == "macro field"
    assert [rendering.step() for _ in range(2)] == [("macros.html", 2), ("macros.html", 3)]
    assert {name: row["value"] for name, row in peer.locals().items()} == {"name": "'a'", "value": "'x'"}
    assert rendering.step() == ("page.html", 15)
    assert rendering.step("stepIn") == ("footer.html", 1)
    assert rendering.step() == ("footer.html", 2)
    assert rendering.step("stepOut") == ("page.html", 15)
    assert peer.ask("stepInTargets", frameId=peer.stack()[0]["id"])["targets"] == []
    assert rendering.step() == ("base.html", 3)
    assert rendering.step() == ("page.html", 2)
    assert rendering.step() == ("prog.py", 13)
    peer.go()
    peer.finish()


@pytest.mark.thorough
def test_steps_lead_through_a_template_that_extends_another(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path, page='{% extends "base.html" %}\n{% block title %}{{ 1 }}{% endblock %}\n')
    rendering.begin(jinja=True)
    rendering.place("page.html", 1)
    rendering.go()
    peer = rendering.peer
    peer.stopped("breakpoint")
    assert rendering.step("stepIn") == ("base.html", 1)
    assert rendering.step() == ("base.html", 2)
    assert rendering.step("stepIn") == ("page.html", 2)
    assert rendering.step("stepOut") == ("base.html", 2)
    assert rendering.step() == ("base.html", 3)
    assert rendering.step("stepIn") == ("base.html", 3), "into the block, which is empty"
    assert rendering.step("stepOut") == ("base.html", 3)
    assert rendering.step("stepOut") == ("page.html", 1)
    assert rendering.step("stepOut") == ("prog.py", 13)
    peer.go()
    peer.finish()


@pytest.mark.thorough
@pytest.mark.each_python
def test_variables_of_the_template_are_shown_evaluated_and_set(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    peer = rendering.peer
    rendering.begin(jinja=True)
    place = {"path": rendering.path("page.html")}
    asked = [
        {"line": 8, "condition": "item.special and n == 2"},
        {"line": 9, "logMessage": "at {n} of {len(items)}: {item.name}, {nothing}"},
        {"line": 10, "condition": "nothing > 1"},
    ]
    peer.ask("setBreakpoints", source=place, breakpoints=asked)
    rendering.go()
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    scopes = peer.ask("scopes", frameId=frame)["scopes"]
    assert [scope["name"] for scope in scopes] == ["Locals", "Globals"]
    shown = {row["name"]: row["value"] for row in peer.rows(scopes[0]["variablesReference"])}
    assert {"item", "items", "loop", "n", "shout", "field"} == set(shown)
    assert shown["n"] == "2"
    shared = {row["name"] for row in peer.rows(scopes[1]["variablesReference"])}
    assert {"site", "range", "dict"} <= shared
    assert peer.value("item.name + site") == "'twohere'"
    assert peer.value("[one.name for one in items if loop.first or item]") == "['one', 'two']"
    assert peer.value("n", context="hover") == "2"
    labels = [row["label"] for row in peer.ask("completions", frameId=frame, text="ite", column=4)["targets"]]
    assert labels[:2] == ["item", "items"]
    peer.ask("setVariable", variablesReference=scopes[0]["variablesReference"], name="n", value="n * 100")
    peer.ask("setExpression", frameId=frame, expression="item.name", value="'renamed'")
    peer.ask("evaluate", frameId=frame, expression="shout = str.title", context="repl")
    watched = peer.ask("dataBreakpointInfo", name="n", variablesReference=scopes[0]["variablesReference"])
    assert (watched["dataId"], watched["description"]) == (None, "a variable of a template cannot be watched")
    with pytest.raises(Refused, match="fresh is not a variable of the template"):
        peer.ask("evaluate", frameId=frame, expression="fresh = 1", context="repl")
    peer.go()
    output = peer.finish()[1]
    assert "<li>renamed 200</li>" in output
    assert "<b>Renamed</b>" in output
    said = "".join(message["body"]["output"] for message in peer.events() if message["event"] == "output")
    assert "at 200 of 2: renamed, <NameError: name 'nothing' is not defined>" in said
    assert f"The condition of the breakpoint in {rendering.path('page.html')}:10 raised NameError" in said


FAILING = """\
<p>
{% for item in items %}
  {{ item.name }}
  {{ 1 / (item.special - 1) }}
{% endfor %}
"""


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize(
    ("filters", "template", "place"),
    [
        (["userUnhandled"], FAILING, ("page.html", 4)),
        (["raised"], FAILING, ("page.html", 4)),
        (["uncaught"], FAILING, ("page.html", 4)),
        (["userUnhandled"], "<p>\n{{ missing.name }}", ("page.html", 2)),
        (["userUnhandled"], "<p>\n{% wrong %}", ("page.html", 2)),
        (["raised"], "<p>\n{% wrong %}", ("page.html", 2)),
        (["uncaught"], "<p>\n{% wrong %}", ("page.html", 2)),
    ],
    ids=["user", "raised", "uncaught", "undefined", "syntax", "syntax raised", "syntax uncaught"],
)
def test_an_exception_stops_once_and_at_the_line_of_the_template(
    start: Start, tmp_path: Path, filters: list[str], template: str, place: tuple[str, int]
) -> None:
    rendering = render(start, tmp_path, page=template)
    peer = rendering.peer
    rendering.begin(jinja=True)
    peer.ask("setExceptionBreakpoints", filters=filters)
    rendering.go()
    peer.stopped("exception")
    assert rendering.at() == place
    information = peer.ask("exceptionInfo", threadId=1)
    assert f'page.html", line {place[1]}, in ' in information["details"]["stackTrace"]
    assert template.splitlines()[place[1] - 1].strip() in information["details"]["stackTrace"]
    if "special" in template:
        assert peer.value("item.name") == "'two'"
    peer.go()
    code, _, errors = peer.finish()
    assert code == 1
    assert f'page.html", line {place[1]}, in ' in errors


IN_MEMORY = """
    import asyncio, jinja2
    LOOP = "{% for x in xs recursive %}\\n{{ x }}{{ loop([]) }}\\n{% endfor %}"
    environment = jinja2.Environment(loader=jinja2.DictLoader({"list.html": LOOP}))
    other = jinja2.Environment(enable_async=True)
    async def later(value):
        await asyncio.sleep(0)
        return value + 1
    async def wait():
        template = other.from_string("first\\n{{ later(1) }}\\n{{ later(y) }}")
        return await template.render_async(later=later, y=5)
    def main():
        once = environment.get_template("list.html").render(xs=[1, 2])      # first
        again = environment.get_template("list.html").render(xs=[3])
        return once, again, asyncio.run(wait())
    print(main())
"""


@pytest.mark.thorough
@pytest.mark.each_python
def test_templates_without_a_file_and_asynchronous_ones_are_sources(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path, program=IN_MEMORY)
    peer = rendering.peer
    rendering.begin(jinja=True)
    peer.ask("setBreakpoints", source={"path": str(tmp_path / "prog.py")}, breakpoints=[{"line": 12}])
    rendering.go()
    peer.stopped("breakpoint")
    assert rendering.step("stepIn") == ("list.html", 1)
    source = peer.stack()[0]["source"]
    text = peer.ask("source", source=source, sourceReference=source["sourceReference"])
    assert text == {"content": "{% for x in xs recursive %}\n{{ x }}{{ loop([]) }}\n{% endfor %}"}
    placed = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 2}])["breakpoints"]
    assert (placed[0]["line"], placed[0]["verified"]) == (2, True)
    for expected in ("1", "2", "3"):
        peer.go()
        peer.stopped("breakpoint")
        assert (rendering.at(), peer.value("x")) == (("list.html", 2), expected)
    peer.ask("setBreakpoints", source=source, breakpoints=[])
    peer.ask("setBreakpoints", source={"path": str(tmp_path / "prog.py")}, breakpoints=[{"line": 10}])
    peer.go()
    peer.stopped("breakpoint")
    assert rendering.step("stepIn") == ("<template>", 1)
    assert rendering.step() == ("<template>", 2)
    assert rendering.step("stepIn") == ("prog.py", 6)
    assert rendering.step("stepOut") == ("<template>", 3)
    assert peer.value("y") == "5"
    peer.go()
    assert peer.finish()[1].strip() == "('\\n1\\n\\n2\\n', '\\n3\\n', 'first\\n2\\n6')"


RELOADING = """
    import os, jinja2
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader("templates"))
    def render():
        return environment.get_template("page.html").render(x=1)
    print(render())
    with open("templates/page.html", "w") as page:
        page.write("new\\n\\n\\n{{ x }}\\n{{ x + 1 }}\\n")
    os.utime("templates/page.html", (1, 1))
    print(render())
    cached = jinja2.Environment(loader=environment.loader, bytecode_cache=jinja2.FileSystemBytecodeCache("."))
    print(cached.get_template("page.html").render(x=2))
    environment = jinja2.Environment(
        loader=environment.loader, bytecode_cache=jinja2.FileSystemBytecodeCache("."))
    print(render())
"""


def test_breakpoints_follow_a_template_that_is_compiled_again_or_comes_from_a_cache(
    start: Start, tmp_path: Path
) -> None:
    rendering = render(start, tmp_path, program=RELOADING, page="<p>\n{{ x }}\n{{ x }}\n")
    peer = rendering.peer
    rendering.begin(jinja=True)
    rendering.place("page.html", 3)
    rendering.go()
    for line, value in ((3, "1"), (4, "1"), (4, "2"), (4, "1")):
        peer.stopped("breakpoint")
        assert (rendering.at(), peer.value("x")) == (("page.html", line), value)
        peer.go()
    peer.finish()
    moved = [message["body"]["breakpoint"] for message in peer.events() if message["event"] == "breakpoint"]
    assert [(one["line"], one["verified"]) for one in moved] == [(3, True), (4, True)]


def test_without_the_key_templates_are_no_sources(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    peer = rendering.peer
    peer.configure(jinja=False)
    assert "<b>TWO!</b>" in peer.finish()[1]


SERVED = """
    import flask, threading, urllib.request
    from werkzeug.serving import make_server
    app = flask.Flask(__name__)
    @app.get("/")
    def index():
        return flask.render_template("page.html", items=[], shout=None, title="served")
    server = make_server("127.0.0.1", 0, app)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        print(urllib.request.urlopen(f"http://127.0.0.1:{server.port}/").read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
    server.shutdown()
"""


@pytest.mark.thorough
def test_flask_renders_a_template_for_a_request_up_to_a_breakpoint_and_an_exception(
    start: Start, tmp_path: Path
) -> None:
    page = "<h1>{{ title }}</h1>\n{{ url_for('index') }}\n{{ title.wrong() }}\n"
    rendering = render(start, tmp_path, program=SERVED, page=page)
    peer = rendering.peer
    rendering.begin(jinja=True)
    thread = rendering.stop_in_request()
    assert peer.value("title", thread=thread) == "'served'"
    assert peer.value("request.path", thread=thread) == "'/'"
    assert [frame["name"] for frame in peer.stack(thread) if frame.get("presentationHint") != "subtle"] == [
        "template",
        "index",
    ]
    rendering.fail_request(thread)
