"""A server that answers so many requests and ends: `servers.py KIND COUNT`. It prints its port first.

A request has a list of numbers and a name as JSON; the answer has their sum and the name.
"""

import asyncio
import http.server
import json
import sys


def answer_to(content):
    asked = json.loads(content)
    return json.dumps({"sum": sum(asked["numbers"]), "name": asked["name"].upper()}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        content = answer_to(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


class Server(http.server.HTTPServer):
    request_queue_size = 128


class ThreadingServer(http.server.ThreadingHTTPServer):
    request_queue_size = 128


def serve_http(count, server_class):
    with server_class(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)
        for _ in range(count):
            server.handle_request()


async def serve_streams(count):
    done = asyncio.Event()
    answered = served = 0

    async def serve(reader, writer):
        nonlocal answered, served
        served += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                content = answer_to(await reader.readexactly(int(head.partition(b"Content-Length:")[2].split()[0])))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content))
                await writer.drain()
                answered += 1
        except asyncio.IncompleteReadError:  # the client has gone
            writer.close()
        served -= 1
        if answered == count and served == 0:
            done.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await done.wait()


if __name__ == "__main__":
    kind, count = sys.argv[1], int(sys.argv[2])
    if kind == "http":
        serve_http(count, Server)
    elif kind == "threads":
        serve_http(count, ThreadingServer)
    else:
        asyncio.run(serve_streams(count))
