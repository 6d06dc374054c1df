"""A void column holds NULL in each row and takes no bytes, until it gets a type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AddConstraint,
    DropColumn,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetSortKey,
    WidenColumn,
)
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import schema_from_arrow

SCHEMA = pa.schema([("k", pa.int64()), ("b", pa.null()), ("n", pa.int32())])
NESTED = pa.list_(pa.struct([("x", pa.int32()), ("y", pa.map_(pa.string(), pa.float64()))]))


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    made = colonnade.create(tmp_path / "t", SCHEMA)
    made.append(pa.table({"k": [1, 2, 3], "b": pa.nulls(3), "n": pa.array([1, 2, 3], pa.int32())}))
    return made


def types(table: ArrowTable) -> dict[str, str]:
    table.refresh()
    return {field.name: str(field.type) for field in table._state.schema.fields}


def read(table: ArrowTable, *columns: str, **options: Any) -> list[dict[str, Any]]:
    scan = table.scan(columns or None, **options)
    found: list[dict[str, Any]] = scan.to_arrow().sort_by("k").to_pylist()
    return found


def stored(table: ArrowTable) -> list[set[int]]:
    """The ids of the columns that each RowSet has."""
    rowsets = table._log.rowsets.read(table._state)
    sources = (RowSetSource(table._log.store, table._state.prefix, each.entry) for each in rowsets)
    return [set(source.footer().columns) for source in sources]


def test_rowsets_leave_void_columns_out_and_readers_return_null(table: ArrowTable) -> None:
    assert table.schema.field("b").type == pa.null()
    table.append(pa.table({"k": [4]}))
    table.append(pa.table({"k": [5], "B": pa.array([None], pa.string())}))
    table.append(pa.table({"k": [6], "b": pa.array([None], pa.string()).dictionary_encode()}))
    assert stored(table) == [{1, 3}] * 4
    assert [row["b"] for row in read(table)] == [None] * 6
    assert read(table, "k", where="b IS NULL and k > 5") == [{"k": 6}]
    assert read(table, "k", "b", where="b IS NOT NULL or k = 1") == [{"k": 1, "b": None}]
    assert table.scan(["b"]).to_arrow().column("b").null_count == 6
    assert table.delete("b IS NOT NULL").rows_deleted == 0
    assert table.update({"n": "b", "b": None}, where="k < 3").rows_updated == 2
    assert [row["n"] for row in read(table)] == [None, None, 3, None, None, None]
    table.upsert(pa.table({"k": [6, 7], "b": pa.nulls(2), "n": pa.nulls(2)}), ["k"])
    assert table.delete("b IS NULL and k > 6").rows_deleted == 1
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert stored(table) == [{1, 3}]
    assert [row["b"] for row in read(table)] == [None] * 6
    assert table.verify(4).is_sound


def test_sorted_and_partitioned_rows_leave_void_columns_out(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["n"], partition_by=["bucket(2, k)"])
    table.append(pa.table({"b": pa.nulls(9), "k": range(9), "n": pa.array(range(9), pa.int32())}))
    table.append(pa.table({"k": range(9, 12)}))
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.partition_by()
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert all(each == {1, 3} for each in stored(table))
    assert [row["k"] for row in read(table, where="b IS NULL")] == list(range(12))
    assert table.verify(4).is_sound


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.append(pa.table({"k": [9], "b": [5]})), "'b' is void.*holds int64.*type"),
        (lambda t: t.append(pa.table({"k": [9], "b": [[]]})), "'b' is void.*list.*type first"),
        (lambda t: t.update({"b": 5}), "'b' is void and cannot be set to.*type first"),
        (lambda t: t.update({"b": [5]}), "'b' is void and cannot be set to.*type first"),
        (lambda t: t.update({"b": "n"}), "'b' is void.*holds int32"),
        (lambda t: t.delete("b = 5"), "'b' is of type void and cannot be compared"),
        (lambda t: t.delete("b LIKE 'a%'"), "'b' is of type void and cannot be compared"),
        (lambda t: t.backfill("b", 5), "'b' cannot be filled, because it is void"),
        (lambda t: t.add_column("c", pa.null(), 5), "'c' cannot be filled, because it is void"),
        (lambda t: t.alter(SetDefault("b", 5)), "'b' is void and cannot be set to"),
        (lambda t: t.alter(SetNotNull("b")), "'b' is void.*leave out NOT NULL"),
        (lambda t: t.alter(SetSortKey(("b",))), "'b' of type void has no order to sort by"),
        (lambda t: t.alter(SetPartitioning(("b",))), "'b' of type void cannot be partitioned"),
        (lambda t: t.partition_by("bucket(4, b)"), "'b' of type void cannot be partitioned"),
        (lambda t: t.alter(AddConstraint("c", "b > 5")), "'b' is of type void and cannot be"),
        (lambda t: t.alter(DropColumn("k"), DropColumn("n")), "All columns of the table are void"),
        (lambda t: t.alter(WidenColumn("n", "void")), "cannot be changed from int to void"),
        (lambda t: t.alter(WidenColumn("b", "number")), "'number' is not a type"),
        (lambda t: t.optimize().executeZOrderBy("b"), "'b'.*void"),
        (
            lambda t: t.append(
                pa.table({"k": [9], "l": pa.nulls(1, pa.list_(pa.null()))}), evolve=True
            ),
            "'l.element' is void, and only whole columns can be",
        ),
        (
            lambda t: t.alter(
                AddColumn(SchemaField(name="v", type="void", nullable=False), default=1)
            ),
            "'v' is void",
        ),
    ],
)
def test_a_change_that_makes_no_sense_for_a_void_column_is_refused_by_name(
    table: ArrowTable, change: Callable[[ArrowTable], object], says: str
) -> None:
    before = table.refresh().epoch
    with pytest.raises(InvalidInputError, match=says):
        change(table)
    assert table.refresh().epoch == before


@pytest.mark.parametrize(
    ("schema", "options", "says"),
    [
        ([("b", pa.null())], {}, "All columns of the table are void"),
        ([("k", pa.int8()), ("b", pa.null())], {"sort_key": ["b"]}, "no order to sort by"),
        (
            [("k", pa.int8()), ("b", pa.null())],
            {"identity": {"b": colonnade.IdentityColumn()}},
            "'b'",
        ),
        (
            [("k", pa.int8()), ("b", pa.null())],
            {"generated": {"b": "k + 1"}},
            "'b' cannot be generated, because it is void",
        ),
        ([("s", pa.struct([("x", pa.null())]))], {}, "'s.x' is void, and only whole columns"),
        ([("m", pa.map_(pa.string(), pa.null()))], {}, "'m.value' is void, and only whole"),
    ],
)
def test_a_table_with_a_void_column_that_makes_no_sense_is_not_created(
    tmp_path: Path, schema: list[Any], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInputError, match=says):
        colonnade.create(tmp_path / "t", pa.schema(schema), **options)
    assert not (tmp_path / "t").exists()


NEW_TYPES: list[tuple[Any, Any]] = [
    ("int", 7),
    ("decimal(5,2)", 7),
    ("varchar(4)", "abcd"),
    ("timestamp_ntz", "2024-01-01 00:00:00"),
    ("string collate UNICODE_CI", "a"),
]


@pytest.mark.parametrize(("kind", "value"), NEW_TYPES)
def test_a_void_column_gets_any_type_and_old_rows_stay_null(
    table: ArrowTable, kind: str, value: Any
) -> None:
    epoch = table.refresh().epoch
    table.alter(WidenColumn("b", kind))
    text = f"'{value}'" if isinstance(value, str) else value
    table.update({"b": text}, where="k = 2")
    assert types(table)["b"] == kind
    rows = read(table, "k", "b")
    assert [rows[0]["b"], rows[2]["b"]] == [None, None]
    assert rows[1]["b"] is not None
    assert read(table, "k", where="b IS NOT NULL") == [{"k": 2}]
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert [row["b"] is None for row in read(table)] == [True, False, True]
    assert [row["b"] for row in read(table, epoch=epoch)] == [None] * 3
    assert table.verify(4).is_sound


def test_a_void_column_gets_a_nested_type_with_fields_of_its_own(table: ArrowTable) -> None:
    wanted = schema_from_arrow(pa.schema([("b", NESTED)])).fields[0].type
    void = table.refresh().epoch
    table.alter(WidenColumn("b", wanted), RenameColumn("b", "c"))
    table.append(pa.table({"k": [4], "c": pa.array([[{"x": 1, "y": [("p", 0.5)]}]], NESTED)}))
    assert [row["c"] for row in read(table)] == [None] * 3 + [[{"x": 1, "y": [("p", 0.5)]}]]
    typed = table.refresh().epoch
    assert [row["c"] for row in read(table, epoch=void, schema_epoch=typed)] == [None] * 3
    table.alter(AddColumn(SchemaField(name="z", type="void"), first=True))
    table.alter(
        ReplaceColumns((SchemaField(name="k", type="long"), SchemaField(name="z", type=wanted)))
    )
    assert [row["z"] for row in read(table)] == [None] * 4
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert table.verify(4).is_sound


def test_rows_bring_void_columns_and_give_them_types(table: ArrowTable) -> None:
    rows = pa.table({"k": [4], "new": pa.nulls(1), "b": pa.nulls(1)})
    table.append(rows, evolve=True)
    assert [types(table)[name] for name in ("b", "new")] == ["void", "void"]
    table.append(
        pa.table({"k": [5], "b": pa.array(["x"]), "new": pa.array([[{"x": 1}]])}), evolve=True
    )
    assert types(table)["b"] == "string"
    assert [row["b"] for row in read(table)] == [None] * 4 + ["x"]
    assert [row["new"] for row in read(table)] == [None] * 4 + [[{"x": 1}]]
    table.append(pa.table({"k": [6], "b": pa.nulls(1), "new": pa.nulls(1)}), evolve=True)
    assert types(table)["b"] == "string"
    numbers = pa.table({"k": [7], "u": pa.nulls(1)})
    table.append(numbers, evolve=True)
    table.append(numbers.set_column(1, "u", pa.array([7], pa.uint64())), evolve=True)
    assert types(table)["u"] == "long"


def test_a_writer_that_saw_a_void_column_appends_beside_the_one_that_types_it(
    table: ArrowTable,
) -> None:
    late = colonnade.open(table.path)
    rows = pa.table({"k": [4], "b": pa.nulls(1), "n": pa.array([4], pa.int32())})
    work = late.scan  # the handle has read the head
    assert work is not None
    table.alter(WidenColumn("b", "int"))
    late.append(rows)
    assert [row["b"] for row in read(table)] == [None] * 4


def test_restores_and_other_epochs_read_a_void_column_as_null(table: ArrowTable) -> None:
    void = table.refresh().epoch
    table.alter(WidenColumn("b", "int"))
    table.append(pa.table({"k": [4], "b": pa.array([4], pa.int32())}))
    typed = table.refresh().epoch
    assert [row["b"] for row in read(table, epoch=void, schema_epoch=typed)] == [None] * 3
    with pytest.raises(InvalidInputError, match="'b'"):
        read(table, schema_epoch=void)
    table.restore(epoch=void)
    assert types(table)["b"] == "void"
    table.alter(WidenColumn("b", "string"))
    table.append(pa.table({"k": [5], "b": ["x"]}))
    assert [row["b"] for row in read(table)] == [None, None, None, "x"]
    table.restore(epoch=typed)
    assert [row["b"] for row in read(table)] == [None, None, None, 4]
    assert table.verify(4).is_sound


def test_a_column_that_got_a_type_may_be_a_key_and_be_restored_to_void(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    table.append(pa.table({"k": [1]}))
    void = table.refresh().epoch
    table.alter(WidenColumn("b", "int"))
    table.alter(SetSortKey(("b",)), SetPartitioning(("b",)))
    table.append(pa.table({"k": [2, 3], "b": pa.array([2, 3], pa.int32())}))
    keyed = table.refresh().epoch
    table.restore(epoch=void)
    table.alter(WidenColumn("b", "string"))
    table.append(pa.table({"k": [4], "b": ["x"]}))
    assert [row["b"] for row in read(table)] == [None, "x"]
    table.restore(epoch=keyed)
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert [row["b"] for row in read(table)] == [None, 2, 3]
    assert table.verify(4).is_sound
