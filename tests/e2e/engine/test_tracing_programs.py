"""Programs that trace themselves behave under us as they do alone: pdb, sys.settrace."""

import subprocess

import pytest

from e2e.engine.conftest import Start

pytestmark = pytest.mark.each_python

COMMANDS = "next\\nnext\\nstep\\nnext\\np z\\nreturn\\nnext\\np b\\ncontinue\\n"
PDB = f"""
    import io, pdb, sys; how = {{}}
    def g(x):
        z = x + 1
        return z
    def f():
        a = 1
        pdb.Pdb(stdin=io.StringIO("{COMMANDS}"), stdout=sys.stdout, nosigint=True, readrc=False, **how).set_trace()
        b = 2
        c = g(b)
        d = c
        return d
    f()
    print("end")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("lines", [[], [13], [6, 8, 13]], ids=["nothing", "elsewhere", "there"])
def test_pdb_stops_in_a_debugged_program_where_it_stops_alone(start: Start, python: str, lines: list[int]) -> None:
    peer = start(PDB)
    alone = subprocess.run([python, peer.folder / "prog.py"], capture_output=True, text=True, check=True).stdout
    peer.configure(breakpoints=[{"line": line, "condition": "False"} for line in lines], filters=["uncaught"])
    assert peer.finish()[:2] == (0, alone)


@pytest.mark.parametrize("lines", [[], [13], [6, 8, 13]], ids=["nothing", "elsewhere", "there"])
@pytest.mark.thorough
def test_pdb_by_monitoring_finds_its_tool_free(start: Start, python: str, lines: list[int]) -> None:
    # Python 3.14, Lib/bdb.py, _MonitoringTracer.start_trace: "Another debugger is using the monitoring tool"
    how = 'how = {"backend": "monitoring"} if sys.version_info >= (3, 14) else {}'
    peer = start(PDB.replace("how = {}", how))
    alone = subprocess.run([python, peer.folder / "prog.py"], capture_output=True, text=True, check=True).stdout
    peer.configure(breakpoints=[{"line": line, "condition": "False"} for line in lines], filters=["uncaught"])
    assert peer.finish()[:2] == (0, alone)
