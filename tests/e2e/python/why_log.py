"""Run a program, and print which line made each of its values what it is: as the program itself logs it.

    python why_log.py PROGRAM EXPRESSION...
    python why_log.py PROGRAM --in FUNCTION EXPRESSION=SAME...

With `--in`, an expression is one of a call of a function, and SAME what names its value in the module; it is the same
text if only the call has it.

The source is changed so that each statement is followed by a look at the values: those that are not as before have been
changed by it. The answers are not found by `sys.monitoring`, nor from the past.
"""

import ast
import json
import sys
from pathlib import Path
from types import FrameType

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


def main(program: str, expressions: dict[str, str], function: str) -> None:
    """Run the program, and print the answers as JSON, by expression."""
    tree = ast.fix_missing_locations(_Logs().visit(ast.parse(Path(program).read_text())))
    names = sys.modules["__main__"].__dict__
    values = dict.fromkeys(expressions, "")
    lines: dict[str, int] = {}
    codes = {expression: compile(same, "<watched>", "eval") for expression, same in expressions.items()}
    calls: list[FrameType] = []

    def look(line: int) -> None:
        call = sys._getframe(1)
        if call.f_code.co_name == function and call not in calls[-1:]:
            calls.append(call)
        for expression, code in codes.items():
            is_of_call = function and expressions[expression] == expression
            if is_of_call and call not in calls[-1:]:
                continue
            try:
                value = repr(eval(code, names, call.f_locals if is_of_call else names))  # noqa: S307 - see above
            except Exception:  # noqa: BLE001 - it has no value there
                value = ""
            if value != values[expression]:
                values[expression], lines[expression] = value, line

    names |= {"__look__": look, "__file__": program}
    exec(compile(tree, program, "exec"), names)  # noqa: S102 - one of our programs
    print("\n" + json.dumps({expression: line for expression, line in lines.items() if _is_plain(values[expression])}))


def read_command_line(words: list[str]) -> None:
    """Do what is asked for."""
    program, *expressions = words
    function = ""
    if expressions[:1] == ["--in"]:
        _, function, *expressions = expressions
    main(program, {text.partition("=")[0]: text.rpartition("=")[2] for text in expressions}, function)


def _is_plain(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    read_command_line(sys.argv[1:])
