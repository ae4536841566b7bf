"""The ballot: shows two options and puts each vote into the list `votes` in Redis."""
import json
import os
import socket
import uuid
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

OPTIONS = {"a": os.environ["OPTION_A"], "b": os.environ["OPTION_B"]}


def push(vote):
    """Appends a vote with one RPUSH in Redis' own protocol."""
    words = ["RPUSH", "votes", json.dumps(vote)]
    command = f"*{len(words)}\r\n" + "".join(f"${len(w.encode())}\r\n{w}\r\n" for w in words)
    with socket.create_connection((os.environ["REDIS_HOST"], 6379), timeout=5) as redis:
        redis.sendall(command.encode())
        answer = redis.recv(128)
    if not answer.startswith(b":"):
        raise OSError(answer.decode())


class Ballot(BaseHTTPRequestHandler):
    def voter(self):
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get("voter")
        return cookie.value if cookie else uuid.uuid4().hex[:16]

    def page(self, voter, choice=None):
        buttons = "".join(f'<button name="vote" value="{key}">{name}</button>' for key, name in OPTIONS.items())
        thanks = f"<p>You voted for {OPTIONS[choice]}.</p>" if choice else ""
        body = f"<!doctype html><title>Vote</title><form method=post>{buttons}</form>{thanks}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", f"voter={voter}")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.page(self.voter())

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        choice = form.get("vote", [""])[0]
        if choice not in OPTIONS:
            self.send_error(400, "vote for a or b")
            return
        voter = self.voter()
        push({"voter": voter, "vote": choice})
        self.page(voter, choice)


ThreadingHTTPServer(("", 8000), Ballot).serve_forever()
