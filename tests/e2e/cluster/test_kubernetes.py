"""Pods as members, by a stand-in for kubectl whose pods are namespaces of this machine: a cluster was not at hand."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dapkit.transport import private_folder
from job_helpers import Dapkit, may_make_namespaces, relays, until

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not may_make_namespaces(), reason="namespaces cannot be made here"),
]

KUBECTL = Path(__file__).parent / "programs" / "kubectl.py"
SECONDS = 120.0

PROGRAM = """\
import sys, time

def exchange():
    time.sleep(3600)  # exchange

def load():
    time.sleep(3600)  # load

def train():
    for n in range(1_000_000):
        time.sleep(0.01)  # train

globals()[sys.argv[1]]()
"""


def pod(index: int, phase: str = "Running", **status: object) -> dict[str, object]:
    probe = {"livenessProbe": {"periodSeconds": 5, "failureThreshold": 2}} if index == 0 else {}
    return {
        "metadata": {
            "name": f"train-{index}",
            "labels": {"app": "train"},
            "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
        },
        "spec": {"containers": [{"name": "main", **probe}]},
        "status": {"phase": phase, **status},
    }


@pytest.fixture
def pods(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three pods that run, one of which is elsewhere unless others are asked for, and one that has failed."""
    functions = getattr(request, "param", ("exchange", "load", "exchange"))
    folder = tmp_path / "pods"
    folder.mkdir()
    program = folder / "train.py"
    program.write_text(PROGRAM)
    started = []
    for index in range(3):
        own_folder = f'mount -t tmpfs -o mode=0700 pod {private_folder()} && exec "$@"'  # files of a pod are its own
        words = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", own_folder, "sh"]
        words += [sys.executable, str(program)]
        process = subprocess.Popen([*words, functions[index]])
        started.append(process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        end = time.monotonic() + SECONDS
        while not (text := children.read_text().split()):
            assert time.monotonic() < end
            time.sleep(0.02)
        (folder / f"train-{index}.pid").write_text(text[0])
    failed = {"containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]}
    (folder / "pods.json").write_text(json.dumps({"items": [*map(pod, range(3)), pod(3, "Failed", **failed)]}))
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text(f'#!/bin/sh\nexec {sys.executable} {KUBECTL} "$@"\n')
    kubectl.chmod(0o755)
    monkeypatch.setenv("POD_FOLDER", str(folder))
    monkeypatch.setenv("PATH", f"{kubectl.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    yield folder
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("pods")
def test_pods_are_read_by_a_command_in_each(run_dapkit: Dapkit) -> None:
    end = time.monotonic() + SECONDS
    while "rank 1 is LATE" not in (text := run_dapkit("job", "where", "k8s://ml/app=train")[1]):
        assert time.monotonic() < end, text
        time.sleep(0.2)
    assert "load @ train.py:7" in text
    assert "2 members 0,2 (most)" in text
    assert "rank 3 ENDED: its pod is failed (OOMKilled, exit code 137)" in text
    assert "Pod train-0 is restarted by its liveness probe if it does not answer for 10 s" in text


@pytest.mark.parametrize("pods", [("train", "train", "train")], indirect=True)
def test_pods_stop_at_a_breakpoint_and_one_is_debugged(pods: Path, run_dapkit: Dapkit) -> None:
    job, place = "k8s://ml/app=train", f"{pods / 'train.py'}:11"
    code, text = run_dapkit("job", "break", "--wait-for", "all", "--timeout", "120", job, place)
    assert code == 0, text
    assert f"Breakpoint {place.rpartition('/')[2]}: set in 3 members" in text, text
    assert "- 3 members 0-2 stopped (breakpoint)\n  train @ train.py:11\n" in text
    code, text = run_dapkit("job", "continue", "--wait-for", "all", "-e", "n >= 0", job)
    assert (code, "  n >= 0 = True\n" in text) == (0, True), text
    code, text = run_dapkit("job", "focus", job, "1")
    assert (code, "train.py:11 in train" in text) == (0, True), text
    code, text = run_dapkit("evaluate", "__import__('os').getpid()")
    assert (code, text.strip()) == (0, "Result: 1"), text
    run_dapkit("detach")
    code, text = run_dapkit("job", "release", job)
    assert code == 0, text
    until(relays, lambda pids: not pids)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("k8s://ml", "does not name pods: expected k8s://NAMESPACE/SELECTOR"),
        ("k8s://ml/broken=yes", "kubectl cannot list the pods: error: the server is not reachable"),
    ],
)
@pytest.mark.usefixtures("pods")
def test_a_target_without_pods_is_refused(target: str, reason: str, run_dapkit: Dapkit) -> None:
    code, text = run_dapkit("job", "where", target)
    assert code == 2
    assert reason in text
