"""A stand-in for PyTorch's debug server, where that has its file: pages with the record of each rank.

Usage: _frontend.py RECORDS, a file with a list: the record of each rank, a text for a rank that has not answered, or
`"COUNT"` for the number of a collective, which is another one at each request.
"""

import html
import itertools
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

counter = itertools.count(1)


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        records = json.loads(Path(sys.argv[1]).read_text().replace('"COUNT"', str(next(counter))))
        if self.path != "/fr_trace_json":
            records = [{} for _ in records]
        ranks = []
        for rank, record in enumerate(records):
            ranks.append(f"<h2>Rank {rank}: http://node:{rank}/handler/fr_trace_json?backend=gloo</h2>")
            text = record if isinstance(record, str) else json.dumps(record, indent=2)
            ranks.append(f"<pre>{html.escape(text)}</pre>")
        content = f"<!doctype html><head><title>FlightRecorder</title></head><body>{''.join(ranks)}</body>".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


HTTPServer(("127.0.0.1", 0), Pages).serve_forever()
