"""As much of a Redis client as a queue needs: commands of words, answers of numbers, texts and lists."""
import os
import socket
from urllib.parse import urlparse


class Queue:
    def __init__(self):
        url = urlparse(os.environ["QUEUE_URL"])
        self.connection = socket.create_connection((url.hostname, url.port or 6379), timeout=30)
        self.stream = self.connection.makefile("rb")

    def command(self, *words):
        texts = [str(word).encode() for word in words]
        head = b"*%d\r\n" % len(texts)
        self.connection.sendall(head + b"".join(b"$%d\r\n%s\r\n" % (len(text), text) for text in texts))
        return self.answer()

    def answer(self):
        line = self.stream.readline().rstrip(b"\r\n")
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise OSError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.stream.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return None if rest == b"-1" else [self.answer() for _ in range(int(rest))]
        return rest.decode()
