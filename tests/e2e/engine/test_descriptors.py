"""Descriptors and signals of a program: it may close and use any number, and wait for any signal."""

import subprocess
import textwrap
from pathlib import Path

import pytest

from e2e.engine.conftest import Start
from e2e.taken_descriptors import TAKES_ALL


def test_program_that_closes_the_usual_numbers_is_still_debugged(start: Start) -> None:
    peer = start(
        """
        import os, tempfile
        def f(i):
            return i
        os.closerange(3, 1000)
        files = [tempfile.TemporaryFile("w+") for _ in range(8)]
        for i in range(2):
            f(i)
        for file in files:
            file.write("mine"); file.seek(0)
            assert file.read() == "mine"
        print(min(file.fileno() for file in files))
        """
    )
    peer.configure(lines=[3])
    for expected in ("0", "1"):
        peer.stopped("breakpoint")
        assert peer.value("i") == expected
        peer.go()
    assert peer.finish() == (0, "3\n", "")


TAKING = """\
import os, resource, sys, time
def f(i):
    return i
{takes_all}
f(1)
until = time.monotonic() + 20
while sys.monitoring.get_tool(0) and time.monotonic() < until:
    time.sleep(0.01)
f(2)
print(sys.monitoring.get_tool(0), os.fstat(file).st_size, [os.fstat(number).st_size for number in set(numbers)])
sys.exit(7)
"""


@pytest.mark.each_python
@pytest.mark.parametrize("stops", [True, False])
def test_program_that_closes_all_numbers_and_uses_them_itself_runs_on_undebugged(start: Start, *, stops: bool) -> None:
    peer = start(TAKING.format(takes_all=TAKES_ALL))
    peer.configure(lines=[3] if stops else [])
    assert peer.finish() == (7, "None 0 [0, 0, 0, 0]\n", "")
    assert not any(event["event"] in ("stopped", "exited") for event in peer.events())


def test_own_descriptors_lie_above_the_soft_limit_where_they_may(python: str) -> None:
    package = Path(__file__).parents[3] / "src/dapkit/python"
    program = f"""
        import os, resource, sys
        sys.path.insert(0, {str(package)!r})
        from debuggee.connection.descriptor import OwnDescriptor
        for soft, hard in ((64, 4000), (64, 64)):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            own = OwnDescriptor(os.pipe()[0])
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
            print(own.number, own.is_ours(), os.get_inheritable(own.number))
        os.dup2(1, own.number)
        own.close()
        print(own.is_ours(), os.fstat(own.number).st_ino == os.fstat(1).st_ino)
    """
    ran = subprocess.run(
        [python, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False, cwd=package.parent
    )
    assert (ran.stdout, ran.stderr) == ("64 True False\n32 True False\nFalse True\n", "")


def test_program_may_block_signals_and_wait_for_them(start: Start) -> None:
    peer = start(
        """
        import os, signal, threading
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD})
        os.kill(os.getpid(), signal.SIGUSR1)
        print(signal.sigwait({signal.SIGUSR1}).name, flush=True)
        killer = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGTERM))
        killer.start()
        print(signal.sigwait({signal.SIGTERM}).name, flush=True)
        killer.join()
        if not os.fork():
            os._exit(3)
        print(signal.sigwaitinfo({signal.SIGCHLD}).si_status, flush=True)
        """
    )
    peer.configure()
    assert peer.finish() == (0, "SIGUSR1\nSIGTERM\n3\n", "")
