"""Failures of actions as a caller gets them: a stable code, a text, and a hint.

invalid_arguments     a parameter is missing, unknown or wrong
no_session            there is no session, or it is not clear which one is meant
not_stopped           the action needs a stopped program
unsupported           the adapter cannot do this
adapter_unavailable   no adapter fits, or the one that does is not installed
stale_reference       a frame, value or source of an earlier stop
timeout               an answer did not come in time
adapter_failed        the adapter refused the request, or is gone
refused               the caller may only read
disabled              the debug tool is switched off
internal              an internal error of dapkit
"""

from typing import Literal

from dapkit.system.coded_error import CodedError

type Code = Literal[
    "invalid_arguments",
    "no_session",
    "not_stopped",
    "unsupported",
    "adapter_unavailable",
    "stale_reference",
    "timeout",
    "adapter_failed",
    "refused",
    "disabled",
    "internal",
]


class ActionFailed(CodedError):  # noqa: N818 - the sentence reads right where it is raised
    """An action that could not be done."""

    code: Code

    def __init__(self, code: Code, text: str, *, hint: str = "") -> None:
        super().__init__(code, text, hint)


class InvalidArguments(ActionFailed):
    """A parameter is missing, unknown or wrong."""

    def __init__(self, text: str, *, hint: str = "") -> None:
        super().__init__("invalid_arguments", text, hint=hint)


class Unsupported(ActionFailed):
    """The adapter has no such ability.

    Attributes:
        capability: the capability that the adapter would have to announce.

    """

    def __init__(self, what: str, capability: str) -> None:
        super().__init__("unsupported", f"Current adapter does not support {what}", hint=f"It lacks {capability}.")
        self.capability = capability
