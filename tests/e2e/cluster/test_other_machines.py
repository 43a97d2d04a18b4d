"""Members on other machines are stopped by a command of the user's; the other machine is a name, the command `env`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dapkit.system.this_system import SYSTEM
from job_helpers import Dapkit, details, marked_line, may_make_namespaces, relays, until

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not may_make_namespaces(), reason="namespaces cannot be made here"),
]

PROGRAM = """\
import os, pathlib, time

def step(n):
    time.sleep(0.01)  # step
    pathlib.Path("steps-" + os.environ["RANK"]).write_text(str(n))

for n in range(1_000_000):
    step(n)
"""
VIA = "env REACHED={host}"
"""It reaches each machine, since all are this one."""
GREETS = """sh -c 'echo Welcome, your last login was on Monday; exec "$@"' {host}"""
"""A shell with a greeting does, too."""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of a job of three ranks, the last two of which are on the machine `n2`."""
    (tmp_path / "train.py").write_text(PROGRAM)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    folder, started = tmp_path / "my job", []
    on_n2 = ["unshare", "--uts", "sh", "-c", 'hostname n2 && exec "$@"', "sh"]
    for rank, elsewhere in enumerate(([], on_n2, on_n2)):
        words = [*elsewhere, sys.executable, "-m", "dapkit.cluster.run", "--job", str(folder), "--", "train.py"]
        variables = {"RANK": str(rank), "WORLD_SIZE": "3"}
        started.append(subprocess.Popen(words, cwd=tmp_path, env={**os.environ, **variables}))
    until(lambda: [*tmp_path.glob("steps-*")], lambda files: len(files) == 3)
    yield folder
    for process in started:
        process.kill()
        process.wait()


def line(job: Path) -> str:
    program = job.with_name("train.py")
    return f"{program}:{marked_line(program, 'step')}"


def steps_on_n2(job: Path) -> int:
    return int(until(job.with_name("steps-1").read_text, bool))  # the file is empty while it is written


@pytest.mark.parametrize("via", [VIA, GREETS], ids=["silent", "greets"])
def test_members_on_two_machines_stop_at_a_breakpoint(job: Path, via: str, run_dapkit: Dapkit) -> None:
    words = ["--json", "--wait-for", "all", "--timeout", "120", "--via", via, "-e", "__import__('os').environ['RANK']"]
    stops = details(run_dapkit("job", "break", *words, str(job), line(job)))
    [group] = stops["groups"]
    assert (sorted(group["members"]), stops["problems"]) == (["0", "1", "2"], {})
    assert sorted((each["value"], *each["members"]) for each in group["answers"]) == [
        ("'0'", "0"),
        ("'1'", "1"),
        ("'2'", "2"),
    ]
    assert len(relays()) == 1
    code, text = run_dapkit("job", "focus", str(job), "1")
    assert (code, "train.py:4 in step" in text) == (0, True), text
    code, text = run_dapkit("evaluate", "os.uname().nodename")
    assert (code, text) == (0, "Result: 'n2'\n")
    run_dapkit("detach")
    until(
        lambda: details(run_dapkit("job", "break", "--json", "--wait-for", "none", str(job)))["problems"],
        lambda p: not p,
    )
    assert run_dapkit("job", "release", str(job)) == (0, f"Released 3 members of job {job}.\n")
    until(relays, lambda pids: not pids)
    before = steps_on_n2(job)
    until(lambda: steps_on_n2(job), lambda steps: steps > before)


@pytest.mark.parametrize(
    ("via", "reason"),
    [
        ([], "n2 is another machine: say how it is reached, such as --via 'ssh {host}'"),
        (["--via", "sh -c 'echo no route to {host} >&2; exit 255'"], "no route to n2"),
        (["--via", "false"], "false ended with status 1"),
        (["--via", "no-such-shell {host}"], "no-such-shell cannot be run: No such file or directory"),
        (["--via", "env PYTHONPATH=/none python3 -c 'exit(3)' {host}"], "env ended with status 3"),
    ],
    ids=["no command", "refused", "no reason", "no such command", "another command"],
)
def test_a_machine_that_is_not_reached_is_named(job: Path, via: list[str], reason: str, run_dapkit: Dapkit) -> None:
    stops = details(run_dapkit("job", "break", "--json", *via, str(job), line(job)))
    assert [group["members"] for group in stops["groups"]] == [["0"]]
    assert stops["problems"] == {"1": reason, "2": reason}
    run_dapkit("job", "release", str(job))


def processes_of(command: list[str]) -> list[int]:
    found = []
    for pid in SYSTEM.pids():
        with suppress(OSError):  # it has ended
            if SYSTEM.command_of(pid)[: len(command)] == command:
                found.append(pid)
    return found


@pytest.mark.thorough
def test_a_machine_that_does_not_answer_is_named_and_its_command_ends(job: Path, run_dapkit: Dapkit) -> None:
    command = f"sleep {600 + os.getpid()}"
    stops = details(
        run_dapkit("job", "break", "--json", "--via", f"sh -c 'exec {command}' {{host}}", str(job), line(job))
    )
    reasons = {"its machine did not connect it within 20 s", "its engine did not answer within 20 s"}
    assert stops["problems"].keys() == {"1", "2"}
    assert set(stops["problems"].values()) <= reasons
    until(lambda: processes_of(command.split()), lambda pids: not pids)
    run_dapkit("job", "release", str(job))


def test_members_are_connected_to_once_more_when_the_way_to_their_machine_was_lost(
    job: Path, run_dapkit: Dapkit
) -> None:
    words = ["--json", "--wait-for", "all", "--timeout", "120", "--via", VIA]
    assert len(details(run_dapkit("job", "break", *words, str(job), line(job)))["groups"][0]["members"]) == 3
    [relay] = relays()
    os.kill(relay, signal.SIGKILL)
    until(relays, lambda pids: bool(pids) and pids != [relay])

    def stopped() -> list[str]:
        groups = details(run_dapkit("job", "break", "--json", "--wait-for", "none", str(job)))["groups"]
        return sorted(name for group in groups for name in group["members"])

    assert until(stopped, lambda names: len(names) == 3) == ["0", "1", "2"]


def test_a_member_runs_on_after_the_hub_was_killed(job: Path, run_dapkit: Dapkit) -> None:
    words = ["--json", "--wait-for", "all", "--timeout", "120", "--via", VIA]
    assert len(details(run_dapkit("job", "break", *words, str(job), line(job)))["groups"][0]["members"]) == 3
    os.kill(json.loads(run_dapkit("hub", "status", "--json")[1])["pid"], signal.SIGKILL)
    until(relays, lambda pids: not pids)
    before = steps_on_n2(job)
    until(lambda: steps_on_n2(job), lambda steps: steps > before)
