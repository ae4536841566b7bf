"""A blog with one page: reads and writes posts in Postgres and keeps an upload for each."""
import html
import os
import pathlib
import socket
import struct
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

HOST, PORT = os.environ["BLOG_DB_HOST"].split(":")
NAME, USER, PASSWORD = (os.environ[f"BLOG_DB_{key}"] for key in ("NAME", "USER", "PASSWORD"))
UPLOADS = pathlib.Path("/var/lib/blog/uploads")


def query(sql):
    """The rows of a query's answer, as lists of texts: start-up, password and simple query of Postgres' protocol."""

    def send(kind, body):
        connection.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    rows = []
    with socket.create_connection((HOST, int(PORT)), timeout=5) as connection:
        stream = connection.makefile("rb")
        send(b"", struct.pack("!i", 196608) + f"user\0{USER}\0database\0{NAME}\0\0".encode())
        asked = False
        while True:
            kind = stream.read(1)
            if not kind:
                raise OSError("the database has closed the connection")
            body = stream.read(struct.unpack("!i", stream.read(4))[0] - 4)
            if kind == b"R" and struct.unpack("!i", body[:4])[0] == 3:
                send(b"p", PASSWORD.encode() + b"\0")
            elif kind == b"E":
                raise OSError(body.replace(b"\0", b" ").decode())
            elif kind == b"D":
                at, row = 2, []
                for _ in range(struct.unpack("!h", body[:2])[0]):
                    (length,) = struct.unpack("!i", body[at : at + 4])
                    row.append(body[at + 4 : at + 4 + length].decode())
                    at += 4 + length
                rows.append(row)
            elif kind == b"Z" and asked:
                return rows
            elif kind == b"Z":
                asked = True
                send(b"Q", sql.encode() + b"\0")


class Blog(BaseHTTPRequestHandler):
    def answer(self, text, status=200):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/healthz":
            return self.answer("ok")
        posts = "".join(f"<li>{html.escape(text)}</li>" for (text,) in query("select text from posts order by id desc"))
        self.answer(f"<!doctype html><h1>{html.escape(os.environ['BLOG_TITLE'])}</h1><ul>{posts}</ul>")

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        text = form.get("text", [""])[0]
        quoted = text.replace("'", "''")
        query(f"insert into posts (text) values ('{quoted}')")
        (UPLOADS / f"{time.time_ns()}.txt").write_text(text)
        self.answer("posted")


query("create table if not exists posts (id serial primary key, text text not null)")
ThreadingHTTPServer(("", 8000), Blog).serve_forever()
