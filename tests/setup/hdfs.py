"""A real HDFS for tests: Hadoop's own namenode and datanode in one process.

`python tests/setup/hdfs.py` fetches its jar with Spark's own Ivy and compiles `Hdfs.java`: 55 MB,
once. The rest of Hadoop comes from the pyspark that Python imports.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.setup.ivy import Artifact, fetch, spark_jars, version_of
from tests.setup.server import KEEP, Server, free_port, kept, run

HASHES = {
    "3.4.2": "ae2406c544825b7734b8aad4f87eff60d9ec422284f0b16c2856032083b63c77",
    "3.5.0": "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c",
}
"""The SHA-256 hash of Hadoop's minicluster, by the version of Spark's Hadoop."""

_SOURCE = Path(__file__).with_name("Hdfs.java")


def installed() -> Path:
    """Return the folder of the server's classes. One of several processes makes a missing one."""
    hadoop = version_of("hadoop-client-api")
    source = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=KEEP) as made:
            place = Path(made, "hdfs")
            place.mkdir()
            name = "hadoop-client-minicluster"
            jar = fetch(Artifact("org.apache.hadoop", name, hadoop, HASHES[hadoop]), place)
            path = f"{jar}:{spark_jars() / f'hadoop-client-api-{hadoop}.jar'}"
            compile_it = ["javac", "-nowarn", "-d", place, "-cp", path, _SOURCE]
            run(compile_it, "Hdfs.java could not be compiled")
            place.rename(folder)

    return kept(f"hdfs-{hadoop}-{source}", make)


class Hdfs(Server):
    """A file system of its own in `folder`, on free ports of this machine."""

    def __init__(self, folder: Path) -> None:
        self.port, self.rpc_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folders = 0
        classes, jars = installed(), spark_jars()
        path = f"{classes}:{classes}/*:{jars}/*"
        command = ["java", "-Xmx512m", "-cp", path, "Hdfs", folder / "data"]
        ready = f"{self.url}/webhdfs/v1/ready?op=GETFILESTATUS"
        super().__init__(folder, [*command, self.rpc_port, self.port], ready)

    def _wait(self, ready: str) -> None:
        """Wait for the file that the server writes once it can; on a busy machine for minutes."""
        deadline = time.monotonic() + 240
        while True:
            try:
                with urllib.request.urlopen(ready, timeout=5):
                    return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"HDFS did not start: {self._log.read_text()}") from None
                time.sleep(0.2)

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        return {"http_address": f"127.0.0.1:{self.port}", **others}

    def new_bucket(self) -> str:
        """Return a namenode and the name of an absent folder."""
        self._folders += 1
        return f"127.0.0.1:{self.rpc_port}/folder-{os.getpid()}-{self._folders}"


if __name__ == "__main__":
    print(installed())
