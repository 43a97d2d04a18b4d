"""Templates of Jinja: inheritance, macros, filters of our own, and an undefined name."""

from jinja2 import DictLoader, Environment, StrictUndefined, UndefinedError


def shout(text):
    return text.upper() + "!"


environment = Environment(
    loader=DictLoader(
        {
            "base": "<h1>{% block title %}none{% endblock %}</h1>{% block body %}{% endblock %}",
            "page": "{% extends 'base' %}{% block title %}{{ name|shout }}{% endblock %}"
            "{% block body %}{% for row in rows %}{{ row.a + row.b }},{% endfor %}{% endblock %}",
            "bad": "{{ missing.attribute }}",
        }
    ),
    undefined=StrictUndefined,
)
environment.filters["shout"] = shout
s_pages = []
for number in range(5):
    rows = [{"a": number, "b": other} for other in range(4)]
    s_pages.append(environment.get_template("page").render(name=f"page {number}", rows=rows))
try:
    s_problem = environment.get_template("bad").render()
except UndefinedError as error:
    s_problem = str(error)
s_length = sum(map(len, s_pages))
print(s_pages[-1], s_problem, s_length)
