"""What else watches a program with time travel: the clock does not take its events away."""

import pytest

from e2e.python.adapter_client import AdapterClient

pytestmark = [pytest.mark.each_python, pytest.mark.row("reverseContinue")]

TRACES = """
    import sys

    seen = []

    def trace(frame, event, arg):
        frame.f_trace_opcodes = True
        seen.append(event)
        return trace

    def work():
        first = 1
        sys._getframe().f_trace = trace
        sys._getframe().f_trace_opcodes = True
        sys.settrace(trace)
        second = 2
        return first

    work()
    sys.settrace(None)
    print(seen.count("opcode") > 3, "line" in seen)
"""


async def test_instructions_are_traced_in_code_that_the_clock_knows(driver: AdapterClient, python: str) -> None:
    # Nothing is to stop it, so that the engine watches no code as it starts, and the clock is alone.
    await driver.session.break_on_exceptions()
    await driver.run(TRACES, python=python, timeTravel=True)
    assert driver.output("stdout") == "True True\n"
