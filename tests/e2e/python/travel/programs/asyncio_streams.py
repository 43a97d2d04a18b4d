"""An asyncio server with thirty clients over loopback, and two tickers beside them."""

import asyncio
import random
import time

s_order = []
s_ticks = []
s_answers = {}


async def serve(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(random.random() / 500)
        writer.write(line.upper() + b"%d\n" % time.monotonic_ns())
        await writer.drain()
        s_order.append(line)
    writer.close()


async def client(port, number):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for i in range(8):
        writer.write(b"client %d says %d\n" % (number, i))
        answers.append((await reader.readline(), await reader.readline()))
    writer.close()
    await writer.wait_closed()
    s_answers[number] = answers


async def ticker(every):
    for i in range(int(0.3 / every)):
        s_ticks.append((every, i, time.monotonic()))
        await asyncio.sleep(every)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        await asyncio.gather(*(client(port, i) for i in range(30)), ticker(0.003), ticker(0.011))


asyncio.run(main())
s_last = s_order[-10:]
s_keys = list(s_answers)
