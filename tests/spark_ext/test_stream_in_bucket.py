"""A stream that `foreachBatch` writes into a bucket: each batch once, whenever its driver dies."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from colonnade.manifests.store import open_store
from tests.setup.minio import Minio
from tests.spark_ext.processes import kill_session, running
from tests.spark_ext.streamed import AFTER, DURING

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]
VICTIM = Path(__file__).with_name("streamed.py")
BATCHES, ROWS = 7, 20_000


def test_each_batch_of_a_stream_is_in_the_table_once_wherever_its_driver_was_killed(
    minio: Minio, tmp_path: Path
) -> None:
    url, options = f"s3a://{minio.new_bucket()}/stream", minio.options()
    schema = pa.schema({"id": pa.int64(), "text": pa.string()})
    colonnade.create(url, schema, storage_options=options)
    (tmp_path / "incoming").mkdir()
    for batch in range(BATCHES):
        ids = range(batch * ROWS, (batch + 1) * ROWS)
        rows = pa.table({"id": ids, "text": [f"text {id_ * 7919 % 10007}" for id_ in ids]}, schema)
        pq.write_table(rows, tmp_path / "incoming" / f"{batch}.parquet")
    killed = 0
    while killed_once(tmp_path, url, minio):
        killed += 1
    assert killed >= len(AFTER) + len(DURING) - 1  # the last one may end before it is killed
    table = colonnade.open(url, options)
    found = table.scan(["id"]).to_arrow()["id"].to_pylist()
    assert sorted(found) == [*range(BATCHES * ROWS)]
    commits = [each.epoch for each in table.history() if each.operation == "append"]
    assert len(commits) == BATCHES
    assert table.verify(depth=3).is_sound
    # What killed drivers left is removed, and nothing else.
    table.vacuum(0, retain_epochs=1, force=True, trust_clock=True)
    assert list(open_store(table._log.store.address).list_unfinished()) == []
    assert sorted(table.scan(["id"]).to_arrow()["id"].to_pylist()) == sorted(found)


def killed_once(folder: Path, url: str, minio: Minio) -> bool:
    """Let a driver write until it asks to be killed. Returns False if it ended by itself."""
    before, log = {*folder.glob("kill-*")}, folder / "driver.log"
    command = [sys.executable, str(VICTIM), str(folder), url, minio.url]
    with running(command, log, PYTHONPATH=str(ROOT)) as process:
        while process.poll() is None:
            if {*folder.glob("kill-*")} - before:
                kill_session(process)
                return True
            time.sleep(0.05)
        assert process.returncode == 0, log.read_text()[-8000:]
    return False
