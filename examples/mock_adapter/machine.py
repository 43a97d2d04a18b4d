"""A machine that runs Markdown: the program that the mock adapter debugs. It knows nothing of debuggers.

Code spans are statements: `name = expression`, `say expression`, `warn expression`, `wait seconds` and
`raise Name`. A link such as `[pay](#paying)` or `[pay](shop.md#paying)` calls a section; a file is loaded
when it is first called. All else is prose. A program begins at the top of its file.
"""

import ast
import re
from collections.abc import Callable, Mapping
from operator import add, eq, gt, lt, mul, sub
from pathlib import Path
from typing import NamedTuple

from dapkit import protocol as dap

type Value = int | str | list["Value"]

_CODE = re.compile(r"`(?:([a-z_]\w*) = |(say|warn|wait|raise) )([^`]+)`|\]\(([^)]*#[^)]+)\)")
_OPS: dict[type, Callable[..., Value]] = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Eq: eq, ast.Lt: lt, ast.Gt: gt}


class Instruction(NamedTuple):
    """One statement, call or return. Its address is its index in the code."""

    address: int
    path: Path
    line: int
    column: int
    section: str
    op: str
    name: str
    operand: str


class Effect(NamedTuple):
    """What one step did that others may care about."""

    output: str = ""
    category: str = "stdout"
    seconds: float = 0
    written: str = ""
    loaded: Path | None = None


class Machine:
    """A program in the middle of its run: `frames` has the next address of each section that runs, innermost last."""

    def __init__(self) -> None:
        self.code: list[Instruction] = []
        self.frames: tuple[int, ...] = ()
        self.variables: Mapping[str, Value] = {}
        self.past: list[tuple[tuple[int, ...], Mapping[str, Value]]] = []
        self.exit_code = 0

    @property
    def here(self) -> Instruction | None:
        """The next instruction; None once the program has ended."""
        return self.code[self.frames[-1]] if self.frames else None

    def load(self, path: Path) -> Path:
        """Read a file. The first one is the program, and the machine stands at its top."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
        first, last, section = len(self.code), 1, ""
        for number, text in enumerate([*lines, "# end"], 1):
            if text.startswith("#"):
                if number > len(lines) or len(self.code) > first:
                    self.code.append(Instruction(len(self.code), path, last, 1000, section, "return", "", ""))
                section = text.lstrip("# ").lower().replace(" ", "-")
            for found in _CODE.finditer(text):
                name, op, operand, link = found.groups("")
                op, last, column = op or ("call" if link else "set"), number, dap.column_of(text, found.start())
                self.code.append(Instruction(len(self.code), path, last, column, section, op, name, operand or link))
        self.frames = self.frames or (0,)
        return path

    def step(self) -> Effect:
        """Run the next instruction."""
        self.past.append((self.frames, self.variables))
        *callers, at = self.frames
        self.frames = (*callers, at + 1)
        try:
            return self._run(self.code[at])
        except ValueError as error:
            self.frames, self.exit_code = (), 1
            return Effect(f"{error}\n", "stderr")

    def step_back(self) -> Effect:
        """Undo the last step, if there was one."""
        if self.past:
            self.frames, self.variables = self.past.pop()
        return Effect()

    def evaluate(self, expression: str) -> Value:
        """Work out names, numbers, texts, lists, sums and comparisons."""
        try:
            return self._value(ast.parse(expression.strip(), mode="eval").body)
        except (SyntaxError, TypeError) as error:
            raise ValueError(f"cannot work out {expression!r}: {error}") from None

    def assign(self, name: str, value: Value) -> None:
        """Set a variable."""
        self.variables = {**self.variables, name: value}

    def _run(self, here: Instruction) -> Effect:
        match here.op:
            case "set":
                self.assign(here.name, self.evaluate(here.operand))
                return Effect(written=here.name)
            case "say" | "warn":
                return Effect(f"{self.evaluate(here.operand)}\n", "stdout" if here.op == "say" else "stderr")
            case "wait":
                return Effect(seconds=float(here.operand))
            case "raise":
                raise ValueError(f"uncaught {here.operand}")
            case "call":
                file, section = here.operand.split("#")
                path = here.path.parent / file if file else here.path
                loaded = None if any(it.path == path for it in self.code) else self.load(path)
                start = next((it.address for it in self.code if (it.path, it.section) == (path, section)), None)
                if start is None:
                    raise ValueError(f"{path.name} has no section {section}")
                self.frames = (*self.frames, start)
                return Effect(loaded=loaded)
            case _:
                self.frames = self.frames[:-1]
                return Effect()

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(int() | str() as value):
                return value
            case ast.Name(name) if name in self.variables:
                return self.variables[name]
            case ast.List(items):
                return [self._value(item) for item in items]
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if type(op) in _OPS:
                return _OPS[type(op)](self._value(left), self._value(right))
        raise ValueError(f"there is no {ast.unparse(node)}")
