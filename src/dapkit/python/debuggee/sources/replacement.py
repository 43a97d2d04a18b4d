"""Taking a saved text into a module that is loaded: functions get the code that it has for them now.

No code of the program is executed for that, so parts that only execution can make are left out and reported: classes,
imports, constants, decorated functions, computed default values. Frames that run go on in the code they have; the next
call is in the new one.

Functions are those that see the module's variables, wherever they are kept: decorated ones, methods,
closures. The qualified name decides which code is theirs; of several of one name (a property and its
setter), and of functions inside a function, by the order in the text.
"""

import _ast
import gc
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any, Final

from ..interpreter.safe_types import is_a
from ..interpreter.thread_frames import all_frames
from .compilation import compiled, with_nested
from .defaults import NotPlain, Signature, signatures

type Namespace = dict[str, Any]

_IN_FUNCTION: Final = "<locals>"
_CLASS: Final = ("__class__",)
"""The variables that a method uses which says `super()`."""
_SAME: Final = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_exceptiontable")


class ReplacementReport:
    """The outcome for a text.

    Attributes:
        changed: functions that do something else now.
        added: functions that are new.
        left: the parts that were not taken over, and why.

    """

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.added: list[str] = []
        self.left: dict[str, str] = {}


def replace(namespace: Namespace, text: bytes, is_its_file: Callable[[str], bool], outcome: ReplacementReport) -> None:
    """Give the functions of a module the code of a new text.

    Raises:
        SyntaxError: the text is not valid Python; or ValueError, RecursionError or MemoryError.

    """
    functions = [
        referrer
        for referrer in gc.get_referrers(namespace)  # functions refer to their module's variables
        if type(referrer) is FunctionType
        and referrer.__globals__ is namespace
        and is_its_file(referrer.__code__.co_filename)
    ]
    filename = functions[0].__code__.co_filename if functions else str(namespace.get("__file__"))
    tree = compiled(text, flags=_ast.PyCF_ONLY_AST)
    module = compiled(text, place=filename)
    signatures_now = signatures(tree)
    _add_new(namespace, module, signatures_now, outcome)
    twins = _twins([function.__code__ for function in functions], module)
    for function in sorted(functions, key=lambda function: function.__code__.co_firstlineno):
        code = twins.get(id(function.__code__))
        if code is not None and code != function.__code__:
            _renew(function, code, signatures_now.get((code.co_name, code.co_firstlineno)), outcome)
    if not _is_running(namespace):  # else the names may come yet
        for name in _names_made(tree):
            if name not in namespace:
                outcome.left.setdefault(name, "it is made by code that was not run again")


def _twins(old: list[CodeType], module: CodeType) -> dict[int, CodeType]:
    """Find the new code for old code objects, by id."""
    new: dict[str, list[CodeType]] = {}
    for code in with_nested(module)[1:]:
        if _IN_FUNCTION not in code.co_qualname:
            new.setdefault(code.co_qualname, []).append(code)
    groups: dict[str, dict[int, CodeType]] = {}
    for code in old:
        if _IN_FUNCTION not in code.co_qualname:
            groups.setdefault(code.co_qualname, {})[id(code)] = code
    twins: dict[int, CodeType] = {}
    for name, group in groups.items():
        before = sorted(group.values(), key=lambda code: code.co_firstlineno)
        after = sorted(new.get(name, []), key=lambda code: code.co_firstlineno)
        if name != "<lambda>" and (len(after) == len(before) or len(after) == 1):
            for at, code in enumerate(before):
                _pair(code, after[at] if len(after) > 1 else after[0], twins)
    return twins


def _pair(old: CodeType, new: CodeType, twins: dict[int, CodeType]) -> None:
    """Note that one code object takes the place of another, and the same for the code objects inside them."""
    twins[id(old)] = new
    inside = _inside(new)
    for name, before in _inside(old).items():
        after = inside.get(name, [])
        if len(after) == len(before):
            for mine, other in zip(before, after, strict=True):
                _pair(mine, other, twins)


def _inside(code: CodeType) -> dict[str, list[CodeType]]:
    by_name: dict[str, list[CodeType]] = {}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            by_name.setdefault(part.co_name, []).append(part)
    return by_name


def _renew(function: FunctionType, code: CodeType, signature: Signature | None, outcome: ReplacementReport) -> None:
    name = code.co_qualname
    if code.co_freevars != function.__code__.co_freevars:
        if name not in outcome.changed:
            outcome.left[name] = "it uses other variables of the functions around it"
        return
    try:
        if signature is not None:
            positional, keyword_defaults = signature.values(function)
            function.__defaults__, function.__kwdefaults__ = positional, keyword_defaults
    except NotPlain as problem:
        outcome.left[name] = str(problem)
        return
    if not _alike(function.__code__, code) and name not in outcome.changed:
        outcome.changed.append(name)
    function.__code__ = code


def _alike(code: CodeType, other: CodeType) -> bool:
    """Return whether two code objects do the same, wherever in the text they are."""
    if any(getattr(code, field) != getattr(other, field) for field in _SAME):
        return False
    if len(code.co_consts) != len(other.co_consts):
        return False
    return all(
        _alike(mine, its)
        if isinstance(mine, CodeType) and isinstance(its, CodeType)
        else type(mine) is type(its) and mine == its
        for mine, its in zip(code.co_consts, other.co_consts, strict=True)
    )


# New parts


def _add_new(
    namespace: Namespace, module: CodeType, signatures_now: dict[tuple[str, int], Signature], outcome: ReplacementReport
) -> None:
    for code in _parts(module):
        signature = signatures_now.get((code.co_name, code.co_firstlineno))
        if signature is not None and code.co_name not in namespace and not signature.is_decorated:
            function = _made(code, namespace, signature, None, outcome)
            if function is not None:
                namespace[code.co_name] = function
                outcome.added.append(code.co_name)
        elif signature is None and is_a(namespace.get(code.co_name), type):
            _add_methods(namespace, namespace[code.co_name], code, signatures_now, outcome)


def _add_methods(
    namespace: Namespace,
    kind: type,
    body: CodeType,
    signatures_now: dict[tuple[str, int], Signature],
    outcome: ReplacementReport,
) -> None:
    own = type.__dict__["__dict__"].__get__(kind)
    if own.get("__module__") != namespace.get("__name__"):
        return  # a class of this name that comes from elsewhere
    for code in _parts(body):
        signature = signatures_now.get((code.co_name, code.co_firstlineno))
        name = _mangled(code.co_name, body.co_name)
        present = own.get(name)
        if signature is None or (name in own and not _lacks_class(present, code)):
            continue
        if signature.is_decorated:
            outcome.left[code.co_qualname] = "its decorators were not run"
            continue
        function = _made(code, namespace, signature, kind, outcome, present=present)
        if function is not None:
            type.__setattr__(kind, name, function)
            (outcome.added if present is None else outcome.changed).append(code.co_qualname)


def _lacks_class(present: object, code: CodeType) -> bool:
    """Return whether a method lacks the cell that its new code needs for `super()`: it must become another function."""
    return type(present) is FunctionType and not present.__code__.co_freevars and code.co_freevars == _CLASS


def _is_running(namespace: Namespace) -> bool:
    """Return whether the top level of a module is being executed: the main module's nearly always is."""
    return any(frame.f_globals is namespace and frame.f_code.co_name == "<module>" for frame in all_frames())


def _names_made(tree: Any) -> list[str]:  # noqa: ANN401 - of `_ast`
    """Return the names that a module makes in any case: not those below an `if` or a `try`."""
    names: list[str] = []
    for statement in tree.body:
        match statement:
            case _ast.FunctionDef() | _ast.AsyncFunctionDef() | _ast.ClassDef():
                names.append(statement.name)
            case _ast.Import() | _ast.ImportFrom():
                names += [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
            case _ast.Assign():
                names += [target.id for target in statement.targets if isinstance(target, _ast.Name)]
            case _ast.AnnAssign(target=_ast.Name(id=name), value=_ast.expr()):
                names.append(name)
    return [name for name in dict.fromkeys(names) if name != "*"]


def _parts(code: CodeType) -> Iterator[CodeType]:
    return (part for part in code.co_consts if isinstance(part, CodeType))


def _made(
    code: CodeType,
    namespace: Namespace,
    signature: Signature,
    kind: type | None,
    outcome: ReplacementReport,
    *,
    present: FunctionType | None = None,
) -> FunctionType | None:
    if code.co_freevars not in ((), _CLASS) or (code.co_freevars and kind is None):
        outcome.left[code.co_qualname] = "it uses variables of the functions around it"
        return None
    closure = (CellType(kind),) if code.co_freevars else None
    try:
        positional, keyword_defaults = signature.values(present)
    except NotPlain as problem:
        outcome.left[code.co_qualname] = str(problem)
        return None
    function = FunctionType(code, namespace, code.co_name, positional, closure)
    function.__kwdefaults__ = keyword_defaults
    return function


def _mangled(name: str, of: str) -> str:
    """Return the name under which a class keeps a private method."""
    if not name.startswith("__") or name.endswith("__") or not of.strip("_"):
        return name
    return f"_{of.lstrip('_')}{name}"
