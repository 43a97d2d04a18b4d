"""The one error of diagnostics."""

from typing import Literal, get_args

from dapkit.hub import HubError

type OwnCode = Literal["no_terminal", "not_installed", "no_folder", "not_running", "not_possible", "tool_failed"]
"""A diagnostics command failed: a menu without a terminal; an extra or a program that is not installed.

A folder that cannot be used; a program that is stopped, has ended, or cannot be examined; a tool that has failed.
"""

OWN_CODES: frozenset[str] = frozenset(get_args(OwnCode.__value__))


class DiagnosticsError(Exception):
    """Something that could not be found out, or done.

    Attributes:
        code: a stable word for programs: one of `OWN_CODES`, or the code of an action or of the hub.
        hint: what to do next; may be empty.

    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint

    def __str__(self) -> str:
        """Message and hint as one text."""
        return f"{self.args[0]}\n{self.hint}" if self.hint else str(self.args[0])

    @classmethod
    def of_hub(cls, error: HubError) -> "DiagnosticsError":
        """Make one of an error of the way to the hub."""
        return cls(error.code, str(error.args[0]), error.hint)
