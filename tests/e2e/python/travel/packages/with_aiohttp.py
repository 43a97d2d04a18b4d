"""A server and a client of aiohttp in one loop."""

import asyncio

from aiohttp import ClientSession, web

s_seen = []


async def add(request):
    data = await request.json()
    s_seen.append(data["number"])
    return web.json_response({"total": sum(s_seen)})


async def main():
    app = web.Application()
    app.router.add_post("/add", add)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    totals = []
    async with ClientSession() as session:
        for number in range(8):
            async with session.post(f"http://127.0.0.1:{port}/add", json={"number": number}) as response:
                totals.append((await response.json())["total"])
        async with session.get(f"http://127.0.0.1:{port}/none") as response:
            status = response.status
    await runner.cleanup()
    return totals, status


s_totals, s_status = asyncio.run(main())
s_last = s_totals[-1]
print(s_totals, s_status, s_last)
