"""The one error of diagnostics."""

from dapkit.hub import HubError


class DiagnosticsError(Exception):
    """Something that could not be found out, or done.

    Attributes:
        code: a stable word for programs.
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
