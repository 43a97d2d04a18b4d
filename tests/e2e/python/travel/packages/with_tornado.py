"""A server and a client of Tornado."""

import asyncio

from tornado import httpclient, httpserver, netutil, web

s_names = []


class Hello(web.RequestHandler):
    async def get(self, name):
        s_names.append(name)
        await asyncio.sleep(0)
        self.write({"hello": name, "count": len(s_names)})


async def main():
    server = httpserver.HTTPServer(web.Application([(r"/(\w+)", Hello)]))
    sockets = netutil.bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    port = sockets[0].getsockname()[1]
    client = httpclient.AsyncHTTPClient()
    bodies = [(await client.fetch(f"http://127.0.0.1:{port}/name{number}")).body.decode() for number in range(6)]
    server.stop()
    return bodies


s_bodies = asyncio.run(main())
s_last = s_bodies[-1]
print(s_last, s_names)
