"""Documents of YAML, read and written, with a constructor of our own."""

import yaml


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def construct(loader, node):
    return Point(*loader.construct_sequence(node))


yaml.SafeLoader.add_constructor("!point", construct)
s_text = "\n".join(
    f"- name: item{number}\n  at: !point [{number}, {number * 2}]\n  tags: [a, b{number}]" for number in range(15)
)
s_rows = yaml.safe_load(s_text)
s_sum = sum(row["at"].x * row["at"].y for row in s_rows)
s_plain = [{**row, "at": [row["at"].x, row["at"].y]} for row in s_rows]
s_written = yaml.safe_dump(s_plain, sort_keys=True)
try:
    s_problem = yaml.safe_load("a: [1")
except yaml.YAMLError as error:
    s_problem = type(error).__name__
s_same = yaml.safe_load(s_written) == s_plain
print(s_sum, len(s_written), s_problem, s_same)
