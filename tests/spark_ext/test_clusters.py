"""The same road on Spark Connect, on a local cluster and on a standalone one of two workers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark
import pytest

pytestmark = pytest.mark.spark

HOME = Path(pyspark.__file__).parent
ROAD = Path(__file__).with_name("road.py")


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, of which nothing is left afterwards."""
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_DIRS": str(log.parent),  # killed, Spark leaves its temporary files behind
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=environment, start_new_session=True
        )
        try:
            yield process
        finally:
            # The group outlives its leader when that has left children behind.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def walk(master: str, folder: Path) -> None:
    log = folder / "road.log"
    with running([sys.executable, str(ROAD), master, str(folder)], log) as process:
        code = process.wait(timeout=200)
    assert code == 0, log.read_text()[-8000:]
    assert "the whole road: ok" in log.read_text()


def wait_for(pattern: str, log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if match := re.search(pattern, log.read_text() if log.exists() else ""):
            return match[0]
        time.sleep(0.2)
    pytest.fail(f"{pattern!r} did not appear: {log.read_text()[-4000:]}")


@pytest.mark.parametrize("master", ["connect", "local-cluster[2,1,1024]"])
def test_the_road_on(master: str, tmp_path: Path) -> None:
    walk(master, tmp_path)


def test_the_road_on_a_standalone_cluster_of_two_workers(tmp_path: Path) -> None:
    launcher = str(HOME / "bin" / "spark-class")
    package = "org.apache.spark.deploy"
    with ExitStack() as stack:
        log = tmp_path / "master.log"
        address = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        stack.enter_context(running([launcher, f"{package}.master.Master", *address], log))
        url = wait_for(r"spark://127\.0\.0\.1:\d+", log)
        for name in ("one", "two"):
            log = tmp_path / f"{name}.log"
            options = ["--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / name)]
            command = [launcher, f"{package}.worker.Worker", *address, *options, url]
            stack.enter_context(running(command, log))
            wait_for("Successfully registered with master", log)
        walk(url, tmp_path)
