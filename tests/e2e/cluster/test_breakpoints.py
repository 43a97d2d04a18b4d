"""Breakpoints in all members of a job: who stops, what goes on meanwhile, and how it ends."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import dapkit
from dapkit.cluster.registrations import Registration, read_all
from job_helpers import Dapkit, StartJob, details, marked_line, until

pytestmark = pytest.mark.timeout(300)

TRAINING = Path(__file__).parent / "programs" / "training.py"


COMPUTED, DONE = marked_line(TRAINING, "computed"), marked_line(TRAINING, "done")


@pytest.fixture(params=["registered", pytest.param("by process id", marks=pytest.mark.thorough)])
def job(request: pytest.FixtureRequest, start_job: StartJob, tmp_path: Path) -> str:
    """A job of 4 ranks, as it is named."""
    if request.param == "registered":
        return registered(start_job, tmp_path)
    launcher = start_job("store", sys.executable, str(TRAINING), ranks=4)
    children = Path(f"/proc/{launcher}/task/{launcher}/children")
    ranks = until(lambda: children.read_text().split(), lambda ranks: len(ranks) == 4)
    until(  # an interpreter that has not begun cannot be entered
        lambda: [len(list(Path(f"/proc/{rank}/task").iterdir())) for rank in ranks], lambda counts: min(counts) > 1
    )
    return str(launcher)


def registered(start_job: StartJob, tmp_path: Path, *, ranks: int = 4, restarts: int = 0) -> str:
    folder = tmp_path / "job"
    folder.mkdir(mode=0o700, exist_ok=True)
    earlier = {each["pid"] for each in read_all(folder)}
    wrapper = [sys.executable, "-m", "dapkit.cluster.run", "--job", str(folder), "--"]
    start_job("store", *wrapper, str(TRAINING), ranks=ranks, restarts=restarts)

    def new() -> list[Registration]:
        return [each for each in read_all(folder) if each["pid"] not in earlier]

    until(new, lambda registrations: len(registrations) == ranks)
    until(lambda: all(Path(each["socket"]).exists() for each in new()), bool)
    return str(folder)


def members_of(groups: list[dict[str, Any]]) -> list[list[str]]:
    return sorted(sorted(group["members"]) for group in groups)


def test_all_members_stop_step_and_continue(job: str, run_dapkit: Dapkit, tmp_path: Path) -> None:
    place = f"{TRAINING}:{COMPUTED}"
    stops = details(
        run_dapkit("job", "break", "--json", "--wait-for", "all", "-e", "rank", "-e", "len(beats)", job, place)
    )
    assert [each["verified"] for each in stops["breakpoints"]] == [4]
    assert members_of(stops["groups"]) == [["0", "1", "2", "3"]]
    [group] = stops["groups"]
    assert group["calls"][0]["line"] == COMPUTED
    assert {each["value"] for each in group["answers"] if each["evaluateName"] == "rank"} == {"0", "1", "2", "3"}

    def beats() -> int:
        answer = details(run_dapkit("job", "break", "--json", "--wait-for", "none", "-e", "len(beats)", job))
        return min(int(each["value"]) for group in answer["groups"] for each in group["answers"])

    first = beats()
    until(beats, lambda now: now > first)  # the heartbeat of a stopped member goes on

    stops = details(run_dapkit("job", "continue", "--json", "--members", "0-1", "--step", "over", job))
    lines = {name: group["calls"][0]["line"] for group in stops["groups"] for name in group["members"]}
    assert lines == {"0": DONE, "1": DONE, "2": COMPUTED, "3": COMPUTED}

    _, text = run_dapkit("job", "where", job)
    assert "LATE" not in text
    code, text = run_dapkit("job", "release", job)
    assert (code, text) == (0, f"Released 4 members of job {job}.\n")
    code, text = run_dapkit("job", "continue", job)
    assert (code != 0, "This job is not being debugged" in text) == (True, True)
    before = steps(tmp_path)
    until(lambda: steps(tmp_path), lambda now: all(now[rank] > before[rank] + 3 for rank in range(4)))


def test_a_condition_and_a_set_choose_who_stops(job: str, run_dapkit: Dapkit) -> None:
    place = f"{TRAINING}:{DONE} if loss > 9"
    stops = details(run_dapkit("job", "break", "--json", "--members", "rank % 2 == 1", "--wait-for", "2", job, place))
    assert members_of(stops["groups"]) == [["1", "3"]]
    assert sorted(stops["running"]) == ["0", "2"]
    assert stops["breakpoints"][0]["verified"] == 2


def test_a_member_is_debugged_by_a_session_and_comes_back(job: str, run_dapkit: Dapkit) -> None:
    details(run_dapkit("job", "break", "--json", "--wait-for", "all", job, f"{TRAINING}:{COMPUTED}"))
    code, text = run_dapkit("job", "focus", job, "2")
    assert code == 0, text
    assert f"{TRAINING}:{COMPUTED} in step" in text
    code, text = run_dapkit("evaluate", "rank")
    assert (code, text) == (0, "Result: 2\n")
    beats = evaluated(run_dapkit, "len(beats)")
    until(lambda: evaluated(run_dapkit, "len(beats)"), lambda now: now > beats)  # other threads run, as before
    assert "a session of its own" in run_dapkit("job", "break", "--wait-for", "none", job)[1]
    run_dapkit("detach")
    until(
        lambda: details(run_dapkit("job", "break", "--json", "--wait-for", "none", job)),
        lambda stops: sorted(name for group in stops["groups"] for name in group["members"]) == ["0", "1", "2", "3"],
    )


def test_a_member_that_runs_is_debugged_by_a_session_and_comes_back(job: str, run_dapkit: Dapkit) -> None:
    details(run_dapkit("job", "break", "--json", job, f"{TRAINING}:{COMPUTED} if rank == 0"))
    for member in ("2", "3", "2"):
        code, text = run_dapkit("job", "focus", job, member)
        assert code == 0, text
        code, text = run_dapkit("threads")
        assert (code, "MainThread" in text) == (0, True), text
        run_dapkit("detach")
        until(
            lambda: details(run_dapkit("job", "break", "--json", "--wait-for", "none", job)),
            lambda stops: sorted(stops["running"]) == ["1", "2", "3"],
        )
    assert run_dapkit("job", "release", job) == (0, f"Released 4 members of job {job}.\n")


def evaluated(run_dapkit: Dapkit, expression: str) -> int:
    code, text = run_dapkit("evaluate", expression)
    assert code == 0, text
    return int(text.removeprefix("Result: "))


def test_secrets_of_members_are_masked(job: str, run_dapkit: Dapkit) -> None:
    words = ["--json", "--wait-for", "all", "-e", "password", job, f"{TRAINING}:{COMPUTED}"]
    code, text = run_dapkit("job", "break", *words)
    assert code == 0, text
    assert "swordfish" not in text


def test_members_of_a_restarted_job_get_the_breakpoints(
    start_job: StartJob, tmp_path: Path, run_dapkit: Dapkit
) -> None:
    job = registered(start_job, tmp_path, ranks=3, restarts=1)
    details(run_dapkit("job", "break", "--json", "--wait-for", "all", job, f"{TRAINING}:{COMPUTED}"))
    victims = {registration["pid"] for registration in read_all(Path(job))}
    os.kill(min(victims), signal.SIGKILL)
    until(lambda: len(read_all(Path(job))), lambda count: count == 6)
    stopped = until(
        lambda: stopped_of(run_dapkit, job), lambda groups: sum(len(each["members"]) for each in groups) == 3
    )
    pids = {int(each["value"]) for group in stopped for each in group["answers"]}
    assert not pids & victims


def test_a_job_that_is_started_again_gets_the_breakpoints(
    start_job: StartJob, tmp_path: Path, run_dapkit: Dapkit
) -> None:
    job = registered(start_job, tmp_path, ranks=2)
    details(run_dapkit("job", "break", "--json", "--wait-for", "all", job, f"{TRAINING}:{COMPUTED}"))
    for registration in read_all(Path(job)):
        os.kill(registration["pid"], signal.SIGKILL)
    until(lambda: run_dapkit("job", "break", "--wait-for", "none", job)[0], lambda code: code != 0)
    registered(start_job, tmp_path, ranks=2)
    until(lambda: stopped_of(run_dapkit, job), lambda groups: sum(len(each["members"]) for each in groups) == 2)


def stopped_of(run_dapkit: Dapkit, job: str) -> list[dict[str, Any]]:
    """Return the groups of stopped members with their process ids; none while no member can be connected to."""
    words = ["--json", "--wait-for", "none", "-e", "__import__('os').getpid()", job]
    code, text = run_dapkit("job", "break", *words)
    return [] if code else json.loads(text)["details"]["groups"]


def test_a_member_that_is_killed_while_it_is_stopped_is_named(job: str, run_dapkit: Dapkit) -> None:
    words = ["--json", "--wait-for", "any", "-e", "__import__('os').getpid()", "--members", "3", job]
    stops = details(run_dapkit("job", "break", *words, f"{TRAINING}:{COMPUTED}"))
    [group] = stops["groups"]
    os.kill(int(group["answers"][0]["value"]), signal.SIGKILL)
    stops = until(
        lambda: details(run_dapkit("job", "break", "--json", "--wait-for", "none", job)),
        lambda stops: "3" in stops["ended"],
    )
    assert stops["groups"] == []
    assert sorted(stops["running"]) == ["0", "1", "2"]


def test_the_end_of_the_hub_lets_all_members_go(job: str, run_dapkit: Dapkit, tmp_path: Path) -> None:
    details(run_dapkit("job", "break", "--json", "--wait-for", "all", job, f"{TRAINING}:{COMPUTED}"))
    before = steps(tmp_path)
    assert steps(tmp_path) == before
    run_dapkit("hub", "stop")
    until(lambda: steps(tmp_path), lambda now: all(now[rank] > before[rank] + 3 for rank in range(4)))


def steps(folder: Path, ranks: int = 4) -> list[int]:
    """Return how many steps each rank has made."""
    return [(folder / f"steps-{rank}").stat().st_size for rank in range(ranks)]


@pytest.mark.thorough
@pytest.mark.each_python
def test_ranks_of_each_python_are_debugged(
    python: str, start_job: StartJob, tmp_path: Path, run_dapkit: Dapkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "job"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("PYTHONPATH", str(Path(dapkit.__file__).parents[1]))
    start_job("store", python, "-m", "dapkit.cluster.run", "--job", str(folder), "--", str(TRAINING), ranks=2)
    monkeypatch.delenv("PYTHONPATH")
    until(lambda: [Path(each["socket"]).exists() for each in read_all(folder)], lambda there: there == [True, True])
    stacks = until(
        lambda: details(run_dapkit("job", "where", "--json", str(folder))), lambda stacks: stacks["groups"][0]["calls"]
    )
    assert stacks["groups"][0]["calls"][-1]["function"] == "<module>"
    words = ["--json", "--wait-for", "all", "-e", "rank", str(folder), f"{TRAINING}:{COMPUTED}"]
    stops = details(run_dapkit("job", "break", *words))
    assert members_of(stops["groups"]) == [["0", "1"]]
    stops = details(run_dapkit("job", "continue", "--json", "--step", "over", str(folder)))
    assert [group["calls"][0]["line"] for group in stops["groups"]] == [DONE]
    code, text = run_dapkit("job", "release", str(folder))
    assert code == 0, text
    before = steps(tmp_path, 2)
    until(lambda: steps(tmp_path, 2), lambda now: all(now[rank] > before[rank] + 3 for rank in range(2)))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["break", "JOB", "step"], "a breakpoint of a job is at a line"),
        (["break", "JOB", f"{TRAINING}:3 if ("], "condition"),
        (["break", "--wait-for", "most", "JOB"], "expected any, all, none, a number, or a part such as 90%"),
        (["break", "--members", "17", "JOB", f"{TRAINING}:3"], "the job has no member 17: it has 0-3"),
        (["focus", "JOB", "17"], "the job has no member 17"),
        (["break", "4194303"], "process 4194303 does not exist"),
    ],
)
def test_bad_words_are_refused(
    words: list[str], reason: str, start_job: StartJob, tmp_path: Path, run_dapkit: Dapkit
) -> None:
    job = registered(start_job, tmp_path) if words[-1] != "4194303" else ""
    code, text = run_dapkit("job", *(job if word == "JOB" else word for word in words))
    assert code != 0
    assert reason in text
