"""How values of a program's own classes are shown while it is debugged.

    import dapkit

    @dapkit.present("shop.money.Money")
    def show(money):
        return f"{money.amount} {money.currency}", {"amount": money.amount, "rate()": money.fetch_rate}

The function gets a value of the class, or of one derived from it. It returns a text; the contents, as a dict by name or
as a list; or both, as a pair. An entry whose name ends in `()` is a function, called when a client opens the entry.
Without a debugger nothing is ever called.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any  # takes milliseconds

PRESENTERS: "dict[str, Callable[[Any], object]]" = {}
"""The functions by the full names of classes; the engine looks here."""


def present[Function](kind: type | str) -> "Callable[[Function], Function]":
    """Return a decorator for the function that shows values of a class, which a name stands for as well as itself."""
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"

    def register(function: Function) -> Function:
        PRESENTERS[name] = function  # type: ignore[assignment]  # anything else is reported when it is called
        return function

    return register
