"""A job in a task is cancelled where it runs, so that a stop does not wait for its end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from colonnade.spark_ext.executors import run_in_task
from colonnade.tableformat.jobs import Stop

pytestmark = pytest.mark.spark

LONG_S = 120


def wait_long(file: str) -> str:
    Path(file).touch()
    time.sleep(LONG_S)
    return "done"


def test_a_stop_cancels_the_task_that_runs(spark: SparkSession, tmp_path: Path) -> None:
    stop, begun = Stop(), tmp_path / "begun"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_in_task, spark, wait_long, str(begun), stop)
        while not begun.exists():
            assert not running.done(), running.exception()
            time.sleep(0.05)
        at = time.monotonic()
        stop.request()
        with pytest.raises(Exception, match="(?i)cancel"):
            running.result(LONG_S)
    assert time.monotonic() - at < LONG_S / 2
