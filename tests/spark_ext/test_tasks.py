"""Tasks are started in one module. A stop cancels a task where it runs, and waits for no end."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from colonnade.spark_ext.executors import run_in_task
from colonnade.tableformat.jobs import Stop

SPARK_EXT = Path(__file__).parent.parent.parent / "spark_ext"
STARTS_TASKS = re.compile(r"\.(?:mapIn\w+|foreach\w*|applyIn\w+|rdd|parallelize)\b")

LONG_S = 120


def wait_long(file: str) -> str:
    Path(file).touch()
    time.sleep(LONG_S)
    return "done"


def test_only_one_module_starts_tasks() -> None:
    starts = [p.name for p in SPARK_EXT.rglob("*.py") if STARTS_TASKS.search(p.read_text())]
    assert starts == ["executors.py"]


@pytest.mark.spark
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
