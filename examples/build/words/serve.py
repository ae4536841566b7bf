"""Serves the words."""
import json
import pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = json.loads(pathlib.Path("words.json").read_text())


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"ok\n" if self.path == "/healthz" else json.dumps(list(WORDS)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", 8000), Handler).serve_forever()
