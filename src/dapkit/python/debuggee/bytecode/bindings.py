"""Which instructions of a function bind or delete a variable, and which names a line has."""

from types import CodeType

from .instructions import Instruction, instructions


def binding_offsets(code: CodeType, name: str, line: int | None = None) -> list[int]:
    """Return the offsets of such instructions, in the whole function or in one of its lines."""
    rows = instructions(code) if line is None else _instructions_of_line(code, line)
    return [offset for offset, operation, argument in rows if name in _bound_by(code, operation, argument)]


def names_on_line(code: CodeType, line: int) -> set[str]:
    """Return the variables and attributes that a line reads, binds or deletes."""
    return {
        name
        for _, operation, argument in _instructions_of_line(code, line)
        for name in _named_by(code, operation, argument)
    }


def _instructions_of_line(code: CodeType, line: int) -> list[Instruction]:
    ranges = [(start, end) for start, end, number in code.co_lines() if number == line]
    return [row for row in instructions(code) if any(start <= row[0] < end for start, end in ranges)]


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


_GLOBAL_OR_ATTRIBUTE = ("NAME", "GLOBAL", "ATTR")


def _named_by(code: CodeType, operation: str, argument: int) -> tuple[str, ...]:
    words = operation.split("_")
    if words[0] not in ("LOAD", "STORE", "DELETE"):
        return ()
    if words[1] in _GLOBAL_OR_ATTRIBUTE:  # the lowest bit of two of them belongs to the call that follows
        return (code.co_names[argument >> 1 if operation in ("LOAD_GLOBAL", "LOAD_ATTR") else argument],)
    if words[1] not in ("FAST", "DEREF"):
        return ()
    indexes = (argument >> 4, argument & 15) if words.count("FAST") == 2 else (argument,)
    return tuple(code._varname_from_oparg(index) for index in indexes)  # type: ignore[attr-defined]  # as dis does
