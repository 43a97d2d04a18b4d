"""Web programs, one that answers the same for each framework, and where they listen."""

import contextlib
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

SECONDS = 60.0


class WebProgram(NamedTuple):
    """A program with three views: `view` doubles a number, `gone` says 404, `fail` divides by zero.

    Attributes:
        command: what is run, as words for the entry.
        reloading: launch arguments with which it starts itself anew when its file was saved.

    """

    framework: str
    file: str
    text: str
    command: tuple[str, ...]
    reloading: dict[str, object]

    def line(self, comment: str) -> int:
        """Return the line that has a comment."""
        return next(n for n, text in enumerate(self.text.splitlines(), 1) if f"# {comment}" in text)


FLASK = WebProgram(
    "Flask",
    "shop.py",
    """\
from flask import Flask, abort
app = Flask(__name__)
@app.get("/<int:n>")
def view(n):
    doubled = n * 2              # the view
    return str(doubled)
@app.get("/gone")
def gone():
    abort(404)
@app.get("/fail")
def fail():
    return str(1 / 0)            # the error
""",
    ("--module", "flask", "--", "--app", "shop", "run", "--port", "0"),
    {"module": "flask", "args": ["--app", "shop", "run", "--port", "0", "--reload"]},
)
FASTAPI = WebProgram(
    "FastAPI",
    "shop.py",
    """\
from fastapi import FastAPI, HTTPException
app = FastAPI()
@app.get("/gone")
def gone():
    raise HTTPException(404)
@app.get("/fail")
def fail():
    return 1 / 0                 # the error
@app.get("/{n}")
async def view(n: int):
    doubled = n * 2              # the view
    return doubled
""",
    ("--module", "uvicorn", "--", "shop:app", "--port", "0"),
    {"module": "uvicorn", "args": ["shop:app", "--port", "0", "--reload"]},
)
DJANGO = WebProgram(
    "Django",
    "manage.py",
    """\
import sys
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import Http404, HttpResponse
from django.urls import path
def view(request, n):
    doubled = n * 2              # the view
    return HttpResponse(str(doubled))
def gone(request):
    raise Http404
def fail(request):
    return HttpResponse(1 / 0)   # the error
urlpatterns = [path("<int:n>", view), path("gone", gone), path("fail", fail)]
settings.configure(DEBUG=True, SECRET_KEY="x", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])
if __name__ == "__main__":
    execute_from_command_line(sys.argv)
""",
    ("--program", "manage.py", "--", "runserver", "127.0.0.1:0", "--noreload"),
    {"program": "manage.py", "args": ["runserver", "127.0.0.1:0"], "django": True},
)


def port_of(process: subprocess.Popen[bytes]) -> int:
    """Wait until a process listens on a port; return the port."""
    while (port := port_now(process.pid)) is None:
        assert process.poll() is None, "it has ended"
        time.sleep(0.01)
    return port


def port_now(pid: int) -> int | None:
    """Return the port on which a process listens, None if it does not, or has ended."""
    held = set(_descriptors(pid))
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_ = fields = line.split()
        if state == "0A" and f"socket:[{fields[9]}]" in held:
            return int(local.rpartition(":")[2], 16)
    return None


def _descriptors(pid: int) -> list[str]:
    found: list[str] = []
    with contextlib.suppress(OSError):  # it ends
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                found.append(str(entry.readlink()))
    return found


class Visit:
    """A request to a web program, on its way; `answer` is the text of the answer, or its status if that is an error."""

    def __init__(self, port: int, path: str) -> None:
        self._address = f"http://127.0.0.1:{port}/{path}"
        self._answer = ""
        self._thread = threading.Thread(target=self._go)
        self._thread.start()

    def _go(self) -> None:
        try:
            with urllib.request.urlopen(self._address, timeout=SECONDS) as answer:  # noqa: S310 - of our own
                self._answer = answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                self._answer = str(error.code)
        except OSError as error:
            self._answer = str(error)

    def answer(self) -> str:
        """Wait for the answer."""
        self._thread.join()
        return self._answer
