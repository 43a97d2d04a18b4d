"""Asks its own server, by sockets."""

import asyncio

from aiohttp import ClientSession, web


async def answer(request: web.Request) -> web.Response:
    """Answer."""
    return web.json_response({"number": int(request.query["number"])})


async def main() -> None:
    """Serve, and ask."""
    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    total = 0
    async with ClientSession() as session:
        for number in range(40):
            async with session.get(f"http://127.0.0.1:{port}/?number={number}") as response:
                total += (await response.json())["number"]
    await runner.cleanup()
    print(total)


asyncio.run(main())
