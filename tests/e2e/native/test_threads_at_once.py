"""What the extension keeps, used by eight threads: at the same time where there is no GIL, in turns elsewhere."""

from textwrap import dedent

import pytest

from e2e.native.conftest import Run

pytestmark = [pytest.mark.each_python, pytest.mark.usefixtures("needs_extension")]

THREADS = """
import sys, threading
def at_once(work, threads=8):
    ready, errors = threading.Barrier(threads), []
    def run(number):
        ready.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)
    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors, errors
def code():
    pass
code = code.__code__
"""


def test_extension_leaves_the_gil_off(run: Run) -> None:
    assert run("print(native.IS_FREE_THREADED and sys._is_gil_enabled())") == "False"


def test_every_hit_is_counted_once(run: Run) -> None:
    program = """
        count, hits = native.counter(), []
        check = native.line_check(
            code, 1, condition=None, hits=("==", 700_000), count=count, hit=lambda *_: hits.append(1), careful=print
        )
        def work(number):
            for _ in range(100_000):
                check(code, 1)
        at_once(work)
        print(count(), len(hits))
    """
    assert run(THREADS + dedent(program)) == "800001 1"


def test_each_line_leads_to_its_own_breakpoint(run: Run) -> None:
    program = """
        def callback_of(line):
            return lambda code, at: line
        route = native.router({line: (code, callback_of(line)) for line in range(1, 9)})
        def work(number):
            for _ in range(100_000):
                assert route(code, number + 1) == number + 1
        at_once(work)
        print("done")
    """
    assert run(THREADS + dedent(program)) == "done"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "write"),
    [
        ("('index', items, 0)", "items[0] = object()"),
        ("('key', names, 'x')", "names['x'] = object()"),
        ("('slot', slots, Slots.x)", "slots.x = object()"),
        ("('bytes', buffer, 0, 8)", "buffer[:] = next(numbers).to_bytes(8)"),
    ],
    ids=["index", "key", "slot", "bytes"],
)
def test_each_change_is_reported_by_one_thread(run: Run, target: str, write: str) -> None:
    program = f"""
        import itertools
        class Slots:
            __slots__ = ("x",)
        items, names, slots, buffer, numbers = [None], {{"x": None}}, Slots(), bytearray(8), itertools.count(1)
        slots.x = None
        changes = []
        poll = native.poll(({target},), lambda code, line, seen: changes.extend(seen))
        def work(number):
            for _ in range(30_000):
                if number == 0:
                    {write}
                poll(code, 1)
        at_once(work)
        befores, afters = ([change[place] for change in changes] for place in (1, 2))
        print(bool(changes), len(set(befores)) == len(befores), len(set(afters)) == len(afters))
    """
    assert run(THREADS + dedent(program)) == "True True True"


def test_notes_of_exceptions_are_made_and_forgotten_while_others_follow_them(run: Run) -> None:
    program = """
        CATCHES = 1
        def raising(number):
            frame, error = sys._getframe(), ValueError()
            guard = (False, "ValueError", None, False, ValueError)
            native.note_place(frame.f_code, number, ValueError, CATCHES, False, (guard,))
            return native.unknown_from(frame, number, error) in (None, frame)
        def work(number):
            for turn in range(30_000):
                assert raising(turn % 50 + number)
                if turn % 100 == number:
                    native.forget_places()
        at_once(work)
        print("done")
    """
    assert run(THREADS + dedent(program)) == "done"


def test_last_of_the_exceptions_that_are_counted_is_asked_about_once(run: Run) -> None:
    program = """
        CATCHES, asked = 1, []
        on_raise = native.raise_callback("RAISE", lambda *_: asked.append(1), set())
        on_raise.count = 70_000
        def work(number):
            frame, error = sys._getframe(), ValueError()
            native.note_place(frame.f_code, 7, ValueError, CATCHES, False, ())
            for _ in range(10_000):
                on_raise(frame.f_code, 7, error)
        at_once(work)
        print(on_raise.count, len(asked))
    """
    assert run(THREADS + dedent(program)) == "0 1"


@pytest.mark.parametrize("by_code", [False, True])
def test_exceptions_are_followed_while_threads_forget_what_is_noted_of_them(run: Run, *, by_code: bool) -> None:
    program = f"""
        from _dapkit_debuggee.exceptions.handlers import NO, catches, swallows_from_below
        from _dapkit_debuggee.exceptions.catch_cache import CATCHES, PASSES, PASSING, CatchCache, origin_of
        known, monitoring, TOOL = CatchCache(), sys.monitoring, 4
        asked, EVENTS = [], monitoring.events
        def look(newest, offset, exception):
            generation, frame = known.generation, newest
            asked.append(generation)
            while frame is not None:
                at = offset if frame is newest else frame.f_lasti
                verdict, names = catches(frame, exception, at)
                outcome, swallows = PASSES if verdict == NO else CATCHES, swallows_from_below(frame.f_code, exception)
                kind = type(exception)
                known.note(frame.f_code, at, kind, outcome, generation=generation, names=names or (), swallows=swallows)
                if outcome == CATCHES:
                    return
                frame = frame.f_back
        def on_raise(code, offset, exception):
            known.note_raises(code, seen_later=False)
            look(sys._getframe(1), offset, exception)
        def on_unwind(code, offset, exception):
            frame = sys._getframe(1)
            if known.looks_late and origin_of(exception, frame) != PASSING:
                look(frame, offset, exception)
            if frame.f_back is not None:
                known.note_ordinary(frame.f_back.f_code, generation=known.generation)
        monitoring.use_tool_id(TOOL, "test")
        monitoring.register_callback(TOOL, EVENTS.RAISE, known.on_raise(on_raise))
        monitoring.register_callback(TOOL, EVENTS.RERAISE, known.on_reraise(on_raise))
        monitoring.register_callback(TOOL, EVENTS.PY_UNWIND, known.on_unwind(on_unwind))
        known.clear(deep=True)
        if {by_code}:
            known.watch_raises(by_code=True)
        monitoring.set_events(TOOL, EVENTS.RAISE | EVENTS.RERAISE | EVENTS.PY_UNWIND)
        def fail(kind):
            raise kind
        def clean_up(kind):
            try:
                fail(kind)
            finally:
                kind = None
        def catch(kind):
            try:
                clean_up(kind)
            except KeyError:
                return KeyError
            except ValueError:
                return ValueError
        def work(number):
            for turn in range(3_000):
                kind = KeyError if turn % 2 else ValueError
                assert catch(kind) is kind
                if turn % 500 == number:
                    known.clear()
        at_once(work)
        monitoring.set_events(TOOL, 0)
        print(0 < len(asked) < 8 * 3_000)
    """
    assert run(THREADS + dedent(program)) == "True"


def test_each_message_is_between_what_its_thread_wrote_before_and_after_it(run: Run) -> None:
    program = r"""
        import mmap, os, re
        def identity(descriptor):
            status = os.fstat(descriptor)
            return status.st_dev, status.st_ino
        memory = os.memfd_create("output")
        os.ftruncate(memory, 24)
        words = memoryview(mmap.mmap(memory, 24)).cast("Q")
        output, pipes = bytearray(), [os.pipe(), os.pipe()]
        terminal = os.dup(1)
        for descriptor, (_, end) in enumerate(pipes, 1):
            os.dup2(end, descriptor)
            os.close(end)
        def read(end):
            while True:
                read_before = words[0]
                words[0] = read_before | 1
                data = os.read(end, 100)
                words[0] = read_before + 2 * len(data)
                if not data:
                    return
                output.extend(data)
        path = f"/proc/self/fd/{memory}"
        marker, messages = native.output_marker(path, identity(memory), [identity(1), identity(2)], b"<"), []
        reader = threading.Thread(target=read, args=(pipes[0][0],))
        reader.start()
        def work(number):
            for turn in range(2_000):
                if turn % 3 == 0:
                    os.write(1, b"(%d.%d)" % (number, turn))
                marker(messages, (number, turn), {})
        at_once(work)
        numbers = [message[2] for message in messages]
        print(sorted(numbers) == list(range(1, 8 * 2_000 + 1)), words[2] == max(numbers), file=os.fdopen(terminal, "w"))
        os.close(1)
        reader.join()
        marks = {int(mark[1]): mark.start() for mark in re.finditer(rb"<(\d+)\0", bytes(output))}
        matches = re.finditer(rb"\((\d+)\.(\d+)\)", bytes(output))
        writes = {(int(write[1]), int(write[2])): write.start() for write in matches}
        marks[0] = -1
        for (number, turn), _, _, stdout, stderr in messages:
            assert writes[number, turn - turn % 3] < marks[stdout] < writes.get((number, turn - turn % 3 + 3), 1e9)
    """
    assert run(THREADS + dedent(program)) == "True True"
