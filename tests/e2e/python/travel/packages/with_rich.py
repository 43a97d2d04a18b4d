"""A table and a tree of rich, rendered to text."""

import io

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

s_output = io.StringIO()
console = Console(file=s_output, width=60, force_terminal=True, color_system="truecolor")
table = Table(title="Prices")
for column in ("name", "price", "note"):
    table.add_column(column, style="cyan")
for number in range(8):
    table.add_row(f"item {number}", f"{number * 1.5:.2f}", "[bold]cheap[/bold]" if number < 3 else "")
tree = Tree("root")
for number in range(3):
    branch = tree.add(f"branch {number}")
    for leaf in range(2):
        branch.add(f"leaf {leaf}")
console.print(table)
console.print(tree)
console.print({"a": [1, 2, {"b": None}]})
s_text = s_output.getvalue()
s_lines = len(s_text.splitlines())
print(s_lines, len(s_text))
