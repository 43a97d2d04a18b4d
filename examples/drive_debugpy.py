"""Stop a Python program with debugpy and look at it: `python drive_debugpy.py PROGRAM LINE`."""

import sys

from dapkit.client import BlockingSession, Session

program, line = sys.argv[1:]
with BlockingSession(Session.spawn([sys.executable, "-m", "debugpy.adapter"])) as session:
    session.add_breakpoint(program, int(line))
    session.break_on_exceptions()  # on none; debugpy's default would stop at sys.exit(3)
    session.launch({"program": program, "console": "internalConsole"})
    stop = session.next_stop()
    frame = session.stack_trace(stop.thread_id).stack_frames[0]
    for variable in session.variables(session.scopes(frame.id).scopes[0].variables_reference).variables:
        print(f"{frame.name}:{frame.line} {variable.name} = {variable.value}")
    session.clear_breakpoints()
    print(session.resume(), session.output.read("stdout").text)
