"""Templates of Django as sources: breakpoints, steps, variables and exceptions where the template has them."""

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
{{ never }}
{# a comment #}
{% block body %}
<ul>
{% for item in items %}
  <li>{{ item.name }} {{ forloop.counter }}</li>
  {% if item.special %}
    <b>{{ item.shout }}</b>
  {% endif %}
{% endfor %}
</ul>
{% include "footer.html" with who="me" %}
{% endblock %}
"""
FOOTER = """\
<footer>
{{ who|upper }}
{{ site }}
</footer>
"""
PROGRAM = """
    import django
    from django.conf import settings
    settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": ["templates"], "OPTIONS": {"debug": True}}])
    django.setup()
    from django.template.loader import get_template
    class Item:
        def __init__(self, name, special):
            self.name, self.special = name, special
        def shout(self):
            return self.name.upper() + "!"
    def main():
        template = get_template("page.html")
        items = [Item("one", False), Item("two", True)]
        return template.render({"items": items, "site": "here"})
    print(main())
"""


def render(start: Start, tmp_path: Path, program: str = PROGRAM, **templates: str) -> Rendering:
    """Start a program below which there are templates; `page` stands for `page.html`."""
    folder = tmp_path / "templates"
    folder.mkdir()
    for name, text in ({"base": BASE, "page": PAGE, "footer": FOOTER} | templates).items():
        (folder / f"{name}.html").write_text(text)
    return Rendering(start(program, env={"PYTHONPATH": str(libraries(tmp_path))}), tmp_path)


def test_breakpoints_wait_for_the_template_and_stop_at_its_lines(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    peer = rendering.peer
    rendering.begin(django=True)
    placed = rendering.place("page.html", 2, 5, 7, 14)
    assert [(one["verified"], one["reason"]) for one in placed] == [(False, "pending")] * 4
    rendering.go()
    peer.stopped("breakpoint")
    changed = [peer.event("breakpoint")["breakpoint"] for _ in placed]
    assert [(one["line"], one["verified"]) for one in changed] == [(4, True), (6, True), (7, True), (14, False)]
    assert "the last line with code is 13" in changed[3]["message"]
    assert rendering.at() == ("page.html", 6)
    frames = [(frame["name"], frame["source"]["name"], frame["line"]) for frame in peer.stack()]
    own = [frame for frame in frames if frame[1].endswith((".html", "prog.py"))]
    assert own == [
        ("{% for item in items %}", "page.html", 6),
        ("{% block body %}", "base.html", 3),
        ('{% extends "base.html" %}', "page.html", 1),
        ("main", "prog.py", 15),
        ("<module>", "prog.py", 16),
    ]
    hints = {frame["source"]["name"]: frame.get("presentationHint") for frame in peer.stack()}
    assert (hints["page.html"], hints["prog.py"], hints["base.py"]) == (None, None, "subtle")
    for _ in range(2):
        peer.go()
        peer.stopped("breakpoint")
        assert rendering.at() == ("page.html", 7)
    lines = peer.ask("breakpointLocations", source={"path": rendering.path("page.html")}, line=1, endLine=99)
    assert [one["line"] for one in lines["breakpoints"]] == [1, 4, 6, 7, 8, 9, 13]
    assert [one["verified"] for one in rendering.place("page.html", 9)] == [True]
    peer.go()
    peer.stopped("breakpoint")
    assert rendering.at() == ("page.html", 9)
    rendering.place("page.html")
    peer.go()
    assert "<b>TWO!</b>" in peer.finish()[1]


@pytest.mark.thorough
@pytest.mark.each_python
def test_steps_go_from_line_to_line_and_into_what_the_template_calls(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    rendering.begin(django=True)
    rendering.place("page.html", 6)
    rendering.go()
    peer = rendering.peer
    peer.stopped("breakpoint")
    rendering.place("page.html")
    stepped = [rendering.step() for _ in range(5)]
    assert [line for _, line in stepped] == [7, 8, 7, 8, 9]
    assert rendering.step("stepIn") == ("prog.py", 11)
    assert rendering.step("stepOut") == ("page.html", 13)
    assert peer.ask("stepInTargets", frameId=peer.stack()[0]["id"])["targets"] == []
    assert rendering.step("stepIn") == ("footer.html", 2)
    assert rendering.step() == ("footer.html", 3)
    assert rendering.step("stepOut") == ("prog.py", 16)
    peer.go()
    peer.finish()


@pytest.mark.thorough
def test_steps_lead_through_a_template_that_extends_another(start: Start, tmp_path: Path) -> None:
    page = '{% extends "base.html" %}\n{% block title %}{{ site }}{% endblock %}\n'
    program = PROGRAM.replace("print(main())", "print(main())\n    print(main())")
    rendering = render(start, tmp_path, page=page, program=program)
    rendering.begin(django=True)
    rendering.place("page.html", 1)
    rendering.go()
    peer = rendering.peer
    peer.stopped("breakpoint")
    assert rendering.step("stepIn") == ("base.html", 2)
    assert rendering.step("stepIn") == ("page.html", 2)
    assert rendering.step() == ("base.html", 3)
    assert rendering.step("stepOut") == ("prog.py", 16)
    peer.go()
    peer.stopped("breakpoint")
    assert rendering.step() == ("prog.py", 17)
    peer.go()
    peer.finish()


@pytest.mark.thorough
@pytest.mark.each_python
def test_variables_of_the_template_are_shown_evaluated_and_set(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path)
    peer = rendering.peer
    rendering.begin(django=True)
    asked = [
        {"line": 7, "condition": "item.special and forloop['counter'] == 2"},
        {"line": 8, "logMessage": "at {forloop['counter']} of {len(items)}: {item.name}, {nothing}"},
        {"line": 9, "condition": "nothing > 1"},
    ]
    peer.ask("setBreakpoints", source={"path": rendering.path("page.html")}, breakpoints=asked)
    rendering.go()
    peer.stopped("breakpoint")
    frame = peer.stack()[0]["id"]
    scopes = peer.ask("scopes", frameId=frame)["scopes"]
    shown = {row["name"]: row["value"] for row in peer.rows(scopes[0]["variablesReference"])}
    assert {"item", "items", "forloop", "site", "block"} == set(shown)
    assert peer.value("item.name + site") == "'twohere'"
    assert peer.value("site", context="hover") == "'here'"
    peer.ask("setVariable", variablesReference=scopes[0]["variablesReference"], name="site", value="site * 2")
    peer.ask("setExpression", frameId=frame, expression="item.name", value="'renamed'")
    with pytest.raises(Refused, match="fresh is not a variable of the template"):
        peer.ask("evaluate", frameId=frame, expression="fresh = 1", context="repl")
    peer.go()
    output = peer.finish()[1]
    assert "<li>renamed 2</li>" in output
    assert "herehere\n</footer>" in output
    said = "".join(message["body"]["output"] for message in peer.events() if message["event"] == "output")
    assert "at 2 of 2: renamed, <NameError: name 'nothing' is not defined>" in said
    assert f"The condition of the breakpoint in {rendering.path('page.html')}:9 raised NameError" in said


FAILING = "<p>\n{% for item in items %}\n{{ item.name }}\n\n{% include item %}\n{% endfor %}\n"


@pytest.mark.thorough
@pytest.mark.parametrize("filters", [["userUnhandled"], ["raised"]])
def test_an_exception_stops_once_and_at_the_line_of_the_template(
    start: Start, tmp_path: Path, filters: list[str]
) -> None:
    rendering = render(start, tmp_path, page=FAILING)
    peer = rendering.peer
    rendering.begin(django=True)
    peer.ask("setExceptionBreakpoints", filters=filters)
    rendering.go()
    peer.stopped("exception")
    frame = next(frame for frame in peer.stack() if frame.get("presentationHint") != "subtle")
    assert (frame["source"]["name"], frame["line"]) == ("page.html", 5)
    information = peer.ask("exceptionInfo", threadId=1)
    assert 'page.html", line 5, in {% include item %}\n    {% include item %}' in information["details"]["stackTrace"]
    peer.go()
    assert peer.finish()[0] == 1


SYNTAX_ERRORS = {
    "unknown tag": ("<p>\n\n{% wrong %}\n", 3),
    "unknown tag in another": ("<p>\n{% if items %}\n{% wrong %}\n{% endif %}", 3),
    "unclosed tag": ("<p>\n{% if items %}\n{{ site }}\n", 2),
    "unclosed comment": ("<p>\n{% comment %}\n", 2),
    "arguments of a tag": ("<p>\n{% if items %}\n{% for item %}\n{% endfor %}\n{% endif %}", 3),
    "unknown filter": ("<p>\n{{ site|wrong }}\n", 2),
    "no variable": ("<p>\n{{ }}\n", 2),
    "no tag": ("<p>\n{% %}\n", 2),
    "extends too late": ("<p>\n{{ site }}\n{% extends 'base.html' %}\n", 3),
}


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.parametrize(
    ("filters", "error"),
    [
        *(("raised", error) for error in SYNTAX_ERRORS),
        *(("uncaught", error) for error in ("unknown tag in another", "arguments of a tag")),
        *(("userUnhandled", error) for error in ("unknown tag in another", "arguments of a tag")),
    ],
)
def test_an_error_of_syntax_stops_once_and_at_the_line_of_the_template(
    start: Start, tmp_path: Path, filters: str, error: str
) -> None:
    template, line = SYNTAX_ERRORS[error]
    rendering = render(start, tmp_path, page=template)
    peer = rendering.peer
    rendering.begin(django=True)
    peer.ask("setExceptionBreakpoints", filters=[filters])
    rendering.go()
    peer.stopped("exception")
    frames = [frame for frame in peer.stack() if frame.get("presentationHint") != "subtle"]
    assert [(frame["source"]["name"], frame["line"]) for frame in frames][:2] == [("page.html", line), ("prog.py", 13)]
    peer.go()
    assert peer.finish()[0] == 1


IN_MEMORY = """
    import django
    from django.conf import settings
    settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "OPTIONS": {
        "loaders": [("django.template.loaders.locmem.Loader", {"mail.txt": "{{ name }}\\n{{ name|lower }}"})]}}])
    django.setup()
    from django.template import Context, Template
    from django.template.loader import render_to_string
    def main():
        first = Template("one\\n{{ x }}\\n{{ y }}").render(Context({"x": 1, "y": 2}))
        mail = render_to_string("mail.txt", {"name": "Ada"})
        again = Template("one\\n{{ x }}\\n{{ y }}").render(Context({"x": 3, "y": 4}))
        return first, mail, again
    print(main())
"""


@pytest.mark.thorough
@pytest.mark.each_python
def test_templates_without_a_file_are_sources(start: Start, tmp_path: Path) -> None:
    rendering = render(start, tmp_path, program=IN_MEMORY)
    peer = rendering.peer
    rendering.begin(django=True)
    peer.ask("setBreakpoints", source={"path": str(tmp_path / "prog.py")}, breakpoints=[{"line": 9}, {"line": 10}])
    rendering.go()
    peer.stopped("breakpoint")
    assert rendering.step("stepIn") == ("<unknown source>", 2)
    assert peer.value("x") == "1"
    source = peer.stack()[0]["source"]
    text = peer.ask("source", source=source, sourceReference=source["sourceReference"])
    assert text["content"] == "one\n{{ x }}\n{{ y }}"
    placed = peer.ask("setBreakpoints", source=source, breakpoints=[{"line": 1}, {"line": 3}])["breakpoints"]
    assert [(one["line"], one["verified"]) for one in placed] == [(2, True), (3, True)]
    peer.go()
    peer.stopped("breakpoint")
    assert (rendering.at(), peer.value("y")) == (("<unknown source>", 3), "2")
    peer.go()
    peer.stopped("breakpoint")
    assert rendering.step("stepIn") == ("mail.txt", 1)
    assert rendering.step() == ("mail.txt", 2)
    peer.go()
    for line, value in ((2, "3"), (3, "4")):
        peer.stopped("breakpoint")
        assert (rendering.at(), peer.value("x if x > y else x if x == 3 and y == 4 else 0")) == (
            ("<unknown source>", line),
            "3",
        ), value
        peer.go()
    assert peer.finish()[1].strip() == "('one\\n1\\n2', 'Ada\\nada', 'one\\n3\\n4')"


SERVED = """
    import sys, threading, urllib.error, urllib.request
    from wsgiref.simple_server import WSGIRequestHandler, make_server
    import django
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.shortcuts import render
    from django.urls import path
    def index(request):
        return render(request, "page.html", {"title": "served", "nothing": 5})
    urlpatterns = [path("", index)]
    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], DEBUG=False, TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["templates"],
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]}}])
    class Quiet(WSGIRequestHandler):
        def log_message(self, *args): pass
    server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
    server.shutdown()
"""


@pytest.mark.thorough
def test_django_renders_a_template_for_a_request_up_to_a_breakpoint_and_an_exception(
    start: Start, tmp_path: Path
) -> None:
    page = "<h1>{{ title }}</h1>\n{{ request.path }}\n{% include nothing %}\n"
    rendering = render(start, tmp_path, program=SERVED, page=page)
    peer = rendering.peer
    rendering.begin(django=True)
    thread = rendering.stop_in_request()
    assert peer.value("title + request.path", thread=thread) == "'served/'"
    rendering.fail_request(thread)
