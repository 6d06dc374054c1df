"""A server with the API of Google Cloud Storage for tests, built from its source once.

`python tests/setup/gcs.py` builds it: a minute on two quiet cores, and nothing where it is there.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.server import Server, free_port, go_program

VERSION = "v1.56.1"


def binary() -> Path:
    """The server's program; built where it is missing, while other processes wait."""
    return go_program("github.com/fsouza/fake-gcs-server", VERSION)


class FakeGcs(Server):
    """A server with data in memory, on a free port of this machine."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._buckets = 0
        place = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port)]
        command = [binary(), *place, "-backend", "memory", "-log-level", "error"]
        super().__init__(folder, command, f"{self.url}/_internal/healthcheck")

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        return {"endpoint_url": self.url, **others}

    def new_bucket(self) -> str:
        """Make an empty bucket."""
        self._buckets += 1
        name = f"bucket-{os.getpid()}-{self._buckets}"
        request = urllib.request.Request(
            f"{self.url}/storage/v1/b",
            data=json.dumps({"name": name}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30):
            return name


if __name__ == "__main__":
    print(binary())
