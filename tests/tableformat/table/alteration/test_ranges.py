"""A column whose ranges were deleted cannot change before their rows are removed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import DropColumn, DropNotNull, RenameColumn, SetSortKey, WidenColumn
from colonnade.manifests.errors import InvalidInputError

SCHEMA = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int32())])


def test_a_column_of_a_deleted_range_changes_only_after_a_compaction(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["a"])
    table.append(pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}, schema=SCHEMA))
    table.delete_range("a = 2")
    table.alter(SetSortKey(("b",)))
    table.alter(RenameColumn("a", "A"))
    epoch = table.epoch
    for change in (WidenColumn("A", "long"), DropNotNull("A"), DropColumn("A")):
        with pytest.raises(InvalidInputError, match="Column 'A' of table 't'.*compact the table"):
            table.alter(change)
    assert table.refresh().epoch == epoch
    table.optimize().executeCompaction()
    table.alter(WidenColumn("A", "long"), DropNotNull("A"))
    assert table.scan().to_arrow().to_pydict() == {"A": [1, 3], "b": [1, 3]}
    table.alter(DropColumn("A"))
    assert table.scan().to_arrow().to_pydict() == {"b": [1, 3]}


def test_a_partition_key_changes_only_after_deleted_static_values_are_removed(
    tmp_path: Path,
) -> None:
    columns = [pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int32(), nullable=False)]
    schema = pa.schema([*columns, pa.field("s", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["a", "b"], static=["s"])
    table.append(pa.table({"a": [1, 2], "b": [1, 2], "s": ["x", "y"]}, schema=schema))
    table.statics.delete_range("a = 2")
    table.refresh()
    with pytest.raises(InvalidInputError, match=r"'a' of table 't\.statics'.*compact the table"):
        table.alter(WidenColumn("a", "long"))
    table.statics.optimize().executeCompaction()
    table.refresh()
    table.alter(WidenColumn("a", "long"))
    assert table.scan().to_arrow().to_pydict() == {"a": [1, 2], "b": [1, 2], "s": ["x", None]}
