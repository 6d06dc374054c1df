"""A scan reads one epoch of an open table, also in another process."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa

import colonnade
from colonnade.manifests.log.log import Log
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.table.scans import scan_table


def test_a_scan_that_was_sent_to_another_process_reads_the_same_epoch(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64()), ("v", pa.string())]))
    table.append({"id": [1, 2, 3], "v": ["a", "b", "c"]})
    opened = OpenTable(table._location, Log(table._log.store), None)
    scan = scan_table(opened, ["id"], "id > 1")
    sent = pickle.dumps(scan)
    table.append({"id": [4], "v": ["d"]})
    table.delete("id = 2")
    assert scan.to_arrow() == pickle.loads(sent).to_arrow() == pa.table({"id": [2, 3]})
    assert scan_table(opened, ["id"], "id > 1").count() == 2
    assert scan_table(opened, epoch=table.epoch - 2).count() == 3
