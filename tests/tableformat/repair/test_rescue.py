"""The rescue file holds readable values of lost rows, or the table stays unchanged."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from colonnade.manifests.errors import (
    StoreError,
)
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.alteration import AddColumn, RenameColumn
from tests.manifests.store.local.test_store import file_size_limit
from tests.tableformat.repair.damaged import file_of, make
from tests.tableformat.verify.damaged import flip

pytestmark = pytest.mark.usefixtures("directories")


def test_columns_of_the_rescue_file_do_not_mix_with_columns_of_the_table(tmp_path: Path) -> None:
    store = MemoryStore()
    db = make(store)
    table = db.table("a")
    table.alter(RenameColumn(("s",), "_ROW"), AddColumn(SchemaField(name="__row", type="int")))
    table.alter(AddColumn(SchemaField(name="_certain", type="string")))
    flip(store, name := file_of(db, 0, "3.col"), len(store.get(name)) - 3)
    table.repair(db.verify(3).damaged_rowsets("a"), rescue=tmp_path / "lost.parquet")
    found = pq.read_table(tmp_path / "lost.parquet")
    beside = ["_rowset", "___row", "_lost_columns", "__certain"]
    assert found.column_names == [*table.schema.names, *beside]
    assert found["___row"].to_pylist() == found["id"].to_pylist()
    assert found["_ROW"].null_count == found["_certain"].null_count == found.num_rows == 99
    assert set(found["__certain"].to_pylist()) == {True}


@pytest.mark.parametrize("limit", [0, 100])
def test_a_rescue_that_the_disk_has_no_room_for_leaves_table_and_folder_alone(
    limit: int, tmp_path: Path
) -> None:
    store = MemoryStore()
    db = make(store)
    flip(store, file_of(db, 0, "3.col"), -1)
    epoch = db.refresh().epoch
    with file_size_limit(limit), pytest.raises(StoreError, match="could not be written"):
        db.table("a").repair([0], rescue=tmp_path / "lost.parquet")
    assert list(tmp_path.iterdir()) == []
    assert db.refresh().epoch == epoch
    assert db.table("a").repair([0], rescue=tmp_path / "lost.parquet").rows_lost == 99
