"""Each batch of a stream lands once, wherever `kill -9` ends its driver."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from tests.spark_ext.processes import kill_session, running

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[4]
VICTIM = Path(__file__).with_name("killed_sink.py")
BATCHES, ROWS = 10, 50


def test_each_batch_lands_once_wherever_its_driver_is_killed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for batch in range(BATCHES):
        ids = range(batch * ROWS, (batch + 1) * ROWS)
        pq.write_table(pa.table({"id": ids}), tmp_path / "in" / f"{batch}.parquet")
    key = pa.schema([pa.field("k", pa.int64(), nullable=False), ("n", pa.int64())])
    database = colonnade.create_database(tmp_path / "lake" / "default")
    sums = database.create_table("sums", key, primary_key=["k"])
    rows = colonnade.create(tmp_path / "rows", pa.schema([("id", pa.int64())]))
    killed = 0
    while killed_after_commits(tmp_path, [rows, sums], random.randint(1, 5)):
        killed += 1
    assert killed >= 2
    rows.refresh(), sums.refresh()
    every = range(BATCHES * ROWS)
    assert sorted(rows.scan().to_arrow()["id"].to_pylist()) == [*every]
    found = {row["k"]: row["n"] for row in sums.scan().to_arrow().to_pylist()}
    assert found == {k: sum(every[k::3]) for k in range(3)}
    # Where Spark dies before it has noted a batch, its next batch has the files of two.
    assert [each.operation for each in rows.history()].count("append") <= BATCHES


def killed_after_commits(folder: Path, tables: list[colonnade.ArrowTable], commits: int) -> bool:
    """Kill a driver right after so many commits. Returns False if it ended by itself."""

    def epochs() -> int:
        return sum(colonnade.open(table.path).epoch for table in tables)

    last, log = epochs() + commits, folder / "driver.log"
    with running([sys.executable, str(VICTIM), str(folder)], log, PYTHONPATH=str(ROOT)) as process:
        while process.poll() is None:
            if epochs() >= last:
                time.sleep(random.choice([0, random.random()]))
                kill_session(process)
                return True
            time.sleep(0.02)
        assert process.returncode == 0, log.read_text()[-8000:]
    return False
