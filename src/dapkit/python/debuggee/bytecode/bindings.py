"""Which instructions of a function bind or delete a local variable."""

from types import CodeType

from .instructions import instructions


def binding_offsets(code: CodeType, name: str, line: int | None = None) -> list[int]:
    """Return the offsets of such instructions, in the whole function or in one of its lines."""
    ranges = [] if line is None else [(start, end) for start, end, number in code.co_lines() if number == line]
    return [
        offset
        for offset, operation, argument in instructions(code)
        if name in _bound_by(code, operation, argument)
        and (line is None or any(start <= offset < end for start, end in ranges))
    ]


def binding_lines(code: CodeType, name: str) -> list[int]:
    """Return the lines with such instructions."""
    offsets = binding_offsets(code, name)
    return sorted({line for start, end, line in code.co_lines() if line and any(start <= at < end for at in offsets)})


def is_fast_local(code: CodeType, name: str) -> bool:
    """Return whether a name is a variable of a function that no other function can reach."""
    return name in code.co_varnames and name not in code.co_cellvars


def _bound_by(code: CodeType, operation: str, argument: int) -> tuple[str, ...]:
    if operation in ("STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL"):
        return (code.co_names[argument],)
    if operation in ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF"):
        return (code._varname_from_oparg(argument),)  # type: ignore[attr-defined]  # as dis does
    if operation == "STORE_FAST_STORE_FAST":
        return code.co_varnames[argument >> 4], code.co_varnames[argument & 15]
    if operation == "STORE_FAST_LOAD_FAST":
        return (code.co_varnames[argument >> 4],)
    return ()
