"""The base of errors that reach a caller as a code, a message and a hint."""


class CodedError(Exception):
    """Something that was not done.

    Attributes:
        code: a stable word for programs.
        hint: the next step; may be empty.

    """

    code: str

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint

    @property
    def message(self) -> str:
        """The message without the hint."""
        return str(self.args[0])

    def __str__(self) -> str:
        """Message and hint as one text."""
        return f"{self.message}\n{self.hint}" if self.hint else self.message
