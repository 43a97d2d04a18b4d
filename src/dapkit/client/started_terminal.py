"""The ends of a terminal that each system makes in its own way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from anyio.abc import ByteSendStream

from dapkit.transport.descriptors import DescriptorReader


@dataclass(frozen=True, slots=True)
class StartedTerminal:
    """A program that was started in a terminal.

    Attributes:
        pid: of the program.
        readers: its output, with the category of each.
        writer: takes the text that is typed.
        resize: changes the size of the window to so many rows and columns.
        leave: is called before the ends are closed, and with true if the program is to go on: other processes keep the
            terminal open then, or the program would be hung up.
        report: where the launcher says why it could not become the program, and nothing if it has.
        process: has the handle by which the number stays the program's on Windows.

    """

    pid: int
    readers: tuple[tuple[DescriptorReader, str], ...]
    writer: ByteSendStream
    resize: Callable[[int, int], None]
    leave: Callable[[bool], None]
    report: DescriptorReader | None = None
    process: object = None


def environment_of(changes: Mapping[str, str | None] | None, ours: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with changes; a variable whose value is null is taken out."""
    merged = {**ours, **(changes or {})}
    return {name: value for name, value in merged.items() if value is not None}
