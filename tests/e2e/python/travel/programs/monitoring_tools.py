"""Tools of sys.monitoring that a library takes, as Hypothesis takes the third one while it runs a test."""

import sys

monitoring = sys.monitoring
s_holders = [monitoring.get_tool(number) for number in range(4)]
s_lines = []
s_rounds = []


def on_line(code, line):
    s_lines.append((code.co_name, line - code.co_firstlineno))


def add(count):
    total = 0
    for number in range(count):
        total += number
    return total


monitoring.register_callback(3, monitoring.events.LINE, on_line)
for count in range(12):
    monitoring.use_tool_id(3, "lines")
    monitoring.set_local_events(3, add.__code__, monitoring.events.LINE)
    s_rounds.append((add(count), len(s_lines)))
    monitoring.set_local_events(3, add.__code__, 0)
    monitoring.free_tool_id(3)
s_left = monitoring.get_tool(3)
