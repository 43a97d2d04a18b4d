"""What the engine may not say, since the interpreter would import something for it, or look up a codec."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[3] / "src/dapkit/python/debuggee"

CODECS = {
    "encode": {
        (),
        ("utf-8",),
        ("utf-8", "replace"),
        ("utf-8", "surrogatepass"),
        ("utf-8", "surrogateescape"),
        ("ascii",),
    },
    "decode": {
        (),
        ("utf-8",),
        ("utf-8", "replace"),
        ("utf-8", "surrogateescape"),
        ("ascii", "replace"),
        ("latin-1",),
    },
}
"""Calls for which the interpreter looks nothing up."""


def complaints(tree: ast.AST) -> Iterator[str]:
    """Return what a module says that it may not."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(type_params=[_, *_]):
                yield f"line {node.lineno}: a generic class imports typing"
            case ast.FunctionDef(type_params=[_, *_] as parameters):
                names = {parameter.name for parameter in parameters if isinstance(parameter, ast.TypeVar)}
                annotations = [argument.annotation for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
                for part in (part for said in (node.returns, *annotations) if said for part in ast.walk(said)):
                    sides = (part.left, part.right) if isinstance(part, ast.BinOp) else ()
                    if names & {side.id for side in sides if isinstance(side, ast.Name)}:
                        yield f"line {node.lineno}: a union with a type variable imports typing, unless it is quoted"
            case ast.Call(func=ast.Attribute(attr="encode" | "decode" as method), args=values):
                given = tuple(value.value if isinstance(value, ast.Constant) else None for value in values)
                if given not in CODECS[method]:
                    yield f"line {node.lineno}: .{method}{given} looks up a codec"


@pytest.mark.thorough
def test_modules_of_the_engine_make_the_interpreter_import_nothing() -> None:
    # The one looks before it decodes, the other uses the codec of file names, which the interpreter has begun with.
    modules = [path for path in ENGINE.rglob("*.py") if path.name not in ("decoding.py", "environment.py")]
    texts = {str(path.relative_to(ENGINE)): path.read_text(encoding="utf-8") for path in modules}
    found = {name: list(complaints(ast.parse(text))) for name, text in texts.items()}
    assert {name: said for name, said in found.items() if said} == {}


def test_packages_of_the_engine_hold_nothing_but_a_docstring() -> None:
    for path in ENGINE.rglob("__init__.py"):
        [statement] = ast.parse(path.read_text(encoding="utf-8")).body
        assert ast.get_docstring(ast.Module([statement], [])), path
