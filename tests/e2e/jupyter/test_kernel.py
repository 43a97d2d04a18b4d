"""The debugger of a notebook, by the requests that JupyterLab sends."""

import socket

import pytest

from dapkit.transport import private_folder
from e2e.jupyter.notebook import Notebook, Refused

pytestmark = pytest.mark.timeout(180)

FUNCTION = """def double(n):
    m = 2 * n
    return m
"""
CELL = """
x = [1, 2]
y = double(4)
print("ran with", y)
"""


@pytest.mark.thorough
@pytest.mark.each_python
@pytest.mark.works_with(
    "Jupyter", "JupyterLab's debugger: breakpoints in cells, steps, variables, console, rich values"
)
def test_debugger_of_a_notebook_stops_steps_shows_and_lets_go(lab: Notebook) -> None:
    before = lab.debug("debugInfo")
    assert (before["isStarted"], before["stoppedThreads"], before["breakpoints"]) == (False, [], [])
    assert "debugger" in lab.client.kernel_info(reply=True, timeout=60)["content"]["supported_features"]
    with pytest.raises(Refused, match="has not been started"):
        lab.debug("stackTrace", threadId=1)
    assert lab.finish(lab.run(FUNCTION)) == "ok"

    able = lab.start_debugger()
    assert [each["filter"] for each in able["exceptionBreakpointFilters"]] == ["raised", "uncaught", "userUnhandled"]
    [point] = lab.set_breakpoints(CELL, 2)
    assert (point["verified"], point["line"]) == (True, 2)
    running = lab.run(CELL)
    stop = lab.event("stopped")
    assert (stop["reason"], stop["threadId"]) == ("breakpoint", 1)

    # Nothing of the kernel below the cell, and no thread of it; it still answers on all channels.
    [(name, line, path)] = lab.stack()
    assert (name, line, path) == ("<module>", 2, point["source"]["path"])
    assert lab.debug("threads")["threads"][0] == {"id": 1, "name": "MainThread"}
    assert not {"Control", "IOPub", "IPythonHistorySavingThread"} & {
        thread["name"] for thread in lab.debug("threads")["threads"]
    }
    assert lab.debug("source", source={"path": path}, sourceReference=0)["content"] == CELL
    info = lab.debug("debugInfo")
    assert (info["isStarted"], info["stoppedThreads"]) == (True, [1])
    assert info["breakpoints"] == [{"source": path, "breakpoints": [{"line": 2}]}]

    assert lab.step("next") == ("<module>", 3)
    assert lab.variables()["x"]["value"] == "[1, 2]"
    assert not {"In", "_ih", "get_ipython"} & lab.variables().keys()
    assert lab.step("stepIn") == ("double", 2)
    assert [frame[:2] for frame in lab.stack()] == [("double", 2), ("<module>", 3)]
    assert lab.step("next") == ("double", 3)
    assert (lab.value("m + 1"), lab.variables()["n"]["value"]) == ("9", "4")
    rich = lab.debug("richInspectVariables", variableName="m", frameId=lab.frame)
    assert rich == {"data": {"text/plain": "8"}, "metadata": {}}
    lab.debug("copyToGlobals", srcVariableName="m", dstVariableName="copied", srcFrameId=lab.frame)
    assert lab.step("stepOut") == ("<module>", 3)
    lab.debug("continue", threadId=1)
    lab.event("continued")
    assert lab.finish(running) == "ok"
    lab.until_printed("ran with 8")

    # While nothing is stopped, variables are those of the notebook.
    rows = {row["name"]: row for row in lab.debug("inspectVariables")["variables"]}
    assert (rows["copied"]["value"], rows["y"]["value"]) == ("8", "8")
    assert "In" not in rows
    inside = lab.debug("variables", variablesReference=rows["x"]["variablesReference"])["variables"]
    assert [row["value"] for row in inside] == ["1", "2"]
    assert lab.debug("richInspectVariables", variableName="x")["data"] == {"text/plain": "[1, 2]"}
    with pytest.raises(Refused, match="nothing_of_the_kind"):
        lab.debug("richInspectVariables", variableName="nothing_of_the_kind")


@pytest.mark.works_with("Jupyter", "pause, cells that run again, exceptions that leave a cell, ending and restarting")
def test_cell_runs_again_is_paused_and_outlives_the_debugger(lab: Notebook) -> None:
    assert lab.finish(lab.run(FUNCTION)) == "ok"
    lab.start_debugger()
    lab.set_breakpoints(CELL, 2)
    assert lab.event("initialized") == {}
    running = lab.run(CELL)
    lab.event("stopped")
    lab.debug("continue", threadId=1)
    assert lab.finish(running) == "ok"
    running = lab.run(CELL)
    lab.event("stopped")
    lab.set_breakpoints(CELL)
    lab.debug("continue", threadId=1)
    assert lab.finish(running) == "ok"
    running = lab.run("going = True\nprint('goes')\nwhile going: pass")
    lab.until_printed("goes\n")
    lab.debug("pause", threadId=1)
    assert lab.event("stopped")["reason"] == "pause"
    lab.stack()
    lab.debug("evaluate", expression="going = False", context="repl", frameId=lab.frame)
    lab.debug("continue", threadId=1)
    assert lab.finish(running) == "ok"

    lab.debug("disconnect", restart=False, terminateDebuggee=False)
    assert lab.debug("debugInfo")["isStarted"] is False
    assert lab.finish(lab.run(CELL)) == "ok"
    lab.start_debugger()
    lab.debug("setExceptionBreakpoints", filters=["userUnhandled"])
    running = lab.run("def fail():\n    raise ValueError('left to the notebook')\nfail()")
    assert lab.event("stopped")["text"] == "ValueError"
    assert [frame[:2] for frame in lab.stack()] == [("fail", 2), ("<module>", 3)]
    lab.debug("continue", threadId=1)
    assert lab.finish(running) == "error"


@pytest.mark.thorough
def test_restarted_kernel_has_a_debugger_of_its_own(lab: Notebook) -> None:
    lab.start_debugger()
    lab.set_breakpoints(CELL, 2)
    lab.run(CELL)
    lab.event("stopped")
    lab.manager.restart_kernel()  # while a cell is stopped
    lab.client.wait_for_ready(timeout=60)
    info = lab.debug("debugInfo")
    assert (info["isStarted"], info["stoppedThreads"], info["breakpoints"]) == (False, [], [])
    assert lab.finish(lab.run(FUNCTION)) == "ok"
    lab.start_debugger()
    lab.set_breakpoints(FUNCTION, 2)
    running = lab.run("double(3)")
    lab.event("stopped")
    assert lab.stack()[0][:2] == ("double", 2)
    lab.debug("continue", threadId=1)
    assert lab.finish(running) == "ok"


@pytest.mark.thorough
def test_socket_of_a_kernel_that_was_killed_goes_with_the_next_one(lab: Notebook) -> None:
    left = private_folder() / "kernel-of-a-dead-one"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(left))
    lab.start_debugger()
    assert not left.exists()
