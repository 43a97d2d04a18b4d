"""A machine that runs Markdown: the program that the mock adapter debugs. It knows nothing of debuggers.

Code spans are statements: `name = expression`, `say expression`, `warn expression`, `wait seconds` and
`raise Name`. A link such as `[pay](#paying)` or `[pay](shop.md#paying)` calls a section; a file is loaded
when it is first called. All else is prose. A program begins at the top of its file.
"""

import ast
import operator
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

type Value = int | str | list["Value"]

_CODE = re.compile(r"`(?:([a-z_]\w*) = |(say|warn|wait|raise) )([^`]+)`|\]\(([^)]*#[^)]+)\)")
_SUMS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_OPERATORS: Mapping[Any, Any] = {**_SUMS, ast.Eq: operator.eq, ast.Lt: operator.lt, ast.Gt: operator.gt}


class MachineError(Exception):
    """Something that the machine cannot do, said for people."""


class Instruction(NamedTuple):
    """One statement, call or return. Its address is its index in the code."""

    address: int
    path: Path
    line: int
    column: int
    op: str
    name: str
    operand: str


class Frame(NamedTuple):
    """A section that runs; `at` is the address of its next instruction."""

    section: str
    at: int


class Effect(NamedTuple):
    """What one step did that others may care about."""

    output: str = ""
    category: str = "stdout"
    seconds: float = 0
    written: str = ""
    loaded: Path | None = None


class Machine:
    """A program in the middle of its run; the innermost frame is the last. It remembers all states, to go back."""

    def __init__(self, program: Path) -> None:
        self.code: list[Instruction] = []
        self.files: list[Path] = []
        self.frames: tuple[Frame, ...] = (Frame("main", 0),)
        self.variables: Mapping[str, Value] = {}
        self.exit_code = 0
        self._sections: dict[tuple[Path, str], int] = {}
        self._past: list[tuple[tuple[Frame, ...], Mapping[str, Value]]] = []
        self._load(program)

    @property
    def here(self) -> Instruction | None:
        """The next instruction; None once the program has ended."""
        return self.code[self.frames[-1].at] if self.frames else None

    def at(self, address: int) -> Instruction | None:
        """Look up an instruction by its address."""
        return self.code[address] if 0 <= address < len(self.code) else None

    def find(self, path: Path, line: int, column: int = 0) -> Instruction | None:
        """Look for the first instruction at a place or behind it."""
        return next((it for it in self.code if it.path == path and (it.line, it.column) >= (line, column)), None)

    def step(self) -> Effect:
        """Run the next instruction."""
        self._past.append((self.frames, self.variables))
        *callers, (section, at) = self.frames
        self.frames = (*callers, Frame(section, at + 1))
        try:
            return self._run(self.code[at])
        except MachineError as error:
            return self._crash(str(error))

    def step_back(self) -> bool:
        """Undo the last step; False at the beginning."""
        if not self._past:
            return False
        self.frames, self.variables = self._past.pop()
        return True

    def evaluate(self, expression: str) -> Value:
        """Work out names, numbers, texts, lists, sums and comparisons."""
        try:
            return self._value(ast.parse(expression.strip(), mode="eval").body)
        except (SyntaxError, TypeError) as error:
            raise MachineError(f"cannot work out {expression!r}: {error}") from None

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
                return self._crash(f"uncaught {here.operand}")
            case "call":
                return self._call(here.path, *here.operand.split("#"))
            case _:
                self.frames = self.frames[:-1]
                return Effect()

    def _call(self, caller: Path, file: str, section: str) -> Effect:
        path = caller.parent / file if file else caller
        is_new = path not in self.files
        if is_new:
            self._load(path)
        if (path, section) not in self._sections:
            raise MachineError(f"{path.name} has no section {section}")
        self.frames = (*self.frames, Frame(section, self._sections[path, section]))
        return Effect(loaded=path if is_new else None)

    def _crash(self, text: str) -> Effect:
        self.frames, self.exit_code = (), 1
        return Effect(f"{text}\n", "stderr")

    def _load(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise MachineError(f"cannot read {path}: {error.strerror}") from None
        self.files.append(path)
        first, last = len(self.code), 1
        for number, text in enumerate([*lines, "# end"], 1):
            if text.startswith("#"):
                if number > len(lines) or len(self.code) > first:
                    self.code.append(Instruction(len(self.code), path, last, 1000, "return", "", ""))
                self._sections[path, text.lstrip("# ").lower().replace(" ", "-")] = len(self.code)
            for found in _CODE.finditer(text):
                name, op, operand, link = found.groups("")
                op, last = op or ("call" if link else "set"), number
                self.code.append(Instruction(len(self.code), path, last, found.start() + 1, op, name, operand or link))

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(int() | str() as value):
                return value
            case ast.Name(name) if name in self.variables:
                return self.variables[name]
            case ast.List(items):
                return [self._value(item) for item in items]
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if type(op) in _OPERATORS:
                result: Value = _OPERATORS[type(op)](self._value(left), self._value(right))
                return result
        raise MachineError(f"there is no {ast.unparse(node)}")
