import os

from flask import Flask, render_template

app = Flask(__name__)


@app.get("/")
def index():
    return render_template("index.html", host=os.uname().nodename)


@app.get("/healthz")
def healthz():
    return "ok\n"
