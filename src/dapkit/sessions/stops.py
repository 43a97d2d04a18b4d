"""States of a program as values: its stops, and the outcome of resuming it."""

from dataclasses import dataclass
from typing import Literal

from dapkit.protocol import StackFrame

type How = Literal["continue", "next", "step_in", "step_out", "step_back", "reverse_continue"]
"""The ways to resume a stopped program."""

_HARMLESS_SIGNALS = frozenset({"SIGSTOP", "SIGTRAP", "SIGINT", "SIGCONT"})
"""Signals by which debuggers stop a program."""

type Status = Literal["launching", "configuring", "stopped", "running", "terminated"]
"""The state of a session, in one word."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the program.

    Attributes:
        number: counts the stops of the session from 1, including children and restarts.
        reason: the adapter's word: `breakpoint`, `step`, `exception`, `entry`, `pause`, ...
        description: the reason for people, if the adapter gave one.
        signal: name of the signal at which it stopped, unless that was to pause it.
        at_panic_function: whether it is the stop of dapkit's own at a panic of Rust; the adapter knows no exception.
        text: more about it, such as the message of an exception.
        target: which session of the tree is stopped: 0 is the program itself, others are its children.
        thread_id: the thread that stopped; None if the adapter named none.
        frame: which of the frames the stop is about: the innermost of the user's own code where the program was
            interrupted or broke off, such as by an exception or a signal; else the top one.
        outermost: the last frame of the user's own code, where the stack was read for it.
        frame_id: reference of that frame, for requests of this session; None if there is no frame.
        path: the file, or the name of a source without one.
        instruction_pointer: address of the instruction, if the adapter reports it.
        hit_breakpoints: numbers of the session's breakpoints that were hit.
        all_threads_stopped: whether every thread of that target is stopped.
        remarks: dapkit's remarks about this stop, such as a condition that could not be evaluated.
        frames: the top of the stack, at most `limits.STOP_FRAMES` or `limits.OWN_FRAMES`, with references of this
            session; None if the adapter did not report it in time.
        total_frames: the depth of the whole stack, if the adapter reported it.

    """

    number: int
    reason: str
    target: int = 0
    description: str | None = None
    signal: str | None = None
    at_panic_function: bool = False
    text: str | None = None
    thread_id: int | None = None
    thread_name: str | None = None
    frame: int = 0
    outermost: int | None = None
    frame_id: int | None = None
    frame_name: str | None = None
    path: str | None = None
    line: int | None = None
    column: int | None = None
    instruction_pointer: str | None = None
    hit_breakpoints: tuple[int, ...] = ()
    all_threads_stopped: bool = False
    remarks: tuple[str, ...] = ()
    frames: tuple[StackFrame, ...] | None = None
    total_frames: int | None = None

    @property
    def breaks_off(self) -> bool:
        """Whether it is at an exception, a panic, or a signal by which no debugger stops a program."""
        is_signal = self.signal is not None and self.signal not in _HARMLESS_SIGNALS
        return is_signal or self.at_panic_function or self.reason == "exception"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of resuming the program, or of waiting for it.

    Attributes:
        state: the present state of the program.
        timed_out: whether the deadline came first; the program keeps running then.
        stop: where it is stopped, if it is.
        exit_code: of a program that has ended, if the adapter reported it.
        failure: why the session broke off, if it did: the adapter died, say.

    """

    state: Literal["stopped", "running", "terminated"]
    timed_out: bool = False
    stop: Stop | None = None
    exit_code: int | None = None
    failure: str | None = None
