"""A parser for settings, built with pyparsing, and its actions."""

import pyparsing as pp

name = pp.Word(pp.alphas, pp.alphanums + "_")
number = pp.Regex(r"-?\d+").set_parse_action(lambda tokens: int(tokens[0]))
text = pp.QuotedString('"')
value = pp.Forward()
array = pp.Group(pp.Suppress("[") + pp.Optional(pp.DelimitedList(value)) + pp.Suppress("]"))
value <<= number | text | array
pair = pp.Group(name + pp.Suppress("=") + value)
settings = pp.ZeroOrMore(pair)

s_source = "\n".join(f'key{index} = [{index}, {index * 2}, "text {index}", [{index % 3}]]' for index in range(12))
s_parsed = settings.parse_string(s_source, parse_all=True).as_list()
s_sums = {key: sum(part for part in items if isinstance(part, int)) for key, items in s_parsed}
try:
    settings.parse_string("key = ]", parse_all=True)
    s_problem = ""
except pp.ParseException as error:
    s_problem = f"line {error.lineno}, column {error.column}"
s_total = sum(s_sums.values())
print(s_sums["key11"], s_problem, s_total)
