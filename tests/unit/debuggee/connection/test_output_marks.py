"""Where log messages belong in the output: which pipes are marked, and which mark a message is behind."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from dapkit.python.adapter.engine.marked_output import STDERR, STDOUT, OutputMemory
from dapkit.python.debuggee.connection.output_marks import MARK_BEGINS
from dapkit.python.debuggee.interpreter import native

PROGRAM = """
import json, os, sys
from dapkit.python.debuggee.connection.output_marks import OutputMarks

pipes, memory = json.loads(sys.argv[1])
marks = OutputMarks()
marks.begin([tuple(pipe) for pipe in pipes], memory=memory and (memory[0], tuple(memory[1:])))
messages = []
for line in sys.stdin:
    exec(line)
    print(json.dumps([message[2:] for message in messages]), file=answers, flush=True)
"""


def mark(number: int) -> bytes:
    return f"{MARK_BEGINS}{number}\0".encode()


class Program:
    """A program whose stdout and stderr are pipes of this process, and which does what it is told line by line."""

    def __init__(self, memory: OutputMemory | None) -> None:
        self.memory = memory
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        answers, answers_end = os.pipe()
        self.ends = {STDOUT: out, STDERR: err}
        self.answers = os.fdopen(answers)
        identities = [[os.fstat(end).st_dev, os.fstat(end).st_ino] for end in (out, err)]
        code = f"import os; answers = os.fdopen({answers_end}, 'w')\n{PROGRAM}"
        asked = json.dumps([identities, memory and memory.place()])
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, asked],
            stdin=subprocess.PIPE,
            stdout=out_end,
            stderr=err_end,
            pass_fds=[answers_end],
            text=True,
        )
        for end in (out_end, err_end, answers_end):
            os.close(end)
        self.seen = 0

    def do(self, line: str) -> list[list[int]]:
        """Have it do something; return number and marks of each message that it added."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        messages: list[list[int]] = json.loads(self.answers.readline())
        added, self.seen = messages[self.seen :], len(messages)
        return added

    def log(self, times: int = 1) -> list[list[int]]:
        """Have it add messages."""
        return self.do(f"for _ in range({times}): marks.add(messages, '', {{}})")

    def read(self, pipe: int) -> bytes:
        """Read what it has written, as the adapter does."""
        assert self.memory is not None
        return self.memory.read(pipe, self.ends[pipe], 1 << 16)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        self.answers.close()
        for end in self.ends.values():
            os.close(end)
        if self.memory is not None:
            self.memory.close()


@pytest.fixture
def program() -> Iterator[Program]:
    if not native.AVAILABLE:
        pytest.skip("without the extension each message is marked")
    memory = OutputMemory.made()
    assert memory is not None
    program = Program(memory)
    yield program
    program.close()


def test_messages_before_any_output_are_behind_the_beginning(program: Program) -> None:
    assert program.log(3) == [[1, 0, 0], [2, 0, 0], [3, 0, 0]]
    assert program.memory is not None
    assert program.memory.messages == 3


def test_pipe_is_marked_once_after_each_output(program: Program) -> None:
    program.do("os.write(1, b'a')")
    assert program.log(3) == [[1, 1, 0], [2, 1, 0], [3, 1, 0]]
    program.do("os.write(2, b'b')")
    assert program.log(2) == [[4, 1, 4], [5, 1, 4]]
    program.do("os.write(1, b'c')")
    program.do("os.write(2, b'd')")
    assert program.log(2) == [[6, 6, 6], [7, 6, 6]]
    assert program.read(STDOUT) == b"a" + mark(1) + b"c" + mark(6)
    assert program.read(STDERR) == b"b" + mark(4) + b"d" + mark(6)


def test_reading_makes_no_mark_necessary(program: Program) -> None:
    program.do("os.write(1, b'a')")
    assert program.log() == [[1, 1, 0]]
    assert program.read(STDOUT) == b"a" + mark(1)
    assert program.log() == [[2, 1, 0]]


def test_output_of_the_size_of_what_was_read_is_seen(program: Program) -> None:
    program.do("os.write(1, b'a')")
    assert program.log() == [[1, 1, 0]]
    read = program.read(STDOUT)
    program.do(f"os.write(1, {read!r})")
    assert program.log() == [[2, 2, 0]]


def test_output_of_children_is_seen(program: Program) -> None:
    program.do("import subprocess; subprocess.run(['echo', 'a'])")
    assert program.log(2) == [[1, 1, 0], [2, 1, 0]]


def test_pipe_is_marked_for_each_message_while_the_adapter_reads(program: Program) -> None:
    assert program.memory is not None
    inside: list[list[int]] = []

    class Pause:
        def __index__(self) -> int:  # while the memory says that something is being read
            inside.extend(program.log(2))
            return 1 << 16

    program.do("os.write(1, b'a')")
    read = program.memory.read(STDOUT, program.ends[STDOUT], Pause())  # type: ignore[arg-type]  # an int for `os.read`
    assert inside == [[1, 1, 0], [2, 2, 0]]
    assert read == b"a" + mark(1) + mark(2)
    assert program.log(2) == [[3, 3, 0], [4, 3, 0]]


def test_descriptor_that_is_another_is_not_marked(program: Program) -> None:
    program.do("kept = os.dup(1); os.write(1, b'a'); ends = os.pipe(); os.dup2(ends[1], 1); os.write(1, b'elsewhere')")
    assert program.log() == [[1, 0, 0]]
    program.do("os.write(2, os.read(ends[0], 100)); os.dup2(kept, 1)")
    assert program.log() == [[2, 2, 2]]
    assert program.read(STDOUT) == b"a" + mark(2)
    assert program.read(STDERR) == b"elsewhere" + mark(2)


def test_descriptor_that_is_closed_or_full_is_not_marked(program: Program) -> None:
    program.do("os.set_blocking(1, False); os.write(1, bytes(1 << 20)); os.close(2)")
    assert program.log() == [[1, 0, 0]]


def test_without_memory_each_message_is_marked() -> None:
    program = Program(None)
    assert program.log(2) == [[1, 1, 1], [2, 2, 2]]
    program.do("os.close(2)")
    assert program.log() == [[3, 3, 0]]
    assert os.read(program.ends[STDOUT], 1000) == mark(1) + mark(2) + mark(3)
    program.close()


@pytest.mark.parametrize("place", [("/proc/self/nowhere", 1, 1), ("/proc/self/exe", 1, 1)])
def test_memory_that_is_not_the_adapters_is_not_used(place: tuple[str, int, int]) -> None:
    path, device, inode = place
    assert native.output_marker(path, (device, inode), [(1, 1), (1, 2)], b"begin") is None
