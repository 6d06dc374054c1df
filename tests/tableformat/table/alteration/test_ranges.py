"""A column whose ranges were deleted widens, and is dropped only after their rows are removed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import (
    AddConstraint,
    DropColumn,
    DropNotNull,
    RenameColumn,
    SchemaField,
    SetSortKey,
    TableSchema,
    WidenColumn,
)
from colonnade.manifests.errors import InvalidInputError

SCHEMA = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int32())])


def test_a_column_of_a_deleted_range_may_be_null_or_dropped_only_after_a_compaction(
    tmp_path: Path,
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["a"])
    table.append(pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}, schema=SCHEMA))
    table.delete_range("a = 2")
    table.alter(SetSortKey(("b",)))
    table.alter(RenameColumn("a", "A"))
    epoch = table.epoch
    for change in (DropNotNull("A"), DropColumn("A")):
        with pytest.raises(InvalidInputError, match="Column 'A' of table 't'.*compact the table"):
            table.alter(change)
    assert table.refresh().epoch == epoch
    table.optimize().executeCompaction()
    table.alter(DropNotNull("A"))
    assert table.scan().to_arrow().to_pydict() == {"A": [1, 3], "b": [1, 3]}
    table.alter(DropColumn("A"))
    assert table.scan().to_arrow().to_pydict() == {"b": [1, 3]}


def test_a_range_that_is_deleted_meanwhile_counts_where_alterations_look_at_rows(
    tmp_path: Path,
) -> None:
    """A look at rows plans the alterations again after a conflict with the deletion."""
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["a"])
    table.append(pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}, schema=SCHEMA))
    colonnade.open(tmp_path / "t").delete_range("a = 2")
    with pytest.raises(InvalidInputError, match="Column 'a' of table 't'.*compact the table"):
        table.alter(DropNotNull("a"), AddConstraint("positive", "b > 0"))
    table.alter(AddConstraint("positive", "b > 0"))
    assert table.scan().to_arrow().to_pydict() == {"a": [1, 3], "b": [1, 3]}


VALUES = {
    "date": [dt.date(2020, 1, each) for each in range(1, 7)],
    "decimal(5,2)": [Decimal(each) for each in range(1, 7)],
}
WIDER = [
    ("int", "long"),
    ("int", "double"),
    ("int", "decimal(12,2)"),
    ("decimal(5,2)", "decimal(9,4)"),
    ("date", "timestamp_ntz"),
    ("varchar(9)", "string"),
]


@pytest.mark.parametrize(("old", "new"), WIDER)
def test_rows_of_a_deleted_range_stay_hidden_when_the_column_of_the_range_widens(
    tmp_path: Path, old: str, new: str
) -> None:
    columns = [SchemaField(name="a", type=old, nullable=False), SchemaField(name="n", type="int")]
    table = colonnade.create(tmp_path / "t", TableSchema(fields=tuple(columns)), sort_key=["a"])
    kind = table.schema.field("a").type
    values = pa.array(VALUES.get(old, [1, 2, 3, 4, 5, 6])).cast(kind)
    for part in (slice(0, 3), slice(3, 6)):
        rows = pa.table({"a": values[part], "n": range(part.start, part.stop)})
        table.append(rows.cast(table.schema))
    low, high = {
        "date": ("DATE'2020-01-02'", "DATE'2020-01-04'"),
        "varchar(9)": ("'2'", "'4'"),
    }.get(old, ("2", "4"))
    table.delete_range(f"a BETWEEN {low} AND {high}")
    table.alter(WidenColumn("a", new))
    assert table.scan().to_arrow()["n"].to_pylist() == [0, 4, 5]
    table.append(pa.table({"a": values, "n": range(10, 16)}).cast(table.schema))
    for compacted in (False, True):
        found = table.scan().to_arrow()["n"].to_pylist()
        assert sorted(found) == [0, 4, 5, *range(10, 16)]
        assert table.verify(4).is_sound
        if not compacted:
            table.optimize().option("min-rowsets", 2).executeCompaction()


def test_a_partition_key_widens_although_static_values_of_a_range_were_deleted(
    tmp_path: Path,
) -> None:
    columns = [pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int32(), nullable=False)]
    schema = pa.schema([*columns, pa.field("s", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["a", "b"], static=["s"])
    table.append(pa.table({"a": [1, 2], "b": [1, 2], "s": ["x", "y"]}, schema=schema))
    table.statics.delete_range("a = 2")
    table.refresh()
    table.alter(WidenColumn("a", "long"))
    assert table.scan().to_arrow().to_pydict() == {"a": [1, 2], "b": [1, 2], "s": ["x", None]}
