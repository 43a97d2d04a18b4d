"""Source texts formatted by black."""

import black

s_sources = [
    f"def f{number}( a,b = {number} ):\n  return [ a,b, {{'x':a}} ] if a else (lambda z:z+{number})(b)\n"
    for number in range(4)
]
s_formatted = []
for source in s_sources:
    s_formatted.append(black.format_str(source, mode=black.Mode(line_length=40)))
try:
    s_problem = black.format_str("def (:", mode=black.Mode())
except black.InvalidInput as error:
    s_problem = type(error).__name__
s_lines = sum(text.count("\n") for text in s_formatted)
print(s_formatted[-1], s_problem, s_lines)
