"""One Spark session for all tests of this folder; nothing in it says where Colonnade lies.

Workers find the sources by PYTHONPATH and the data source by its name, as for users. The session's
time zone is not UTC and tasks are tried twice, because both are where mistakes hide.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import colonnade
from colonnade.spark_ext.java.build import build
from tests.spark_ext.java_names import keep_java_names

ROOT = Path(__file__).parent.parent.parent

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(ROOT))))


def pytest_sessionstart() -> None:
    """Test the Java of the present sources, not a jar that was built before."""
    build()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A classic session, `local[2]`, that tries each task twice."""
    session = (
        SparkSession.builder.master("local[2,2]")
        .appName("colonnade tests")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.ui.explainMode", "simple")  # nobody reads it, and it takes time
        .config("spark.python.daemon.module", "tests.spark_ext.preloaded_daemon")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "America/New_York")
        .config("spark.sql.timeType.enabled", "true")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    keep_java_names()
    yield session
    session.stop()


@pytest.fixture
def port_of_connect() -> Iterator[None]:
    """The port of a local server of Spark Connect, which tests side by side take in turn.

    The JVM of a test that has ended may have it for some seconds more.
    """
    with open(os.path.join(tempfile.gettempdir(), "port-of-connect.lock"), "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        while not _is_free(15002):
            time.sleep(0.2)
        yield


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    """Ids 0, 1 in epoch 2 and 2, 3 in epoch 3; epoch 1 made the empty table."""
    made = colonnade.create(
        tmp_path / "trips",
        pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())]),
    )
    made.append(pa.table({"id": [0, 1], "name": ["a", "b"]}))
    made.append(pa.table({"id": [2, 3], "name": ["c", None]}))
    return made


@pytest.fixture
def error_of() -> Callable[[Callable[[], object]], str]:
    """Runs what must fail with one of our sentences, and returns that sentence with its code."""

    def run(action: Callable[[], object]) -> str:
        with pytest.raises(Exception, match=r"\[COLONNADE_[A-Z_]+\] ") as caught:
            action()
        text = str(caught.value)
        assert "Traceback" not in text
        assert 'File "' not in text
        sentence = text[text.index("[COLONNADE_") :].splitlines()[0]
        assert sentence.endswith("."), sentence
        return sentence

    return run
