"""Engines of many members at one unix socket: each connection is a member, and answers at once.

Usage: simulated_members.py SOCKET [silent|garbage|wrong]: every tenth member is like that from setBreakpoints on.
"""

import asyncio
import json
import sys

FRAMES = [
    {
        "id": depth,
        "name": f"call_{depth}",
        "line": 10 + depth,
        "column": 1,
        "source": {"path": f"/work/part_{depth}.py"},
    }
    for depth in range(20)
]


class Member(asyncio.Protocol):
    """The engine of one member."""

    count = 0
    fault = ""

    def __init__(self):
        self.number = Member.count
        Member.count += 1
        self.buffer = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            size = int(self.buffer[:end].rpartition(b":")[2])
            if len(self.buffer) < end + 4 + size:
                return
            request = json.loads(self.buffer[end + 4 : end + 4 + size])
            self.buffer = self.buffer[end + 4 + size :]
            self.answer(request["seq"], request["command"], request.get("arguments", {}))

    def answer(self, seq, command, arguments):
        body = None
        if command == "setBreakpoints":
            if self.fault and self.number % 10 == 0:
                if self.fault == "wrong":
                    self.send(
                        {
                            "type": "response",
                            "request_seq": seq,
                            "command": command,
                            "success": True,
                            "body": {"breakpoints": 7},
                        }
                    )
                if self.fault == "garbage":
                    self.transport.write(b"Content-Length: 9\r\n\r\nnot JSON!")
                return
            body = {"breakpoints": [{"verified": True, "line": each["line"]} for each in arguments["breakpoints"]]}
        elif command == "stackTrace":
            body = {"stackFrames": FRAMES, "totalFrames": 20}
        elif command == "scopes":
            body = {"scopes": []}
        self.send({"type": "response", "request_seq": seq, "command": command, "success": True, "body": body})
        if command == "setBreakpoints" and arguments["breakpoints"]:
            self.send({"type": "event", "event": "stopped", "body": {"reason": "breakpoint", "threadId": 1}})

    def send(self, message):
        content = json.dumps({"seq": 1, **message}).encode()
        self.transport.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))


async def main():
    Member.fault = sys.argv[2] if len(sys.argv) > 2 else ""
    server = await asyncio.get_running_loop().create_unix_server(Member, sys.argv[1], backlog=4096)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
