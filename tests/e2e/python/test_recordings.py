"""Recordings: a run of a program is kept by `dapkit record`, and executed again from the file, without the program."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

import dapkit
from dapkit.endpoint import RequestFailed
from dapkit.protocol import (
    OutputEvent,
    ReverseContinueArguments,
    SetVariableArguments,
    SourceArguments,
    StepBackArguments,
    StoppedEvent,
)
from dapkit.protocol.time_travel import TimelineBody
from dapkit.python.recording.file import PART_BYTES, unpack
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.library_with_thread import CALLER, make_library
from e2e.python.processes import computing, ended, output_of
from interpreters import interpreter

PROGRAMS = sorted(Path(__file__, "..", "travel", "programs").resolve().glob("*.py"))
VERSIONS = ("3.12", "3.13", "3.14", "3.15")
OF_PROGRAM = {"with_ctypes": "3.15"}
"""Its libffi is the newest."""

BY_ADDRESS = ("order_of_ids", "places", "weak_references")
"""They are about addresses of objects, which are not always the same, and so not compared."""
COUNTS = "s_counts"
"""Counts of the garbage collector, which are not the same."""

RUNS = 10
"""Of a program with threads, of which one at least has to be executed again whole."""

PRINT_STATE = r"""
import hashlib, re, sys
def print_state():
    for name, value in vars(sys.modules["__main__"]).items():
        if name[:2] == "s_":  # objects lie elsewhere when a recording is executed again
            text = re.sub(r"0x[0-9a-f]{8,}|\d{12,}", "#", repr(value))
            print("state of", name, hashlib.sha256(text.encode(errors="replace")).hexdigest(), flush=True)
print_state()
"""

DEADLINE = 60

ENTRY_BYTES = 24
"""Of a collection in the file of a recording."""


def record(
    folder: Path, *words: str, env: Mapping[str, str] | None = None, stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Have `dapkit record` run in a folder."""
    command = [sys.executable, "-m", "dapkit.cli", "record", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=DEADLINE * 2,
        check=False,
    )


async def open_recording(driver: AdapterClient, file: Path) -> StoppedEvent:
    """Execute a recording again, up to its first stop."""
    position = driver.session.position
    await driver.session.break_on_exceptions()
    await driver.session.launch({"replay": str(file), "cwd": str(driver.folder)})
    return await driver.session.wait_for(StoppedEvent, since=position)


def with_other_facts(file: Path, **facts: object) -> Path:
    """Return a copy of a recording whose description has other facts."""
    altered = file.parent / "altered.dapkit"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(altered, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "recording.json":
                content = json.dumps({**json.loads(content), **facts}).encode()
            new.writestr(name, content)
    return altered


def written(driver: AdapterClient) -> str:
    """Return what the program has written to its standard output."""
    return "".join(event.output for event in driver.told(OutputEvent) if event.category == "stdout")


def state_in(text: str) -> list[str]:
    """Return what a program has printed of its state: what threads write at once may come in another order."""
    lines = [line for line in text.splitlines() if line.startswith("state of ")]
    return [line for line in lines if line.split()[2] != COUNTS]


def said(driver: AdapterClient) -> str:
    """Return what the adapter has remarked."""
    return "".join(
        event.output for event in driver.told(OutputEvent) if event.category not in ("stdout", "stderr", "telemetry")
    )


def record_with_buffer(folder: Path, python: str, program: str, *, is_file: bool) -> None:
    """Record a program whose output is written when its buffer is full, into a file or not."""
    words = [sys.executable, "-m", "dapkit.cli", "record", "-o", "run.dapkit", python, program]
    with (folder / "output.txt").open("w") as file:
        stdout = file if is_file else subprocess.DEVNULL
        environment = {**os.environ, "PYTHONUNBUFFERED": ""}
        subprocess.run(words, cwd=folder, env=environment, stdout=stdout, check=True, timeout=DEADLINE * 2)


@pytest.mark.each_python
@pytest.mark.parametrize("is_file", [True, False], ids=["file", "other"])
async def test_a_recording_shows_the_output_that_was_written_at_the_end(
    driver: AdapterClient, python: str, is_file: bool
) -> None:
    program = driver.write('a = 1\nprint("at the end")\n')
    record_with_buffer(driver.folder, python, program.name, is_file=is_file)
    await open_recording(driver, driver.folder / "run.dapkit")
    assert written(driver) == "at the end\n"
    await driver.resume()
    assert await driver.where() == ("<module>", 2)
    assert written(driver) == "at the end\n"
    assert "unexpectedly" not in said(driver)


@pytest.mark.each_python
async def test_a_recording_does_not_show_output_that_was_never_written(driver: AdapterClient, python: str) -> None:
    program = driver.write('import os\nprint("lost")\nos._exit(3)\n')
    assert record(driver.folder, "-o", "run.dapkit", python, program.name, env={"PYTHONUNBUFFERED": ""}).returncode == 3
    await open_recording(driver, driver.folder / "run.dapkit")
    assert written(driver) == ""


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("program", "version"),
    [
        (program, OF_PROGRAM.get(program.stem, VERSIONS[place % len(VERSIONS)]))
        for place, program in enumerate(PROGRAMS)
    ],
    ids=[program.stem for program in PROGRAMS],
)
async def test_a_recording_shows_what_the_program_had(tmp_path: Path, program: Path, version: str) -> None:
    python = str(interpreter(version))
    copy = tmp_path / program.name
    copy.write_text(program.read_text() + PRINT_STATE)  # noqa: ASYNC240 - small files
    file = tmp_path / "run.dapkit"
    for left in reversed(range(RUNS if program.stem.startswith("threads") else 1)):
        recorded = record(tmp_path, "-o", str(file), python, str(copy))
        assert recorded.returncode == 0, recorded.stderr
        async with adapter_client(tmp_path) as driver:
            stopped = await open_recording(driver, file)
            if "diverged" in said(driver) and left:
                continue
            assert (stopped.reason, stopped.description) == ("pause", "End of recorded history")
            assert said(driver) == "The recorded program has ended with exit code 0.\n"
            assert state_in(recorded.stdout)
            if program.stem not in BY_ADDRESS:
                assert state_in(written(driver)) == state_in(recorded.stdout)
            return


IN_SETS = """
import asyncio, concurrent.futures, copy, pickle, threading, time

class Plain: pass
class WithEq:
    __hash__ = object.__hash__
    def __eq__(self, other): return self is other
class WithSuper(Plain):
    def __hash__(self): return super().__hash__()

def loop(): return sum(number for number in range(2000))
kept = [kind() for kind in (Plain, WithEq, WithSuper, threading.Lock) for _ in range(9)] + [Plain, WithEq, loop]
hashes = [hash(each) for each in kept]
print([kept.index(each) for each in set(kept)], len(set(hashes)) == len(kept))
for _ in range(30):
    made = [Plain() for _ in range(100)]
    print([made.index(each) for each in set(made)][:9])
print(hashes == [hash(each) for each in kept], all(each in set(kept) for each in kept))
print(copy.deepcopy([{1: {2}}, 1j]), pickle.loads(pickle.dumps([Plain, 1j]))[1], {Plain: 1, int: 2}[Plain])

def work(number):
    time.sleep(0.0005 * (number % 3))
    return number
with concurrent.futures.ThreadPoolExecutor(5) as pool:
    futures = [pool.submit(work, number) for number in range(30)]
    print([each.result() for each in concurrent.futures.as_completed(futures)])
    print([each.result() for each in concurrent.futures.wait([pool.submit(work, n) for n in range(9)]).done])

async def task(number):
    try:
        await asyncio.sleep(100)
    finally:
        print("cancelled", number)
async def main():
    for number in range(12):
        asyncio.ensure_future(task(number))
    await asyncio.sleep(0.01)
asyncio.run(main())
"""


@pytest.mark.each_python
async def test_sets_of_objects_have_the_order_that_they_had(tmp_path: Path, python: str) -> None:
    """A pool joins its threads, and asyncio cancels its tasks, in the order of a set."""
    (tmp_path / "sets.py").write_text(IN_SETS)
    recorded = record(tmp_path, "-o", "run.dapkit", python, "sets.py")
    assert recorded.returncode == 0, recorded.stderr
    async with adapter_client(tmp_path) as driver:
        stopped = await open_recording(driver, tmp_path / "run.dapkit")
        assert (stopped.description, written(driver)) == ("End of recorded history", recorded.stdout)


AT_EACH_STOP = """
import threading
class Plain: pass
def noted(): return hash(Plain()) and None
def step(number):
    try:
        return {}[number]
    except KeyError:
        return [Plain() for _ in range(20)]
orders = []
for number in range(20):
    objects = step(number)
    orders.append([objects.index(each) for each in set(objects)])
    thread = threading.Thread(target=noted)
    thread.start()
    thread.join()
print(orders)
"""


@pytest.mark.each_python
async def test_sets_have_the_order_that_they_had_also_where_the_debugger_stops_and_evaluates(
    tmp_path: Path, python: str
) -> None:
    (tmp_path / "stops.py").write_text(AT_EACH_STOP)
    recorded = record(tmp_path, "-o", "run.dapkit", python, "stops.py")
    assert recorded.returncode == 0, recorded.stderr
    async with adapter_client(tmp_path) as driver:
        await driver.session.add_breakpoint(tmp_path / "stops.py", 8)
        stopped = await open_recording(driver, tmp_path / "run.dapkit")
        for _ in range(20):
            assert stopped.reason == "breakpoint"
            [top, *_] = await driver.frames()
            asked = "{number: hash(Plain())}, sorted(hash(each) for each in (step, Plain))"
            assert (await driver.session.evaluate(asked, frame_id=top.id)).type == "tuple"
            position = driver.session.position
            await driver.session.continue_(1)
            stopped = await driver.session.wait_for(StoppedEvent, since=position, deadline=DEADLINE)
        assert (stopped.description, written(driver)) == ("End of recorded history", recorded.stdout)


WITH_RUNNER = """
import asyncio, signal
async def main():
    await asyncio.sleep(0.01)
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN, signal.pthread_sigmask(signal.SIG_BLOCK, ())
print(asyncio.run(main()))
"""


@pytest.mark.row("launch")
@pytest.mark.each_python
@pytest.mark.parametrize("ignored", [True, False])
async def test_a_recording_has_the_signals_that_the_program_ignored(
    tmp_path: Path, python: str, *, ignored: bool
) -> None:
    """A shell ignores SIGINT for `command &`; asyncio then sets no handler."""
    (tmp_path / "runner.py").write_text(WITH_RUNNER)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        recorded = record(tmp_path, "-o", "run.dapkit", python, "runner.py")
        signal.signal(signal.SIGINT, signal.default_int_handler if ignored else signal.SIG_IGN)
        async with adapter_client(tmp_path) as driver:
            stopped = await open_recording(driver, tmp_path / "run.dapkit")
            assert stopped.description == "End of recorded history"
            assert (written(driver), recorded.stderr.count("Error")) == (recorded.stdout, 0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert recorded.stdout == f"({ignored}, set())\n"


@pytest.mark.row("launch")
async def test_a_recording_ends_before_a_library_begins_a_thread(
    tmp_path: Path, python: str, require_tool: Callable[[str], Path]
) -> None:
    make_library(tmp_path, require_tool("cc"))
    (tmp_path / "caller.py").write_text(textwrap.dedent(CALLER))
    recorded = record(tmp_path, "-o", "run.dapkit", python, "caller.py")
    assert (recorded.returncode, recorded.stdout) == (0, "42\n")
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, tmp_path / "run.dapkit")
        assert said(driver) == "The recording ended here, before the program: worker.so began a thread.\n"
        assert await driver.where() == ("<module>", 6)


OTHER_EACH_TIME = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_void_p
seed = ctypes.string_at(libc.getauxval(25), 16)  # AT_RANDOM: the kernel gives each process other bytes, by no call
os.path.exists(f"/no/such/{seed.hex()}")
print("done")
"""


@pytest.mark.row("launch")
async def test_a_recording_that_diverges_says_so_at_its_stop(tmp_path: Path, python: str) -> None:
    (tmp_path / "other.py").write_text(OTHER_EACH_TIME)
    recorded = record(tmp_path, "-o", "run.dapkit", python, "other.py")
    assert (recorded.returncode, recorded.stdout) == (0, "done\n")
    async with adapter_client(tmp_path) as driver:
        stopped = await open_recording(driver, tmp_path / "run.dapkit")
        assert stopped.description == "Diverged: the recording cannot be executed further"
        assert "the program called stat where it had called stat with other arguments or at another moment" in said(
            driver
        )


SHOP = """
    import os
    import sys
    import time

    def price(item):
        return len(item) * 3

    total = 0
    with open("sold.txt", "a") as file:
        for item in sys.stdin.read().split():
            total += price(item)
            file.write(item)
    print("sold for", total, "at", time.time(), "by", os.getpid(), flush=True)
    raise SystemExit(total)
"""


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, "subprocess.CompletedProcess[str]"]:
    """Return the recording of a program that has failed, and what that wrote."""
    driver_file = tmp_path / "shop.py"
    driver_file.write_text("\n".join(line[4:] for line in SHOP.splitlines()).lstrip("\n"))
    file = tmp_path / "shop.dapkit"
    recorded = record(tmp_path, "-o", str(file), sys.executable, "shop.py", stdin="bread milk tea")
    assert recorded.returncode == 36
    return file, recorded


@pytest.mark.thorough
@pytest.mark.row("reverseContinue")
@pytest.mark.row("stepBack")
async def test_a_recording_is_debugged_forwards_and_backwards(
    shop: tuple[Path, "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    file, recorded = shop
    program, sold = tmp_path / "shop.py", tmp_path / "sold.txt"
    sold.unlink()
    async with adapter_client(tmp_path) as driver:
        await driver.session.add_breakpoint(program, 11, condition="item == 'milk'")
        stopped = await open_recording(driver, file)
        assert stopped.reason == "breakpoint"
        assert await driver.where() == ("<module>", 11)
        [scope, *_] = await driver.scopes()
        arguments = SetVariableArguments(variables_reference=scope.variables_reference, name="total", value="1")
        with pytest.raises(RequestFailed, match="readOnlyPast"):
            await driver.session.request(arguments)
        position = driver.session.position
        await driver.session.resume()
        stopped = await driver.session.wait_for(StoppedEvent, since=position)
        assert stopped.description == "End of recorded history"
        assert await driver.where() == ("<module>", 14)
        assert said(driver) == "The recorded program has ended with exit code 36.\n"
        assert written(driver) == recorded.stdout
        for request in (StepBackArguments(thread_id=1), ReverseContinueArguments(thread_id=1)):
            position = driver.session.position
            await driver.session.request(request)
            await driver.session.wait_for(StoppedEvent, since=position)
            assert await driver.where() == ("<module>", {"stepBack": 13, "reverseContinue": 11}[request.command])
        top = (await driver.frames())[0]
        found = await driver.session.evaluate("item, total", frame_id=top.id, context="clipboard")
        assert found.result == "('milk', 15)"
        timeline = msgspec.convert(await driver.session.request_custom("dapkit/timeline"), TimelineBody)
        began = json.loads(zipfile.ZipFile(file).read("recording.json"))["began"] / 1_000_000
        assert all(began <= moment.time < began + DEADLINE for moment in (*timeline.checkpoints, *timeline.stops))
        await driver.travel(timeline.beginning)
        assert await driver.where() == ("<module>", 1)
    assert not sold.exists()


@pytest.mark.thorough
@pytest.mark.timeout(300)
async def test_the_death_of_the_process_that_executes_a_recording_is_told(
    shop: tuple[Path, "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    file, _ = shop
    async with adapter_client(tmp_path) as driver:
        await driver.session.add_breakpoint(tmp_path / "shop.py", 11)
        await open_recording(driver, file)
        top = (await driver.frames())[0]
        number = (await driver.session.evaluate("__import__('os').getpid()", frame_id=top.id)).result
        os.kill(int(number), signal.SIGSEGV)
        await driver.session.wait_until_ended()
        assert "The process that executed the recording has ended unexpectedly by SIGSEGV." in said(driver)


@pytest.mark.parametrize("name", ["app.py", "app"])
async def test_a_recording_is_executed_with_the_text_that_the_program_had(tmp_path: Path, name: str) -> None:
    program, file = tmp_path / "work" / name, tmp_path / "run.dapkit"
    program.parent.mkdir()
    program.write_text("import sys\nprice = 3\nsys.exit(price)\n")
    recorded = record(program.parent, "-o", str(file), sys.executable, name)
    assert recorded.returncode == 3, recorded.stderr

    async def last_value() -> str:
        async with adapter_client(tmp_path) as driver:
            await driver.session.add_breakpoint(program, 3)
            await open_recording(driver, file)
            top = (await driver.frames())[0]
            assert top.source is not None
            text = await driver.session.request(
                SourceArguments(source=top.source, source_reference=top.source.source_reference or 0)
            )
            assert text.content.splitlines()[1] == "price = 3"
            assert f"Not as they were when this was recorded: {program} (" in said(driver)
            return (await driver.session.evaluate("price", frame_id=top.id)).result

    program.write_text("# another line\nprice = 4\n")
    assert await last_value() == "3"
    program.unlink()
    assert await last_value() == "3"
    program.parent.rmdir()
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=r"recorded in the folder .*work, which is not here: an empty folder"):
            await driver.launch(replay=str(file))


@pytest.mark.thorough
async def test_an_archive_has_to_be_the_one_that_was_recorded(tmp_path: Path) -> None:
    archive, file = tmp_path / "app.pyz", tmp_path / "run.dapkit"
    for text in ("print(1)\n", "print(2)\n"):
        with zipfile.ZipFile(archive, "w") as content:
            content.writestr("__main__.py", text)
        if not file.exists():
            recorded = record(tmp_path, "-o", str(file), sys.executable, "app.pyz")
            assert recorded.stdout == "1\n", recorded.stderr
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=r"recorded with other files: .*app\.pyz \(changed\)"):
            await driver.launch(replay=str(file))


@pytest.mark.thorough
async def test_imported_files_that_have_changed_are_named(tmp_path: Path) -> None:
    module, file = tmp_path / "prices.py", tmp_path / "run.dapkit"
    module.write_text("price = 3\n")
    (tmp_path / "app.py").write_text("import zlib\nimport prices\nprint(prices.price)\n")
    recorded = record(tmp_path, "-o", str(file), sys.executable, "app.py")
    assert recorded.returncode == 0, recorded.stderr
    files = json.loads(zipfile.ZipFile(file).read("recording.json"))["files"]
    assert {str(module), str(tmp_path / "app.py")} <= set(files)
    assert not hasattr(zlib, "__file__") or zlib.__file__ in files
    module.write_text("# other lines\nprice = 4\n")
    async with adapter_client(tmp_path) as driver:
        await driver.session.add_breakpoint(module, 1)
        await open_recording(driver, file)
        assert f"Not as they were when this was recorded: {module} (changed)." in said(driver)
        source = (await driver.frames())[0].source
        assert source is not None
        assert (source.path, source.origin) == (str(module), "recording")
        content = await driver.session.request(SourceArguments(source_reference=source.source_reference or 0))
        assert content.content == "price = 3\n"
        await driver.session.resume()
        await driver.session.next_stop()
        assert written(driver) == "3\n"


@pytest.mark.thorough
@pytest.mark.each_python
async def test_folders_of_modules_may_have_changed(tmp_path: Path, python: str) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "extra.py").write_text("value = 5\n")
    (tmp_path / "prog.py").write_text("import colorsys, extra, wave\nprint(extra.value)\n")
    record(tmp_path, "-o", "run.dapkit", python, "prog.py", env={"PYTHONPATH": str(folder)})
    (folder / "new.py").write_text("")
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, tmp_path / "run.dapkit")
        assert "The recorded program has ended with exit code 0." in said(driver)
        assert written(driver) == "5\n"


WITH_PACKAGE = """
import email.message, json
import priced
print(priced.PRICE, json.dumps({}))
"""
PACKAGE = "PRICE = 3\n" + "\n".join(f"def price_{number}(): return {number}" for number in range(50))


def record_with_package(folder: Path, python: str, *words: str) -> tuple[Path, Path]:
    """Record a program that imports an installed package; return the file of the package, and the recording."""
    module = folder / "site-packages" / "priced.py"
    module.parent.mkdir()
    module.write_text(PACKAGE)
    (folder / "app.py").write_text(WITH_PACKAGE)
    environment = {"PYTHONPATH": str(module.parent), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([python, "app.py"], cwd=folder, env={**os.environ, **environment}, check=True)  # leaves bytecode
    recorded = record(folder, *words, "-o", "run.dapkit", python, "app.py", env=environment)
    assert recorded.returncode == 0, recorded.stderr
    return module, folder / "run.dapkit"


@pytest.mark.each_python
@pytest.mark.timeout(300)
async def test_the_contents_of_libraries_are_named_by_hashes_and_not_packed(tmp_path: Path, python: str) -> None:
    module, file = record_with_package(tmp_path, python)
    assert file.stat().st_size < 100_000
    description = json.loads(zipfile.ZipFile(file).read("recording.json"))
    libraries = description["libraries"]
    assert str(file.parent / "app.py") in description["files"]
    assert str(module) not in description["files"]  # its bytecode says which one it was
    assert [path.name for path in map(Path, libraries) if path.parent.parent == module.parent] == [
        path.name for path in (module.parent / "__pycache__").iterdir()
    ]
    assert [path for path in libraries if "/json/__pycache__/decoder." in path]
    bytecode = next((module.parent / "__pycache__").iterdir())
    bytecode.write_bytes(bytecode.read_bytes()[:8] + bytes(8) + bytecode.read_bytes()[16:])  # as if installed again
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, file)
        assert written(driver) == "3 {}\n"
        assert "The recorded program has ended with exit code 0." in said(driver)
    bytecode.unlink()
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=r"other files of packages: .*priced\..*\.pyc \(missing\)\. Install"):
            await driver.launch(replay=str(file))


@pytest.mark.thorough
@pytest.mark.timeout(300)
async def test_a_recording_with_packages_needs_no_file_of_theirs(tmp_path: Path) -> None:
    module, file = record_with_package(tmp_path, sys.executable, "--with-packages")
    (module.parent / "__pycache__").rename(tmp_path / "elsewhere")
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, file)
        assert written(driver) == "3 {}\n"


TWICE = """
import hashlib
for name in ("data", "other", "data"):
    with open(name, "rb") as file:
        print(hashlib.sha256(file.read()).hexdigest())
"""


@pytest.mark.thorough
async def test_data_that_is_read_twice_is_packed_once(tmp_path: Path) -> None:
    for name in ("data", "other"):
        (tmp_path / name).write_bytes(os.urandom(300_000))
    (tmp_path / "twice.py").write_text(TWICE)
    recorded = record(tmp_path, "-o", "run.dapkit", sys.executable, "twice.py")
    assert (tmp_path / "run.dapkit").stat().st_size < 800_000
    (tmp_path / "data").unlink()
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, tmp_path / "run.dapkit")
        assert written(driver) == recorded.stdout


@pytest.mark.thorough
async def test_arguments_and_variables_need_not_be_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = os.fsdecode(b"od\xe7")
    monkeypatch.setenv("ODD", odd)
    (tmp_path / "odd.py").write_text("import os, sys\nprint(*map(os.fsencode, (sys.argv[1], os.environ['ODD'])))\n")
    recorded = record(tmp_path, "-o", "run.dapkit", sys.executable, "odd.py", odd)
    assert (recorded.returncode, recorded.stdout) == (0, "b'od\\xe7' b'od\\xe7'\n"), recorded.stderr
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, tmp_path / "run.dapkit")
        assert written(driver) == recorded.stdout


@pytest.mark.thorough
async def test_another_interpreter_is_refused(
    shop: tuple[Path, "subprocess.CompletedProcess[str]"], tmp_path: Path
) -> None:
    file, _ = shop
    interpreter = json.loads(zipfile.ZipFile(file).read("recording.json"))["interpreter"]
    altered = with_other_facts(file, interpreter=dict.fromkeys(interpreter, "0" * 64))
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=r"recorded by Python 3.*is another one: give that one as python"):
            await driver.launch(replay=str(altered))


async def test_a_recording_by_another_build_of_dapkit_is_executed_with_a_remark(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import os\nprint(os.getpid() > 0)\n")
    record(tmp_path, "-o", "run.dapkit", sys.executable, "app.py")
    recorded = json.loads(zipfile.ZipFile(tmp_path / "run.dapkit").read("recording.json"))
    assert not [path for path in recorded["files"] if "_travel" in path]  # it need not be where it was
    remarks = []
    for facts in ({}, {"extension": "0" * 64, "dapkit": "0.0.9"}):
        async with adapter_client(tmp_path) as driver:
            stopped = await open_recording(driver, with_other_facts(tmp_path / "run.dapkit", **facts))
            assert (stopped.description, written(driver)) == ("End of recorded history", "True\n")
            remarks.append("Another build of dapkit has recorded this (version 0.0.9, here" in said(driver))
    assert remarks == [False, True]


@pytest.mark.thorough
async def test_a_recording_of_the_format_before_opens(tmp_path: Path) -> None:
    """In format 3 the notes are whole, with zeros for the contents of libraries."""
    (tmp_path / "app.py").write_text("import fractions, time\nprint(fractions.Fraction(time.time_ns()))\n")
    recorded = record(tmp_path, "-o", "app.dapkit", sys.executable, "app.py")
    file, folder = tmp_path / "app.dapkit", tmp_path / "whole"
    folder.mkdir()
    unpack(file, folder)
    notes = (folder / "notes").read_bytes()
    older = tmp_path / "older.dapkit"
    with zipfile.ZipFile(file) as new, zipfile.ZipFile(older, "w", zipfile.ZIP_DEFLATED) as old:
        for name in new.namelist():
            if not name.startswith(("notes/", "recording.json")):
                old.writestr(name, new.read(name))
        for number, place in enumerate(range(0, len(notes), PART_BYTES)):
            old.writestr(f"notes/{number:05}", notes[place : place + PART_BYTES])
        facts = json.loads(new.read("recording.json"))
        assert facts["libraries"]
        old.writestr("recording.json", json.dumps({**facts, "format": 3}))
    async with adapter_client(tmp_path) as driver:
        stopped = await open_recording(driver, older)
        assert (stopped.description, written(driver)) == ("End of recorded history", recorded.stdout)


TYPED_IN_WITH_A_THREAD = """
import threading, time
stamps = []
def work():
    for _ in range(3000):
        stamps.append(time.time_ns())
thread = threading.Thread(target=work)
thread.start()
for _ in range(3000):
    stamps.append(time.time_ns())
thread.join()
print(sum(stamps))
"""


@pytest.mark.thorough
@pytest.mark.each_python
async def test_code_of_an_option_with_a_thread_is_executed_again(tmp_path: Path, python: str) -> None:
    """Its lines are counted from the thread's start on, when its frame is on the stack; by them threads take turns."""
    for left in reversed(range(RUNS)):
        recorded = record(tmp_path, "-o", "run.dapkit", python, "-c", TYPED_IN_WITH_A_THREAD)
        assert recorded.returncode == 0, recorded.stderr
        async with adapter_client(tmp_path) as driver:
            stopped = await open_recording(driver, tmp_path / "run.dapkit")
            if left and "diverged" in said(driver):
                continue
            assert (stopped.description, written(driver)) == ("End of recorded history", recorded.stdout)
            return


ENDED_BY_A_SIGNAL = """
import os, signal
import fractions, helper
print(helper.half(fractions.Fraction(84)), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("bytecode", ["", "1"], ids=["with bytecode", "without bytecode"])
async def test_modules_of_a_program_that_was_killed_are_known_by_what_it_has_read(
    tmp_path: Path, bytecode: str
) -> None:
    """As a server is ended; it has not listed its modules."""
    (tmp_path / "app.py").write_text(ENDED_BY_A_SIGNAL)
    helper = tmp_path / "helper.py"
    helper.write_text("def half(number):\n    return number / 2\n")
    env = {"PYTHONDONTWRITEBYTECODE": bytecode}
    for _ in range(2):  # the first time without bytecode, the second time with it, if it is written
        recorded = record(tmp_path, "-o", "run.dapkit", sys.executable, "app.py", env=env)
        facts = json.loads(zipfile.ZipFile(tmp_path / "run.dapkit").read("recording.json"))
        assert (recorded.stdout, facts["exitCode"]) == ("42\n", -signal.SIGTERM), recorded.stderr
        assert [Path(path).name for path in facts["sources"]] == ["app.py", "helper.py"]
        assert any("/fractions." in path for path in facts["libraries"])
        assert not any(str(tmp_path) in path for path in facts["libraries"])
    helper.write_text("def half(number):\n    return 0\n")
    async with adapter_client(tmp_path) as driver:
        await open_recording(driver, tmp_path / "run.dapkit")
        assert written(driver) == "42\n"
        assert "Not as they were when this was recorded: " in said(driver)


LOOKS_AT_ALL_MODULES = """
import os, sys
files = [module.__file__ for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
print(sum(os.stat(os.path.realpath(file)).st_size for file in files))
print([name for name in sys.modules if "dapkit" in name])
"""
"""As `inspect` does to find the module of a frame, for the traceback of a failed test."""


@pytest.mark.thorough
@pytest.mark.each_python
async def test_a_recording_opens_where_dapkit_lies_elsewhere(tmp_path: Path, python: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(Path(dapkit.__file__).parent, elsewhere / "dapkit", ignore=shutil.ignore_patterns("__pycache__"))
    env = {"PYTHONPATH": str(elsewhere)}
    where = [sys.executable, "-c", "import dapkit; print(dapkit.__file__)"]
    assert (await output_of(where, tmp_path, {**os.environ, **env})).startswith(str(elsewhere))
    (tmp_path / "app.py").write_text(LOOKS_AT_ALL_MODULES)
    recorded = record(tmp_path, "-o", "run.dapkit", python, "app.py", env=env)
    assert recorded.stdout.endswith("\n[]\n"), recorded.stdout
    async with adapter_client(tmp_path) as driver:
        stopped = await open_recording(driver, tmp_path / "run.dapkit")
        assert (stopped.description, written(driver)) == ("End of recorded history", recorded.stdout)


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut": (lambda content: content[: len(content) // 2], "its end is missing"),
    "empty": (lambda _: b"", "not a recording"),
    "changed": (
        lambda content: content[:2000] + bytes(byte ^ 0x55 for byte in content[2000:2100]) + content[2100:],
        r"is damaged: \S+, which begins at byte \d+",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_file_is_an_error_with_its_place(
    shop: tuple[Path, "subprocess.CompletedProcess[str]"], tmp_path: Path, damage: str
) -> None:
    file, _ = shop
    change, expected = DAMAGES[damage]
    file.write_bytes(change(file.read_bytes()))
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=expected):
            await driver.launch(replay=str(file))


@pytest.mark.parametrize(("entry", "most"), [("recording.json", "67,108,864"), ("notes/00000", "4,194,304")])
@pytest.mark.thorough
async def test_a_recording_that_claims_gigabytes_is_refused_before_it_is_unpacked(
    shop: tuple[Path, "subprocess.CompletedProcess[str]"], tmp_path: Path, entry: str, most: str
) -> None:
    file, _ = shop
    altered = tmp_path / "altered.dapkit"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(altered, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, bytes(70_000_000) if name == entry else old.read(name))
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=rf"{entry}, which begins at byte \d+, would take 70,000,000 .*{most}"):
            await driver.launch(replay=str(altered))


COLLECTING = """
import gc, time
stamps = []
gc.callbacks.append(lambda phase, info: stamps.append(time.time()))
class Node: pass
for turn in range(300):
    for _ in range(30):
        node = Node()
        node.me = node
    time.time()
print(len(stamps) > 4)
"""


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.timeout(300)
async def test_a_collection_is_made_before_the_next_call_though_fewer_objects_were_counted(
    tmp_path: Path, python: str
) -> None:
    """What the interpreter counts depends on objects that it keeps for later, which the debugger uses as well."""
    (tmp_path / "app.py").write_text(COLLECTING)
    recorded = record(tmp_path, "-o", "run.dapkit", python, "app.py")
    assert recorded.stdout == "True\n", recorded.stderr
    fewer = tmp_path / "fewer.dapkit"
    with zipfile.ZipFile(tmp_path / "run.dapkit") as genuine, zipfile.ZipFile(fewer, "w") as archive:
        for name in genuine.namelist():
            content = bytearray(genuine.read(name))
            if name == "collections":
                assert len(content) > 2 * ENTRY_BYTES
                for place in range(0, len(content), ENTRY_BYTES):
                    content[place + 8 : place + 12] = bytes(4)  # of the youngest generation
            archive.writestr(name, bytes(content))
    async with adapter_client(tmp_path) as driver:
        stopped = await open_recording(driver, fewer)
        assert stopped.description == "End of recorded history"
        assert written(driver) == "True\n"


CLAIMS: dict[str, tuple[dict[str, object], str]] = {
    "place": ({"libraries": {"/bin/sh": {"hash": "", "size": 9, "places": [1 << 40]}}}, "outside of the notes"),
    "size": ({"libraries": {"/bin/sh": {"hash": "", "size": 1 << 40, "places": []}}}, "outside of the notes"),
    "file": ({"libraries": {"/dev/zero": {"hash": "", "size": 9, "places": [0]}}}, r"/dev/zero \(missing\)"),
    "repeat": ({"repeats": [[1 << 40, 9, 0]]}, "outside of the notes"),
    "repeated": ({"repeats": [[0, 9, 1 << 40]]}, "outside of the notes"),
    "negative": ({"repeats": [[-8, 4, 0]]}, "outside of the notes"),
    "sources": ({"sources": ["/a", "/b"], "files": {"/a": "0", "/b": "0"}}, "have more than 4,194,304 bytes"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.timeout(300)
async def test_a_recording_that_claims_what_it_has_not_is_refused(
    shop: tuple[Path, "subprocess.CompletedProcess[str]"], tmp_path: Path, claim: str
) -> None:
    file, _ = shop
    changed, problem = CLAIMS[claim]
    forged = tmp_path / "forged.dapkit"
    with zipfile.ZipFile(file) as genuine, zipfile.ZipFile(forged, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in genuine.namelist():
            content = genuine.read(name)
            if name == "recording.json":
                content = json.dumps({**json.loads(content), **changed}).encode()
            if not name.startswith("sources/"):
                archive.writestr(name, content)
        for number in range(2):
            archive.writestr(f"sources/{number:05}", bytes(3 << 20))
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match=problem):
            await driver.launch(replay=str(forged))


async def test_no_such_file(tmp_path: Path) -> None:
    async with adapter_client(tmp_path) as driver:
        with pytest.raises(RequestFailed, match="cannot be read: No such file"):
            await driver.launch(program="none.dapkit")


def contents(file: Path) -> bytes:
    """Return all that is in a recording."""
    with zipfile.ZipFile(file) as archive:
        return b"".join(map(archive.read, archive.namelist()))


@pytest.mark.thorough
def test_a_recording_has_no_secrets_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "import os, subprocess\n"
        "data = open('/proc/self/environ', 'rb').read()\n"
        "said = subprocess.run(['env'], capture_output=True).stdout\n"
        "print(len(data) > 9, b'plan' b'ted' in said)\n"
    )
    shaped = "ghp_planted" + "x" * 30
    secrets = {"SHOP_TOKEN": "planted-1", "STORE": "https://me:planted-2@example.org/", "HARMLESS": f"a {shaped}"}
    words = ("-o", "run.dapkit", sys.executable, "app.py")
    recorded = record(tmp_path, *words, env=secrets)
    assert recorded.stdout == "True True\n", recorded.stderr
    file = tmp_path / "run.dapkit"
    assert b"planted" not in contents(file)
    assert file.stat().st_mode & 0o077 == 0
    description = json.loads(zipfile.ZipFile(file).read("recording.json"))
    assert set(secrets) <= set(description["redacted"])
    record(tmp_path, "--with-secrets", *words, env=secrets)
    assert b"planted-1" in contents(file)


def test_a_program_is_run_as_by_itself(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "import os, sys\n"
        "print(sys.argv, sys.stdin.read(), os.environ.get('PYTHONHASHSEED'), sys.orig_argv[1:], __file__)\n"
        "sys.exit(len(sys.argv))\n"
    )
    alone = subprocess.run(
        [sys.executable, "app.py", "-x", "--", "y"],
        cwd=tmp_path,
        input="given",
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    recorded = record(tmp_path, sys.executable, "app.py", "-x", "--", "y", stdin="given")
    assert (recorded.returncode, recorded.stdout) == (alone.returncode, alone.stdout)
    [file] = tmp_path.glob("app-*.dapkit")
    assert recorded.stderr.endswith(f"Open it with: dapkit launch {file}\n")


@pytest.mark.thorough
def test_what_is_kept(tmp_path: Path) -> None:
    for code, kept in ((0, False), (4, True)):
        file = tmp_path / f"{code}.dapkit"
        recorded = record(
            tmp_path, "--keep", "failed", "-o", str(file), sys.executable, "-c", f"raise SystemExit({code})"
        )
        assert (recorded.returncode, file.exists()) == (code, kept)
    recorded = record(tmp_path, "-o", "killed.dapkit", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    assert recorded.returncode == -signal.SIGKILL
    assert json.loads(zipfile.ZipFile(tmp_path / "killed.dapkit").read("recording.json"))["exitCode"] == -signal.SIGKILL


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["none.py"], "there is no program none.py"),
        ([sys.executable], "record needs a program"),
        (["-o", "none/x.dapkit", sys.executable, "-c", ""], "cannot be written"),
        (["sh"], "is not a program of Python"),
    ],
)
def test_wrong_words_are_refused(tmp_path: Path, words: list[str], text: str) -> None:
    refused = record(tmp_path, *words)
    assert refused.returncode == 2
    assert text in refused.stderr


LOOP = """
import os
try:
    print(os.getpid(), flush=True)
    while True:
        pass
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def begin_recording(folder: Path, text: str) -> "tuple[subprocess.Popen[bytes], int]":
    """Begin to record a program, which writes its process id; return that, too."""
    program = folder / "app.py"
    program.write_text(text)
    recorder = subprocess.Popen(
        [sys.executable, "-m", "dapkit.cli", "record", "-o", "run.dapkit", sys.executable, str(program)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - whatever our shell ignores
    )
    assert recorder.stdout is not None
    return recorder, int(recorder.stdout.readline())


@pytest.mark.thorough
async def test_a_signal_without_a_moment_ends_the_recording_not_the_program(tmp_path: Path) -> None:
    recorder, program = begin_recording(tmp_path, LOOP)
    with recorder:
        await computing(program)
        os.killpg(recorder.pid, signal.SIGINT)
        output, errors = recorder.communicate(timeout=DEADLINE)
    assert (recorder.returncode, output) == (0, b"interrupted\n")
    assert b"the recording ended before the program: a signal came while" in errors
    async with adapter_client(tmp_path) as driver:
        position = driver.session.position
        await driver.session.launch({"replay": str(tmp_path / "run.dapkit"), "cwd": str(tmp_path), "stopOnEntry": True})
        await driver.session.wait_for(StoppedEvent, since=position)
        position = driver.session.position
        await driver.session.next(1)
        await driver.session.wait_for(StoppedEvent, since=position)
        assert await driver.where() == ("<module>", 3)


async def test_the_program_ends_with_its_recorder(tmp_path: Path) -> None:
    recorder, program = begin_recording(tmp_path, "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)")
    with recorder:
        recorder.kill()
    await ended(program)


@pytest.mark.thorough
def test_a_thread_that_asks_for_nothing_lets_others_run(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "import threading\n"
        "done = []\n"
        "thread = threading.Thread(target=lambda: done.append(1))\n"
        "thread.start()\n"
        "while not done:\n"
        "    pass\n"
        "print('done')\n"
    )
    recorded = record(tmp_path, "-o", "run.dapkit", sys.executable, "app.py")
    assert recorded.stdout == "done\n", recorded.stderr
