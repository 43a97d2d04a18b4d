"""A process group ends with its parent, at whatever moment the parent is killed."""

import subprocess
import sys

import pytest

from e2e.hub.processes import ended

PARENT = """
import os, signal, subprocess, sys
from dapkit.transport.group_reaper import GroupReaper
guard = GroupReaper()
leader = subprocess.Popen(["sleep", "600"], env=guard.mark(None), start_new_session=True)
if "watched" in sys.argv:
    guard.watch(leader.pid)
print(leader.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["started", "watched"])
def test_leader_ends_with_a_parent_that_is_killed(moment: str) -> None:
    killed = subprocess.run([sys.executable, "-c", PARENT, moment], stdout=subprocess.PIPE, check=False)
    leader = int(killed.stdout)
    assert ended(leader)
