"""An epoch is read with the columns of another one: by id, and the same after each compaction."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.scan.other_columns import table_with_nulls, with_columns_of
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    SetDefault,
    WidenColumn,
)
from colonnade.tableformat.table.table import ArrowTable


def made(path: Path) -> tuple[ArrowTable, int]:
    """A table with a NOT NULL number `k` and a text `name`, and the epoch of its rows 1 and 2."""
    number = pa.field("k", pa.int32(), nullable=False)
    table = colonnade.create(path, pa.schema([number, pa.field("name", pa.string())]))
    data = {"k": pa.array([1, 2], pa.int32()), "name": ["a", "b"]}
    return table, table.append(pa.table(data, schema=table.scan().to_arrow().schema))


def rows(table: ArrowTable, epoch: int, schema_epoch: int, **scan: Any) -> list[dict[str, Any]]:
    found = table.scan(epoch=epoch, schema_epoch=schema_epoch, **scan).to_arrow()
    return list(found.sort_by(found.column_names[0]).to_pylist())


ADDED = AddColumn(SchemaField(name="c", type="int", nullable=False), default=5)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (ADDED, [{"k": 1, "name": "a", "c": 5}, {"k": 2, "name": "b", "c": 5}]),
        (
            AddColumn(SchemaField(name="c", type="int"), first=True),
            [{"c": None, "k": 1, "name": "a"}, {"c": None, "k": 2, "name": "b"}],
        ),
        (DropColumn(("name",)), [{"k": 1}, {"k": 2}]),
        (RenameColumn(("name",), "n"), [{"k": 1, "n": "a"}, {"k": 2, "n": "b"}]),
        (MoveColumn(("name",), first=True), [{"name": "a", "k": 1}, {"name": "b", "k": 2}]),
        (
            WidenColumn(("k",), "decimal(12,1)"),
            [{"k": Decimal("1.0"), "name": "a"}, {"k": Decimal("2.0"), "name": "b"}],
        ),
        (DropNotNull(("k",)), [{"k": 1, "name": "a"}, {"k": 2, "name": "b"}]),
        (SetDefault(("name",), "'z'"), [{"k": 1, "name": "a"}, {"k": 2, "name": "b"}]),
    ],
)
def test_an_earlier_epoch_is_read_with_later_columns(
    tmp_path: Path, change: Alteration, expected: list[dict[str, Any]]
) -> None:
    table, old = made(tmp_path / "t")
    new = table.alter(change)
    found = rows(table, old, new)
    assert found == expected
    assert [*found[0]] == [*expected[0]]


def test_a_condition_is_about_the_columns_that_are_shown(tmp_path: Path) -> None:
    table, old = made(tmp_path / "t")
    new = table.alter(ADDED, RenameColumn(("name",), "n"), WidenColumn(("k",), "long"))
    assert len(rows(table, old, new, where="c = 5 AND n = 'b'")) == 1
    assert rows(table, old, new, where="c <> 5") == []
    assert rows(table, old, new, where="k > 1", columns=["n"]) == [{"n": "b"}]
    with pytest.raises(InvalidInputError, match="'name' does not exist"):
        rows(table, old, new, where="name = 'b'")


@pytest.mark.parametrize("compacted", [False, True])
def test_a_later_epoch_is_read_with_earlier_columns(tmp_path: Path, compacted: bool) -> None:
    table, old = made(tmp_path / "t")
    table.alter(ADDED, DropColumn(("name",)))
    table.append(pa.table({"k": pa.array([3], pa.int32())}))
    if compacted:
        assert table.optimize().option("min-rowsets", 2).executeCompaction().groups
    newest = table.refresh().epoch
    assert rows(table, newest, old) == [{"k": k, "name": None} for k in (1, 2, 3)]


@pytest.mark.parametrize("compacted", [False, True])
def test_a_dropped_column_has_its_initial_value_or_null_in_each_row(
    tmp_path: Path, compacted: bool
) -> None:
    table, _ = made(tmp_path / "t")
    old = table.alter(ADDED)
    data = {"k": pa.array([3], pa.int32()), "c": pa.array([7], pa.int32())}
    table.append(pa.table(data))
    table.alter(DropColumn(("c",)), AddColumn(SchemaField(name="c", type="string")))
    if compacted:
        assert table.optimize().option("min-rowsets", 2).executeCompaction().groups
    newest = table.refresh().epoch
    assert [row["c"] for row in rows(table, newest, old)] == [5, 5, 5]
    assert len(rows(table, newest, old, where="c = 5")) == 3


@pytest.mark.parametrize("type_name", ["long", "decimal(25,3)"])
def test_a_column_that_widened_twice_because_of_a_restore_is_one_column(
    tmp_path: Path, type_name: str
) -> None:
    table, narrow = made(tmp_path / "t")
    wide = table.alter(WidenColumn(("k",), "long"))
    table.append(pa.table({"k": [2**40], "name": ["c"]}))
    old = table.refresh().epoch
    table.restore(epoch=narrow)
    new = table.alter(WidenColumn(("k",), type_name))
    assert wide < old < new
    assert [row["k"] for row in rows(table, old, new)] == [1, 2, 2**40]
    assert [row["k"] for row in rows(table, old, new, where=f"k = {2**40}")] == [2**40]


def test_rows_that_may_be_null_are_not_shown_as_not_null(tmp_path: Path) -> None:
    table, old = made(tmp_path / "t")
    table.alter(DropNotNull(("k",)))
    table.append(pa.table({"name": ["c"]}))
    newest = table.refresh().epoch
    found = table.scan(epoch=newest, schema_epoch=old).to_arrow()
    assert found.schema.field("k").nullable
    assert found["k"].null_count == 1


def test_a_type_that_has_widened_since_cannot_be_read_as_the_narrower_one(tmp_path: Path) -> None:
    table, old = made(tmp_path / "t")
    newest = table.alter(WidenColumn(("k",), "long"))
    with pytest.raises(InvalidInputError, match="Column 'k' of table 't' is long at"):
        table.scan(epoch=newest, schema_epoch=old)


def test_an_epoch_that_does_not_exist_or_has_another_table_is_refused(tmp_path: Path) -> None:
    db = colonnade.create_database(tmp_path / "db")
    first = db.create_table("t", pa.schema({"k": pa.int64()}))
    epoch = first.epoch
    db.drop_table("t")
    table = db.create_table("t", pa.schema({"k": pa.int64()}))
    with pytest.raises(InvalidInputError, match="'t' was another table at the epoch whose"):
        table.scan(schema_epoch=epoch)
    with pytest.raises(NotFoundError):
        table.scan(schema_epoch=99)
    with pytest.raises(InvalidInputError, match="An epoch must be a whole number"):
        table.scan(schema_epoch="1")  # type: ignore[arg-type]


def test_a_nested_field_that_was_dropped_in_between_is_refused(tmp_path: Path) -> None:
    place = pa.struct([("x", pa.int32()), ("y", pa.int32())])
    table = colonnade.create(tmp_path / "t", pa.schema({"s": place}))
    [column] = table._state.schema.fields
    fewer = column.model_copy(update={"type": StructType(fields=column.children()[:1])})
    later = replace(table._state, schema=TableSchema(fields=(fewer,)))
    assert with_columns_of(table._state, later).schema.fields == (fewer,)
    with pytest.raises(InvalidInputError, match="Field 'y' of column 's' of table 't' was dropped"):
        with_columns_of(later, table._state)


def test_a_type_that_rows_may_not_fit_is_refused_with_the_reason(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema({"d": pa.date32(), "n": pa.int32()}))
    first = table.append(pa.table({"d": [dt.date(2020, 1, 1)], "n": pa.array([1], pa.int32())}))
    table.alter(WidenColumn("d", "timestamp_ntz"))
    dated = table.epoch
    table.alter(WidenColumn("n", "long"))
    with pytest.raises(InvalidInputError) as refusal:
        table.scan(epoch=first, schema_epoch=dated)
    assert refusal.value.message == (
        "Column 'd' of table 't' is date at the epoch that is read, and cannot be read as"
        " timestamp_ntz: an earlier row may have a date that no timestamp can hold; leave"
        " the schema epoch out, and cast the column in the query."
    )
    with pytest.raises(InvalidInputError) as refusal:
        table.scan(epoch=table.epoch, schema_epoch=dated)
    assert refusal.value.message == (
        "Column 'n' of table 't' is long at the epoch that is read, and cannot be read as int: int"
        " does not hold all values of long; leave the schema epoch out."
    )


def test_a_static_column_of_another_epoch_is_null_where_the_table_had_none(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int32()), ("n", pa.int32())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"])
    table.append(pa.table({"k": [1], "n": [1]}, schema))
    before = table.epoch
    table.alter(AddColumn(SchemaField(name="room", type="string", static=True)))
    given = table.append(pa.table({"k": pa.array([1], pa.int32()), "room": ["attic"]}))
    assert rows(table, given, given) == [{"k": 1, "n": 1, "room": "attic"}]
    assert rows(table, before, given) == [{"k": 1, "n": 1, "room": None}]
    assert rows(table, before, given, where="room IS NOT NULL") == []
    restored = table.restore(epoch=before)
    assert rows(table, restored, given) == [{"k": 1, "n": 1, "room": None}]


def test_static_values_are_found_by_keys_that_are_wider_at_another_epoch(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int32()), ("n", pa.int32()), ("room", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["room"])
    table.append(pa.table({"k": [-1, 2], "n": [1, 1], "room": ["attic", "cellar"]}, schema))
    before = table.epoch
    wider = table.alter(WidenColumn(("k",), "long"))
    expected = [{"k": -1, "n": 1, "room": "attic"}, {"k": 2, "n": 1, "room": "cellar"}]
    assert rows(table, before, wider) == expected
    assert rows(table, before, wider, order="key") == expected
    assert rows(table, before, wider, where="room = 'cellar'", columns=["n"]) == [{"n": 1}]


def test_columns_that_already_may_be_null_are_not_made_anew_for_an_epoch(tmp_path: Path) -> None:
    """A stream asks for the columns of each epoch of its backlog, before it and after it."""
    kinds = {"a": "long", "b": "string", "c": "decimal(9,2)"}
    state = colonnade.create(tmp_path / "t", kinds)._state
    shown = table_with_nulls(state)
    pairs = zip(shown.schema.fields, state.schema.fields, strict=True)
    assert all(one is other for one, other in pairs)
    read = with_columns_of(state, shown, in_feed=True).schema
    assert all(one is other for one, other in zip(read.fields, shown.schema.fields, strict=True))
