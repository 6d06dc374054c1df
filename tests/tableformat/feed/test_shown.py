"""Changes of epochs whose columns had other types than those that are shown."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, InvalidInputError, WidenColumn
from colonnade.manifests.store import MemoryStore
from tests.tableformat.statements.tables import made

K = pa.field("k", pa.int64(), nullable=False)
BASE = dt.date(2020, 1, 1)


def told(table: ArrowTable, *bounds: int, **how: Any) -> list[tuple[str, int, Any]]:
    rows = table.changes(*bounds, **how).to_pylist()
    return [(each["_change_type"], each["k"], each["v"]) for each in rows]


NARROW: dict[str, tuple[pa.DataType, str, Any, Any, Any]] = {
    "int": (pa.int32(), "long", 1, 7, 2**40),
    "short": (pa.int16(), "double", 1, 7.0, 7.5),
    "float": (pa.float32(), "double", 1.5, 2.5, 0.1),
    "decimal": (
        pa.decimal128(4, 1),
        "decimal(9,2)",
        Decimal("1.5"),
        Decimal("2.50"),
        Decimal("2.55"),
    ),
    "date": (
        pa.date32(),
        "timestamp_ntz",
        BASE,
        dt.datetime(2021, 1, 1),
        dt.datetime(2021, 1, 1, 5),
    ),
}


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("keyed", [False, True])
def test_values_before_a_restore_to_a_narrower_type_are_told_if_they_fit(
    kind: str, keyed: bool
) -> None:
    """A restore makes a column narrow again, and nobody has named a schema epoch."""
    arrow, wider, first, fits, not_fit = NARROW[kind]
    schema = pa.schema([K, ("v", arrow)])
    table = made(MemoryStore(), schema, ["k"] if keyed else [])
    begun = table.append(pa.table({"k": [1, 2], "v": [first, None]}, schema))
    table.alter(WidenColumn("v", wider))
    table.append([{"k": 3, "v": fits}, {"k": 4, "v": None}])
    table.upsert([{"k": 1, "v": fits}], on="k")
    table.restore(epoch=begun)
    narrow = table.changes(begun + 1).to_arrow()
    assert narrow.schema.field("v").type == arrow
    same = narrow["v"].to_pylist()[0]
    assert told(table, begun + 1) == [
        ("insert", 3, same),
        ("insert", 4, None),
        ("update_preimage", 1, first),
        ("update_postimage", 1, same),
        *(("delete", k, v) for k, v in [(3, same), (4, None)]),
        ("update_preimage", 1, same),
        ("update_postimage", 1, first),
    ]
    assert told(table, begun + 1, net=True) == []
    assert [k for _, k, _ in told(table, begun + 1, where="v IS NOT NULL AND k = 3")] == [3, 3]
    with pytest.raises(InvalidInputError, match="cannot be read as|does not hold"):
        table.scan(epoch=begun + 2, schema_epoch=begun).to_arrow()

    table.alter(WidenColumn("v", wider))
    wide = table.append([{"k": 5, "v": not_fit}])
    table.restore(epoch=begun)
    with pytest.raises(InvalidInputError) as refusal:
        told(table, begun + 1)
    assert f"is {wider} at epoch {wide}, and has a value there that" in str(refusal.value)
    assert f"name `schema_epoch={wide}`, for the whole range or for a part" in str(refusal.value)
    assert ("insert", 5, not_fit) in told(table, begun + 1, schema_epoch=wide)
    assert ("insert", 5, not_fit) in told(table, begun + 1, end=wide)
    # The epoch of the restore deletes the row, so it needs the schema epoch on its own, too.
    with pytest.raises(InvalidInputError, match=f"schema_epoch={wide}`"):
        told(table, wide + 1)
    assert ("delete", 5, not_fit) in told(table, wide + 1, schema_epoch=wide)


def test_a_date_that_became_a_timestamp_is_told_as_a_timestamp_if_one_holds_it() -> None:
    schema = pa.schema([K, ("v", pa.date32())])
    table = made(MemoryStore(), schema, ["k"])
    begun = table.append(pa.table({"k": [1, 2], "v": [BASE, None]}, schema))
    far = pa.table({"k": [3], "v": pa.array([2**31 - 1], pa.int32()).cast(pa.date32())}, schema)
    fine = table.alter(WidenColumn("v", "timestamp_ntz"))
    table.update({"v": "TIMESTAMP_NTZ'2021-01-01 05:00:00'"}, "k = 1")
    midnight, later = dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1, 5)
    assert told(table, begun) == [
        ("insert", 1, midnight),
        ("insert", 2, None),
        ("update_preimage", 1, midnight),
        ("update_postimage", 1, later),
    ]
    table.restore(epoch=begun)
    table.append(far)
    table.delete("k = 3")
    table.alter(WidenColumn("v", "timestamp_ntz"))
    with pytest.raises(InvalidInputError, match="is date at epoch .* timestamp_ntz, the type in"):
        told(table, fine)


def test_a_field_that_was_dropped_and_came_back_is_refused_with_what_helps(tmp_path: Path) -> None:
    """A consumer takes the schema epoch that the error names, and loses no change."""
    place = pa.struct([("x", pa.int32()), ("y", pa.int32())])
    schema = pa.schema([K, ("v", place)])
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", schema)
    begun = table.append(pa.table({"k": [1], "v": [{"x": 1, "y": 1}]}, schema))
    database.create_consumer("c", "t", begun)
    table.drop_column("v.y")
    fewer = table.append([{"k": 2, "v": {"x": 2}}])
    table.restore(epoch=begun)
    with pytest.raises(InvalidInputError, match=r"Field 'y' .* name `schema_epoch=\d+`, for the"):
        told(table, begun)
    expected = [("insert", 1, {"x": 1}), ("insert", 2, {"x": 2}), ("delete", 2, {"x": 2})]
    assert told(table, begun, schema_epoch=fewer) == expected
    with colonnade.open_database(tmp_path / "db").transaction() as tx:
        found = tx.changes("t", "c", schema_epoch=fewer).to_pylist()
    assert [(each["_change_type"], each["k"], each["v"]) for each in found] == expected


def test_rows_with_a_key_that_is_narrow_again_are_paired() -> None:
    schema = pa.schema([pa.field("k", pa.int32(), nullable=False), ("v", pa.int32())])
    table = made(MemoryStore(), schema, ["k"])
    begun = table.append(pa.table({"k": [1, 2], "v": [1, 1]}, schema))
    table.alter(WidenColumn("k", "long"))
    wide = table.overwrite([{"k": 1, "v": 5}, {"k": 3, "v": 1}])
    table.restore(epoch=begun)
    found = sorted(told(table, wide, wide, schema_epoch=begun))
    assert found == [
        ("delete", 2, 1),
        ("insert", 3, 1),
        ("update_postimage", 1, 5),
        ("update_preimage", 1, 1),
    ]
    assert told(table, wide, net=True) == []


@pytest.mark.parametrize("net", [False, True])
def test_static_values_of_a_key_that_is_narrow_again_are_told(tmp_path: Path, net: bool) -> None:
    """Keys that the narrow type does not hold had static values, too."""
    schema = pa.schema([("k", pa.int32()), ("n", pa.int32()), ("v", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["v"])
    begun = table.append(pa.table({"k": [1, 2, 3], "n": [1, 1, 1], "v": ["a", "b", "c"]}, schema))
    table.alter(WidenColumn(("k",), "long"))
    keys = pa.array([2**40, 1, 2**41, 2], pa.int64())
    last = table.append(pa.table({"k": keys, "v": ["x", "aa", "y", "bb"]}))
    table.restore(epoch=begun)
    pairs = [
        *(("update_preimage", k, v) for k, v in [(1, "aa"), (2, "bb")]),
        *(("update_postimage", k, v) for k, v in [(1, "a"), (2, "b")]),
    ]
    assert told(table, last + 1, also=["statics"], net=net) == pairs
