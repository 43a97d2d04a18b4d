"""Requests to a server of the standard library, which runs in a thread."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import requests

s_bodies = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        s_bodies.append(body["number"])
        answer = json.dumps({"sum": sum(s_bodies)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.serve_forever)
thread.start()
s_sums = []
with requests.Session() as session:
    session.trust_env = False
    for number in range(6):
        s_sums.append(session.post(f"http://127.0.0.1:{server.server_port}/", json={"number": number}).json()["sum"])
server.shutdown()
thread.join()
server.server_close()
s_last = s_sums[-1]
print(s_sums, s_last)
