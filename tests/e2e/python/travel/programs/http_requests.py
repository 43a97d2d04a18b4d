"""http.server and urllib in one asyncio program, without threads: the server answers when the client would wait."""

import asyncio
import http.client
import http.server
import json
import time
import urllib.error
import urllib.request

s_answers = []
s_log = []
s_errors = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        if self.path == "/missing":
            self.send_error(404)
            return
        body = json.dumps({"path": self.path, "time": time.time(), "from": self.client_address}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(body.upper())

    def log_message(self, format, *arguments):
        s_log.append((self.log_date_time_string(), format % arguments))


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)


class Connection(http.client.HTTPConnection):
    def getresponse(self):
        server.handle_request()
        return super().getresponse()


class Opener(urllib.request.HTTPHandler):
    def http_open(self, request):
        return self.do_open(Connection, request)


opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Opener)
url = "http://127.0.0.1:%d" % server.server_port


async def ask(number):
    for i in range(3):
        with opener.open(f"{url}/{number}/{i}", timeout=5) as response:
            s_answers.append((dict(response.headers), json.load(response)))
        await asyncio.sleep(0.001)
    with opener.open(url, b"posted by %d" % number, timeout=5) as response:
        s_answers.append((response.status, response.read()))
    try:
        opener.open(url + "/missing", timeout=5)
    except urllib.error.HTTPError as error:
        s_errors.append((error.code, error.reason, len(error.read())))


async def main():
    begin = time.monotonic()
    while time.monotonic() < begin + 0.3:
        await asyncio.gather(*(ask(number) for number in range(4)))


asyncio.run(main())
server.server_close()
s_last = s_answers[-3:]
