"""Pods as members, by a stand-in for kubectl whose pods are namespaces of this machine: a cluster was not at hand."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def may_make_namespaces() -> bool:
    """Return whether the system lets us make pods: root may, but not in each container."""
    command = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "true"]
    try:
        return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not may_make_namespaces(), reason="namespaces cannot be made here"),
]

KUBECTL = Path(__file__).parent / "programs" / "kubectl.py"
SECONDS = 120.0

type Dapkit = Callable[..., tuple[int, str]]

PROGRAM = """\
import sys, time

def exchange():
    time.sleep(3600)  # exchange

def load():
    time.sleep(3600)  # load

exchange() if sys.argv[1] == "exchange" else load()
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
def pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Three pods that run, one of which is elsewhere, and one that has failed."""
    folder = tmp_path / "pods"
    folder.mkdir()
    program = folder / "train.py"
    program.write_text(PROGRAM)
    started = []
    for index in range(3):
        words = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, str(program)]
        process = subprocess.Popen([*words, "load" if index == 1 else "exchange"])
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


def test_pods_are_read_by_a_command_in_each(pods: Path, run_dapkit: Dapkit) -> None:
    end = time.monotonic() + SECONDS
    while "rank 1 is LATE" not in (text := run_dapkit("job", "where", "k8s://ml/app=train")[1]):
        assert time.monotonic() < end, text
        time.sleep(0.2)
    assert "load @ train.py:7" in text
    assert "2 members 0,2 (most)" in text
    assert "rank 3 ENDED: its pod is failed (OOMKilled, exit code 137)" in text
    assert "Pod train-0 is restarted by its liveness probe if it does not answer for 10 s" in text
    code, text = run_dapkit("job", "break", "k8s://ml/app=train", f"{pods / 'train.py'}:4")
    assert code != 0
    assert "breakpoints are set on this machine only so far" in text


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
