"""A real `marimo run` on a free loopback port, and a Chromium to look at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-color-profile=srgb",
)


def chromium():
    """The Chromium to drive: $CHROMIUM, or one on the PATH; None when there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(
        (found for name in names if (found := shutil.which(name))), None
    )


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class LabServer:
    """One served lab: `start` and `stop` may be called again, on the same port."""

    def __init__(self, lab="08_fleet_orch.py", log=None):
        self.lab, self.port, self.log, self.process = lab, free_port(), log, None

    def said(self):
        """What the server wrote, for a failing test to show."""
        return self.log.read_text(errors="replace") if self.log and self.log.exists() else ""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        options = (
            "--headless",
            "--no-token",
            "--no-skew-protection",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.port),
        )
        command = [sys.executable, "-m", "marimo", "run", str(ROOT / "labs" / self.lab), *options]
        output = subprocess.DEVNULL if self.log is None else self.log.open("ab")
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        self._wait()
        return self

    def _wait(self, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"marimo run ended with {self.process.returncode}")
            try:
                urllib.request.urlopen(f"{self.url}/health", timeout=1).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise RuntimeError("marimo run did not answer")

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
