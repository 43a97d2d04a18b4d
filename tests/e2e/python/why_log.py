"""Run a program, and print which line made each of its values what it is: as the program itself logs it.

    python why_log.py PROGRAM EXPRESSION...

The source is changed so that each statement is followed by a look at the values: those that are not as before have been
changed by it. The answers are not found by `sys.monitoring`, nor from the past.
"""

import ast
import json
import sys
from pathlib import Path

_BINDING = (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.While, ast.ExceptHandler)


class _Logs(ast.NodeTransformer):
    """Puts a look behind each statement, and at the beginning of a block whose head binds names."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and not isinstance(node, ast.ClassDef):
                setattr(node, name, self._with_looks(node, name, block))
        return node

    def _with_looks(self, node: ast.AST, name: str, block: list[ast.stmt]) -> list[ast.stmt]:
        looks = [self._look(node.lineno)] if name == "body" and isinstance(node, _BINDING) else []
        for statement in block:
            looks.append(statement)
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                continue
            looks.append(self._look(statement.lineno))
        return looks

    def _look(self, line: int) -> ast.stmt:
        call = ast.Call(ast.Name("__look__", ast.Load()), [ast.Constant(line)], [])
        return ast.Expr(call)


def main(program: str, expressions: list[str]) -> None:
    """Run the program, and print the answers as JSON, by expression."""
    tree = ast.fix_missing_locations(_Logs().visit(ast.parse(Path(program).read_text())))
    names = sys.modules["__main__"].__dict__
    values = dict.fromkeys(expressions, "")
    lines: dict[str, int] = {}
    codes = {expression: compile(expression, "<watched>", "eval") for expression in expressions}

    def look(line: int) -> None:
        for expression, code in codes.items():
            try:
                value = repr(eval(code, names))  # noqa: S307 - a name, or what the program asks about itself
            except Exception:  # noqa: BLE001 - it has no value there
                value = ""
            if value != values[expression]:
                values[expression], lines[expression] = value, line

    names |= {"__look__": look, "__file__": program}
    exec(compile(tree, program, "exec"), names)  # noqa: S102 - one of our programs
    print("\n" + json.dumps({expression: line for expression, line in lines.items() if _is_plain(values[expression])}))


def _is_plain(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
