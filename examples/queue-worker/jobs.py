"""The three programs of the queue: `produce N` puts jobs in, `work` takes them out, `report` says over HTTP how many are done."""
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from queue_client import Queue


def produce(count):
    queue = Queue()
    # A second run after a failure adds nothing twice.
    if queue.command("SETNX", "produced", count):
        queue.command("RPUSH", "jobs", *range(1, count + 1))
    print(f"{count} jobs are in the queue")


def work():
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    queue = Queue()
    while not stopping:
        taken = queue.command("BLPOP", "jobs", 2)
        if taken:
            time.sleep(float(os.environ["SECONDS_PER_JOB"]))
            queue.command("RPUSH", "done", taken[1])
            print(f"job {taken[1]} is done")


def report():
    class Report(BaseHTTPRequestHandler):
        def do_GET(self):
            body = f'{{"done": {Queue().command("LLEN", "done")}}}\n'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    ThreadingHTTPServer(("", 8000), Report).serve_forever()


match sys.argv[1:]:
    case ["produce", count]:
        produce(int(count))
    case ["work"]:
        work()
    case ["report"]:
        report()
