"""The one error of diagnostics."""

from typing import Literal, get_args

from dapkit.hub import HubError
from dapkit.system.coded_error import CodedError

type OwnCode = Literal["no_terminal", "not_installed", "no_folder", "not_running", "not_possible", "tool_failed"]
"""A diagnostics command failed: a menu without a terminal; an extra or a program that is not installed.

A folder that cannot be used; a program that is stopped, has ended, or cannot be examined; a tool that has failed.
"""

OWN_CODES: frozenset[str] = frozenset(get_args(OwnCode.__value__))


class DiagnosticsError(CodedError):
    """Something that could not be found out, or done; its code is one of `OWN_CODES`, of an action, or of the hub."""

    @classmethod
    def of_hub(cls, error: HubError) -> "DiagnosticsError":
        """Make one of an error of the way to the hub."""
        return cls(error.code, error.message, error.hint)
