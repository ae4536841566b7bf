import glob
import os
import socket
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

role = sys.argv[1]
LOGS = "/opt/pipeline/logs"


class Api(BaseHTTPRequestHandler):
    def do_GET(self):
        dags = [os.path.basename(path) for path in glob.glob("/opt/pipeline/dags/*.py")]
        runs = [os.path.basename(path) for path in glob.glob(LOGS + "/run-*")]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"pipeline: {','.join(dags)} ran {len(runs)} times\n".encode())


if role == "init":
    socket.create_connection(("postgres", 5432)).close()
    open(LOGS + "/prepared", "w").close()
elif role == "api-server":
    open(LOGS + "/api-server", "w").close()
    HTTPServer(("", 8080), Api).serve_forever()
else:
    urllib.request.urlopen(os.environ["PIPELINE_API_URL"]).read()
    open(LOGS + "/run-1", "w").close()
    while True:
        time.sleep(60)
