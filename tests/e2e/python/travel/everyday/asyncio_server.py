"""A chat server and its clients in one loop: rooms, time limits, cancelled tasks, and a client that goes without a word."""

import asyncio
import contextlib
import random
import struct
from collections import defaultdict

s_heard = defaultdict(list)
s_events = []


class Room:
    def __init__(self, name):
        self.name = name
        self.members = {}
        self.lines = asyncio.Queue(maxsize=4)

    async def pass_on(self):
        while True:
            sender, line = await self.lines.get()
            for name, writer in list(self.members.items()):
                if name != sender and not writer.is_closing():
                    send(writer, {"from": sender, "line": line})
            self.lines.task_done()


def send(writer, message):
    data = repr(message).encode()
    writer.write(struct.pack(">I", len(data)) + data)


async def receive(reader):
    [size] = struct.unpack(">I", await reader.readexactly(4))
    return eval(await reader.readexactly(size))


class Server:
    def __init__(self):
        self.rooms = {name: Room(name) for name in ("red", "blue")}
        self.served = 0

    async def serve(self, reader, writer):
        hello = await receive(reader)
        name, room = hello["name"], self.rooms[hello["room"]]
        room.members[name] = writer
        send(writer, {"welcome": name, "others": len(room.members) - 1})
        self.served += 1
        try:
            while True:
                message = await asyncio.wait_for(receive(reader), 5)
                await room.lines.put((name, message["line"]))
        except asyncio.IncompleteReadError:
            s_events.append(("gone", name))
        finally:
            del room.members[name]
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def client(port, number, lines):
    name = f"client {number}"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    send(writer, {"name": name, "room": ("red", "blue")[number % 2]})
    welcome = await receive(reader)
    s_heard[name].append(welcome["welcome"])

    async def listen():
        while True:
            heard = await receive(reader)
            s_heard[heard["from"]].append(heard["line"])

    listening = asyncio.create_task(listen())
    for line in range(lines):
        send(writer, {"line": line * number})
        await writer.drain()
        await asyncio.sleep(random.random() / 200)
    await asyncio.sleep(0.02)
    listening.cancel()
    try:
        await listening
    except asyncio.CancelledError:
        s_events.append(("cancelled", name))
    if number == 3:
        writer.transport.abort()
    else:
        writer.close()
        await writer.wait_closed()


async def main():
    server = Server()
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    passing = [asyncio.create_task(room.pass_on(), name=room.name) for room in server.rooms.values()]
    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(client(port, number, 6))
    try:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
    except TimeoutError:
        s_events.append(("late", server.served))
    for task in passing:
        task.cancel()
    listener.close()
    return await asyncio.gather(*passing, return_exceptions=True)


s_answers = asyncio.run(main())
s_lengths = {name: len(lines) for name, lines in s_heard.items()}
pass
