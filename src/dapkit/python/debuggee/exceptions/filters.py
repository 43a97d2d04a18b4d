"""The exception filters that a client can choose from, as the protocol describes them: data, which both halves read."""

from typing import Final

from ..connection.framing import Json

_CONDITION: Final[Json] = {
    "supportsCondition": True,
    "conditionDescription": "types (ValueError, not KeyError) or an expression (exc.errno == 2)",
}
RAISED_FILTER: Final = "raised"
UNCAUGHT_FILTER: Final = "uncaught"
USER_UNHANDLED_FILTER: Final = "userUnhandled"
FILTERS: Final[list[Json]] = [
    {
        "filter": RAISED_FILTER,
        "label": "Raised Exceptions",
        "default": False,
        "description": "Stop wherever an exception is raised.",
        **_CONDITION,
    },
    {
        "filter": UNCAUGHT_FILTER,
        "label": "Uncaught Exceptions",
        "default": True,
        "description": "Stop where an exception is raised that nothing will catch.",
        **_CONDITION,
    },
    {
        "filter": USER_UNHANDLED_FILTER,
        "label": "User Unhandled Exceptions",
        "default": False,
        "description": "Stop where an exception is raised that will leave the program's own code.",
        **_CONDITION,
    },
]
