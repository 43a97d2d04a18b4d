"""A server and clients on uvloop's loop."""

import asyncio

import uvloop

s_lines = []


async def serve(reader, writer):
    while line := await reader.readline():
        s_lines.append(line.decode().strip())
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def ask(port, name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for number in range(5):
        writer.write(f"{name} {number}\n".encode())
        answers.append((await reader.readline()).decode().strip())
    writer.close()
    await writer.wait_closed()
    return answers


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        return [await ask(port, name) for name in ("ann", "bo", "cy")]


s_answers = uvloop.run(main())
s_count = len(s_lines)
print(s_answers[-1], s_count)
