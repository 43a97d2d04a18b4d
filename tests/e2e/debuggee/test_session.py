"""The life of a session: start, configuration, stops, and the end of the program or of the link."""

from e2e.debuggee.conftest import Start

PROGRAM = """
    import sys
    def add(a, b):
        total = a + b
        return total
    def main():
        items = [1, 2, {"k": (1,)}]
        x = add(1, 2)
        print("x", x)
        return x
    main()
    sys.exit(3)
"""


def test_program_stops_at_a_breakpoint_shows_itself_and_runs_to_its_end(start: Start) -> None:
    peer = start(PROGRAM)
    placed = peer.configure(lines=[3])
    assert [(one["verified"], one["line"]) for one in placed] == [(True, 3)]
    stopped = peer.stopped("breakpoint")
    assert stopped == {
        "reason": "breakpoint",
        "threadId": 1,
        "allThreadsStopped": True,
        "hitBreakpointIds": [placed[0]["id"]],
    }
    assert [(frame["name"], frame["line"]) for frame in peer.stack()] == [("add", 3), ("main", 7), ("<module>", 10)]
    assert {name: row["value"] for name, row in peer.locals().items()} == {"a": "1", "b": "2"}
    assert peer.locals(frame=1)["items"]["value"] == "[1, 2, {'k': (1,)}]"
    peer.go()
    assert peer.finish() == (3, "x 3\n", "")
    *_, last = peer.events()
    assert (last["event"], last["body"]) == ("exited", {"exitCode": 3})
