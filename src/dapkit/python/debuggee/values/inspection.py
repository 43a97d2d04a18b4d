"""Variables of a running program, in a namespace of its own choice, in the form of `variables`.

The calling thread reads the values, and runs the code of their `repr`; no session and no stop is needed. The values may
change meanwhile.
"""

import _thread

from ..connection.framing import Json
from ..evaluation.guard import EvaluationGuard
from ..interpreter import limits
from .members import namespace_rows
from .memory import MemoryReferences
from .references import ObjectReferences
from .variables import VariableContainer, VariableReader


class Inspection:
    """A look at a namespace, whose numbers are good as long as it exists."""

    def __init__(self, names: dict[str, object]) -> None:
        references = ObjectReferences()
        references.begin()
        self._names = names
        self._reader = VariableReader(references, MemoryReferences(references))

    def variables(self, arguments: Json) -> list[Json]:
        """Return the variables for the arguments of a request; without a reference, the variables of the namespace.

        Raises:
            RequestRefused: the reference is not of this inspection.

        """
        guard = EvaluationGuard(limits.PAGE_SECONDS)
        guard.begin()
        try:
            if arguments.get("variablesReference"):
                inside = self._reader.inside(arguments["variablesReference"])
                rows = self._reader.page(inside, arguments, guard)
            else:
                inside = VariableContainer(_thread.get_ident(), None)
                rows = namespace_rows(self._names)
            return [self._reader.variable(row, inside, guard) for row in rows]
        finally:
            guard.end()
