"""What a read through Spark resolves on the driver; starts no Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import open_store
from colonnade.spark_ext.options.read import parse_read_options
from colonnade.spark_ext.source.reader import pin_read, plan_shares
from colonnade.tableformat.scan.run import read_plan


@pytest.mark.parametrize("place", ["alone", "db/t"])
def test_the_option_epoch_reads_what_came_before_a_damaged_head(place: str, tmp_path: Path) -> None:
    if "/" in place:
        colonnade.create_database(tmp_path / "db")
    table = colonnade.create(tmp_path / place, pa.schema([("id", pa.int64())]))
    before = table.append(pa.table({"id": [1]}))
    newest = tmp_path / place.split("/")[0] / epoch_name(table.append(pa.table({"id": [2]})))
    newest.write_bytes(b"damaged")
    path = str(tmp_path / place)
    read = pin_read(parse_read_options({"path": path, "epoch": str(before)}))
    assert read.epoch == before
    assert [len(share.rowsets) for share in plan_shares(read, ("id",))] == [1]
    with pytest.raises(colonnade.CorruptionError, match=newest.name):
        pin_read(parse_read_options({"path": path}))


def test_the_option_schema_epoch_gives_a_read_the_columns_of_another_epoch(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    table = colonnade.create(path, pa.schema([("id", pa.int64())]))
    rows = table.append(pa.table({"id": [1]}))
    column = colonnade.SchemaField(name="c", type="int")
    later = table.alter(colonnade.AddColumn(column, default=5))
    options = {"path": path, "epoch": str(rows), "schemaEpoch": str(later), "where": "c = 5"}
    read = pin_read(parse_read_options(options))
    assert read.table_schema.names == ("id", "c")
    [share] = plan_shares(read, ("id", "c"))
    assert (share.epoch, len(share.rowsets)) == (rows, 1)
    [batch] = read_plan(open_store(read.address), share)
    assert batch.to_pylist() == [{"id": 1, "c": 5}]
