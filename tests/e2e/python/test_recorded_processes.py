"""Recordings of whole trees of processes: by `dapkit record --children`, and by the variable DAPKIT_RECORD."""

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from dapkit.endpoint import RequestFailed
from dapkit.protocol import StoppedEvent
from dapkit.python.recording.file import processes_of
from e2e.python.adapter_client import AdapterClient, adapter_client
from e2e.python.test_recordings import DEADLINE, record, said, written

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[3]
MAIN = """
import subprocess, sys
subprocess.run([sys.executable, "middle.py"], check=True)
subprocess.run([sys.executable, "worker.py", "3"], check=True)
print("done")
"""
MIDDLE = """
import subprocess, sys
print("middle", subprocess.run([sys.executable, "worker.py", "0"]).returncode)
"""
WORKER = """
import sys
number = int(sys.argv[1])
print(12 / number)
"""
SPAWNING = """
import multiprocessing, sys
def work(number):
    if number == 3:
        raise SystemExit(4)
    print("worked", number, flush=True)
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    processes = [multiprocessing.Process(target=work, args=(number,)) for number in (1, 3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print([process.exitcode for process in processes])
"""


STARTING = """
import signal, subprocess, sys
child = subprocess.Popen([sys.executable, "waiting.py"], stdout=subprocess.PIPE)
child.stdout.readline()
child.send_signal(signal.SIGINT)
print(child.wait())
exits = "import sys; sys.exit(47)"
print(subprocess.run(["other", "-c", exits], executable=sys.executable, stderr=subprocess.DEVNULL).returncode)
print(subprocess.run([sys.executable, "-X", "warn_default_encoding", "-c", exits], capture_output=True).stderr)
def fails():
    raise ValueError
try:
    subprocess.run(["true"], preexec_fn=fails)
except subprocess.SubprocessError as error:
    print(error)
"""
WAITING = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
try:
    print("ready", flush=True)
    for _ in range(2000):
        time.sleep(0.05)
except KeyboardInterrupt:
    raise SystemExit(7)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in (
        ("main", MAIN),
        ("starting", STARTING),
        ("waiting", WAITING),
        ("middle", MIDDLE),
        ("worker", WORKER),
        ("spawning", SPAWNING),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


async def opened(driver: AdapterClient, file: Path, *args: str) -> StoppedEvent:
    """Open a process of a recording, and run to its first stop."""
    position = driver.session.position
    await driver.session.break_on_exceptions("uncaught")
    await driver.session.launch({"replay": str(file), "cwd": str(driver.folder), "args": list(args)})
    return await driver.session.wait_for(StoppedEvent, since=position)


def obeying(folder: Path, words: list[str], **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command whose Pythons obey the variables."""
    startup = subprocess.check_output([sys.executable, "-m", "dapkit", "--startup-folder"], text=True).strip()
    return subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": startup, **variables},
        capture_output=True,
        text=True,
        timeout=DEADLINE * 2,
        check=False,
    )


@pytest.mark.each_python
@pytest.mark.thorough
async def test_each_process_is_in_the_file_and_is_opened_at_its_failure(project: Path, python: str) -> None:
    recorded = record(project, "--children", "-o", "run.dapkit", python, "main.py")
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == "middle 1\n4.0\ndone\n"
    file = project / "run.dapkit"
    opening = f"Open it with: dapkit launch {file}"
    lines = [
        f"process 2 of process 1: worker.py, exit code 1. {opening} 2",
        f"process 1: middle.py, exit code 0. {opening} 1",
        f"process 3: worker.py, exit code 0. {opening} 3",
    ]
    assert recorded.stderr.splitlines()[-3:] == lines
    async with adapter_client(project) as driver:
        stopped = await opened(driver, file)
        assert stopped.description == "End of recorded history"
        assert written(driver) == "done\n"
        assert "\n".join(lines) in said(driver)
    async with adapter_client(project) as driver:
        stopped = await opened(driver, file, "2")
        assert (stopped.reason, stopped.text) == ("exception", "ZeroDivisionError")
        assert await driver.where() == ("<module>", 4)
        top = (await driver.frames())[0]
        assert (await driver.session.evaluate("number", frame_id=top.id)).result == "0"


async def test_each_failed_process_is_opened_as_a_session_at_its_failure(project: Path) -> None:
    record(project, "--children", "-o", "run.dapkit", sys.executable, "main.py")
    async with adapter_client(project) as driver:
        stopped = await opened(driver, project / "run.dapkit")
        assert stopped.description == "End of recorded history"
        [failed] = await driver.session.wait_for_children(1, deadline=DEADLINE)
        stop = await failed.next_stop(deadline=DEADLINE)
        assert (stop.reason, stop.event.text) == ("exception", "ZeroDivisionError")
        [frame, *_] = (await failed.stack_trace(1)).stack_frames
        assert (frame.line, frame.source and frame.source.path) == (4, str(project / "worker.py"))
        assert (await failed.evaluate("number", frame_id=frame.id)).result == "0"
        await failed.step_back(1)
        assert (await failed.next_stop(deadline=DEADLINE)).reason == "step"


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [{"replay": "run.dapkit", "subProcess": False}, {"program": "run.dapkit"}])
async def test_failed_processes_are_only_listed_where_sessions_are_not_asked_for(
    project: Path, arguments: dict[str, object]
) -> None:
    record(project, "--children", "-o", "run.dapkit", sys.executable, "main.py")
    async with adapter_client(project) as driver:
        position = driver.session.position
        await driver.launch(**arguments)
        await driver.session.wait_for(StoppedEvent, since=position, deadline=DEADLINE)
        assert "process 2 of process 1: worker.py, exit code 1" in said(driver)
        assert not driver.session.children


@pytest.mark.thorough
@pytest.mark.each_python
async def test_processes_of_multiprocessing_are_recorded(project: Path, python: str) -> None:
    recorded = record(project, "--children", "-o", "run.dapkit", python, "spawning.py")
    assert (recorded.returncode, "Error" in recorded.stderr) == (0, False), recorded.stderr
    assert recorded.stdout == "worked 1\n[0, 4]\n"
    numbers = [line.split(":")[0].split()[-1] for line in recorded.stderr.splitlines() if ": code, exit code " in line]
    outputs = []
    for number in numbers:
        async with adapter_client(project) as driver:
            stopped = await opened(driver, project / "run.dapkit", number)
            outputs.append((written(driver), stopped.text or stopped.description))
    assert {("", "SystemExit"), ("worked 1\n", "End of recorded history")} <= set(outputs)


POOL = """
import multiprocessing, os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor
def work(number):
    return os.getppid() == number
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as pool:
        print(list(pool.map(work, [os.getpid()] * 4)))
    child = subprocess.Popen([sys.executable, "-c", "import os; print(os.getpid())"], stdout=subprocess.PIPE)
    print(int(child.stdout.read()) == child.pid)
"""


@pytest.mark.thorough
@pytest.mark.each_python
def test_processes_have_the_numbers_that_their_parents_know(project: Path, python: str) -> None:
    (project / "pool.py").write_text(POOL)
    recorded = record(project, "--children", "-o", "run.dapkit", python, "pool.py")
    assert (recorded.returncode, recorded.stdout) == (0, "[True, True, True, True]\nTrue\n"), recorded.stderr
    programs = [each.what for each in processes_of(project / "run.dapkit")]
    assert len(programs) >= 5
    assert not any("resource_tracker" in program for program in programs)


@pytest.mark.thorough
@pytest.mark.each_python
def test_processes_are_started_and_interrupted_as_without_a_recorder(project: Path, python: str) -> None:
    alone = subprocess.run(
        [python, "starting.py"], cwd=project, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    recorded = record(project, "--children", "-q", "-o", "run.dapkit", python, "starting.py")
    first, _, *others = alone.stdout.splitlines()  # not each interpreter finds its library under another name
    assert (first, others) == ("7", ["b''", "Exception occurred in preexec_fn."])
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (alone.returncode, alone.stdout, alone.stderr)


@pytest.mark.thorough
async def test_a_command_has_the_recordings_of_its_pythons(project: Path) -> None:
    command = f"{sys.executable} worker.py 2; {sys.executable} worker.py 0; exit 5"
    recorded = record(project, "--children", "--keep", "failed", "-o", "run.dapkit", "sh", "-c", command)
    assert (recorded.returncode, recorded.stdout) == (5, "6.0\n")
    file = project / "run.dapkit"
    line = f"process 1: worker.py, exit code 1. Open it with: dapkit launch {file} 1"
    assert recorded.stderr.splitlines()[-1] == line
    async with adapter_client(project) as driver:
        stopped = await opened(driver, file, "1")
        assert stopped.text == "ZeroDivisionError"
    async with adapter_client(project) as driver:
        await driver.session.break_on_exceptions("uncaught")
        await driver.launch(replay=str(file))  # the command has no program to show: its process has a session
        [failed] = await driver.session.wait_for_children(1, deadline=DEADLINE)
        assert (await failed.next_stop(deadline=DEADLINE)).event.text == "ZeroDivisionError"
        await driver.session.wait_until_ended(deadline=DEADLINE)
        assert f"has the processes of a command alone:\n{line}" in said(driver)
    async with adapter_client(project) as driver:
        with pytest.raises(RequestFailed, match=f"has the processes of a command alone:\n{line}"):
            await driver.launch(program=str(file))
    for args, objection in (
        (["2"], "has no process 2: it has 1"),
        (["one"], r"args is \['one'\], expected the number of a process"),
    ):
        async with adapter_client(project) as driver:
            with pytest.raises(RequestFailed, match=objection):
                await driver.launch(replay=str(file), args=args)


@pytest.mark.thorough
async def test_a_process_that_was_packed_once_more_is_refused(project: Path) -> None:
    record(project, "--children", "-o", "run.dapkit", sys.executable, "main.py")
    forged = project / "forged.dapkit"
    with zipfile.ZipFile(project / "run.dapkit") as genuine, zipfile.ZipFile(forged, "w", zipfile.ZIP_DEFLATED) as new:
        for name in genuine.namelist():
            new.writestr(name, genuine.read(name))
    async with adapter_client(project) as driver:
        with pytest.raises(RequestFailed, match=r"processes/00001\.dapkit is packed twice"):
            await driver.launch(replay=str(forged))


@pytest.mark.thorough
def test_a_command_without_python_has_no_recording(project: Path) -> None:
    recorded = record(project, "--children", "-o", "run.dapkit", "true")
    assert recorded.returncode == 1
    assert "nothing was recorded: no Python process was started" in recorded.stderr
    assert not (project / "run.dapkit").exists()
    recorded = record(project, "--children", "--keep", "asked", "main.py")
    assert recorded.returncode == 2
    assert "--children goes with --keep always or failed" in recorded.stderr


async def test_a_variable_has_failing_programs_recorded(project: Path) -> None:
    ran = obeying(
        project, ["sh", "-c", f"{sys.executable} worker.py 0; {sys.executable} main.py"], DAPKIT_RECORD="failed"
    )
    assert ran.stdout == "middle 1\n4.0\ndone\n"
    files = sorted(project.glob("*.dapkit"))  # noqa: ASYNC240 - a small folder
    assert [file.name.split("-")[0] for file in files] == ["main", "worker"]
    assert f"Recorded: {files[1]}" in ran.stderr
    assert f"process 1: worker.py, exit code 1. Open it with: dapkit launch {files[0]} 1" in ran.stderr
    async with adapter_client(project) as driver:
        assert (await opened(driver, files[1])).text == "ZeroDivisionError"


@pytest.mark.thorough
def test_a_program_that_cannot_be_recorded_runs_all_the_same(project: Path) -> None:
    show = "import os; print([name for name in os.environ if name in ('DAPKIT_RECORD', 'DAPKIT_PYTHON', 'PYTHONPATH')])"
    ran = obeying(project, [sys.executable, "-c", show], DAPKIT_RECORD="sometimes")
    assert (ran.stdout, ran.returncode) == ("[]\n", 0)
    assert "DAPKIT_RECORD is 'sometimes', expected failed or always" in ran.stderr
    ran = obeying(project, [sys.executable, "-c", show], DAPKIT_RECORD="failed", DAPKIT_PYTHON="/nowhere/python")
    assert "/nowhere/python: No such file or directory; the program is not recorded" in ran.stderr
    assert ran.stdout == "['DAPKIT_PYTHON']\n"
    ran = obeying(project, [sys.executable, "worker.py", "4"], DAPKIT_RECORD="always", DAPKIT_RECORDINGS="/nowhere")
    assert (ran.stdout, ran.stderr) == (
        "3.0\n",
        "dapkit: /nowhere cannot be written to; the program is not recorded\n",
    )


START_LATE = """
import subprocess, sys
subprocess.Popen(
    ["/bin/sh", "late.sh", sys.executable], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
)
"""
LATE = """
for turn in $(seq 2000); do [ -e go ] && break; sleep 0.1; done
"$1" worker.py 4 > output 2>&1
"""


@pytest.mark.thorough
def test_the_recorder_does_not_import_from_the_path_of_the_program(project: Path) -> None:
    (project / "mine" / "msgspec").mkdir(parents=True)
    (project / "mine" / "msgspec" / "__init__.py").write_text("raise ImportError('for another version')\n")
    show = "import os, sys; print(os.environ['PYTHONPATH'].split(os.pathsep)[-1] == sys.path[1])"
    startup = subprocess.check_output([sys.executable, "-m", "dapkit", "--startup-folder"], text=True).strip()
    path = os.pathsep.join((startup, str(project / "mine")))
    ran = obeying(
        project, [sys.executable, "-c", show], DAPKIT_RECORD="always", DAPKIT_PYTHON=sys.executable, PYTHONPATH=path
    )
    assert (ran.returncode, ran.stdout) == (0, "True\n"), ran.stderr
    assert [file.name.split("-")[0] for file in project.glob("*.dapkit")] == ["code"]


@pytest.mark.thorough
def test_a_process_that_starts_after_the_recording_runs_all_the_same(project: Path) -> None:
    (project / "late.sh").write_text(LATE)
    recorded = record(project, "--children", "-o", "run.dapkit", sys.executable, "-c", START_LATE)
    assert recorded.returncode == 0, recorded.stderr
    (project / "go").touch()
    output = project / "output"
    deadline = time.monotonic() + 2 * DEADLINE
    while not (output.exists() and output.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert output.read_text() == "3.0\n"


@pytest.mark.thorough
def test_the_action_for_ci_keeps_recordings_and_prints_how_they_are_opened(project: Path) -> None:
    action = yaml.safe_load((ROOT / "examples" / "ci" / "action.yml").read_text())
    running, printing, _ = action["runs"]["steps"]
    environment = {
        **os.environ,
        "COMMAND": f"{sys.executable} worker.py 4; {sys.executable} worker.py 0",
        "DAPKIT_PYTHON": sys.executable,
        "RECORDINGS": str(project / "kept"),
    }
    ran, printed = (
        subprocess.run(
            ["/bin/bash", "-eo", "pipefail", "-c", step["run"]],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE * 2,
            check=False,
        )
        for step in (running, printing)
    )
    assert (ran.returncode, ran.stdout) == (1, "3.0\n"), ran.stderr
    [file] = (project / "kept").iterdir()
    assert printed.stdout == f"dapkit launch -x uncaught {file.name}\n"
