"""Changes of epochs whose columns had other types than those that are shown."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, DropNotNull, InvalidInputError, SetNotNull, WidenColumn
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.types.arrow_types import arrow_type
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


@pytest.mark.slow
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


def struct(arrow: pa.DataType, *, nullable: bool = True) -> pa.StructType:
    """A field `x` among others that never change their type."""
    return pa.struct(
        [
            pa.field("x", arrow, nullable=nullable),
            pa.field("at", pa.time64("us")),
            pa.field("for", pa.duration("us")),
            pa.field("any", VARIANT),
        ]
    )


def place(x: Any) -> dict[str, Any]:
    return {"x": x, "at": dt.time(1, 2), "for": dt.timedelta(1), "any": None}


VARIANT = arrow_type(SchemaField(name="any", type="variant"))
MIDNIGHT = dt.datetime(2021, 1, 1)
SHORT = pa.field("x", pa.string(), metadata={b"colonnade.type": b"varchar(3)"})
# The type, the path to widen, the wider type, the first value, one that fits, and one that does not
NESTED: dict[str, tuple[pa.DataType, str, str, Any, Any, Any]] = {
    "field": (struct(pa.int32()), "v.x", "long", place(1), place(7), place(2**40)),
    "field that is not null": (
        struct(pa.int32(), nullable=False),
        *("v.x", "double", place(1), place(7.0), place(7.5)),
    ),
    "element": (pa.list_(pa.int32()), "v.element", "long", [1, None], [7, None, 8], [7, 2**40]),
    "value": (
        pa.map_(pa.string(), pa.float32()),
        *("v.value", "double", [("a", 1.5)], [("a", 2.5), ("b", None)], [("a", 0.1)]),
    ),
    "key": (
        pa.map_(pa.int32(), pa.string()),
        "v.key",
        "long",
        [(1, "a")],
        [(7, None)],
        [(2**40, "a")],
    ),
    "date": (
        struct(pa.date32()),
        *("v.x", "timestamp_ntz", place(BASE), place(MIDNIGHT), place(MIDNIGHT.replace(hour=5))),
    ),
    "decimal in an array of structs": (
        pa.list_(struct(pa.decimal128(4, 1))),
        *("v.element.x", "decimal(9,2)", [place(Decimal("1.5")), None]),
        *([None, place(None), place(Decimal("2.50"))], [place(Decimal("2.55"))]),
    ),
    "element of a map's values": (
        pa.map_(pa.string(), pa.list_(struct(pa.int16()))),
        *("v.value.element.x", "int", [("a", [place(1)]), ("b", None), ("c", [])]),
        *([("a", [place(7), None]), ("b", [])], [("a", [place(2**20)])]),
    ),
    "text": (
        pa.struct([SHORT, pa.field("y", pa.int32())]),
        *("v.x", "varchar(9)", {"x": "a", "y": 1}, {"x": "é€x", "y": None}, {"x": "abcd", "y": 1}),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("keyed", [False, True])
def test_nested_values_before_a_restore_to_narrower_types_are_told_if_they_fit(
    kind: str, keyed: bool
) -> None:
    arrow, path, wider, first, fits, not_fit = NESTED[kind]
    schema = pa.schema([K, ("v", arrow)])
    table = made(MemoryStore(), schema, ["k"] if keyed else [])
    begun = table.append(pa.table({"k": [1, 2], "v": [first, None]}, schema))
    table.alter(WidenColumn(tuple(path.split(".")), wider))
    table.append(pa.table({"k": [3, 4], "v": [fits, None]}, table.schema))
    table.upsert(pa.table({"k": [1], "v": [fits]}, table.schema), on="k")
    table.restore(epoch=begun)
    narrow = table.changes(begun + 1).to_arrow()
    assert as_schema(narrow) == as_schema(table.to_arrow())
    narrow.validate(full=True)
    old, same = told(table, begun + 1)[2][2], told(table, begun + 1)[0][2]
    assert old == table.to_pylist()[0]["v"]
    assert told(table, begun + 1) == [
        ("insert", 3, same),
        ("insert", 4, None),
        ("update_preimage", 1, old),
        ("update_postimage", 1, same),
        *(("delete", k, v) for k, v in [(3, same), (4, None)]),
        ("update_preimage", 1, same),
        ("update_postimage", 1, old),
    ]
    assert told(table, begun + 1, net=True) == []
    [wide] = told(table, begun + 2, begun + 2, where="k = 3", schema_epoch=begun + 2)
    assert wide[2] == as_read(table, begun + 2, 3)

    table.alter(WidenColumn(tuple(path.split(".")), wider))
    last = table.append(pa.table({"k": [5, 6], "v": [not_fit, fits]}, table.schema))
    table.restore(epoch=begun)
    with pytest.raises(InvalidInputError) as refusal:
        told(table, begun + 1)
    assert f"Column {path!r} of table" in str(refusal.value)
    assert f"is {wider} at epoch {last}, and has a value there that" in str(refusal.value)
    assert f"name `schema_epoch={last}`, for the whole range or for a part" in str(refusal.value)
    found = told(table, last, last, schema_epoch=last)
    assert [v for _, _, v in found] == [as_read(table, last, k) for k in (5, 6)]
    [other] = table.changes(last, last, where="k = 6", columns=["k"], schema_epoch=begun)
    assert other["k"] == 6


def as_read(table: ArrowTable, epoch: int, key: int) -> Any:
    """A value as a scan reads it."""
    [row] = table.scan(epoch=epoch, where=f"k = {key}").to_pylist()
    return row["v"]


def as_schema(rows: pa.Table) -> str:
    """The types of the columns of a table, whether they may be NULL or not."""
    return str(rows.schema.field("v").type).replace(" not null", "")


def test_a_narrow_type_shows_what_a_model_says_of_random_nested_values() -> None:
    """Every value fits, so the feed is the model's, whatever is NULL at whichever depth."""
    rng = random.Random(7)

    def value(depth: int = 0) -> Any:
        if rng.random() < 0.2:
            return None
        numbers = [rng.choice([None, rng.randrange(-128, 128)]) for _ in range(rng.randrange(4))]
        inside = {"n": rng.choice([None, rng.randrange(128)]), "l": numbers}
        return [rng.choice([None, inside]) for _ in range(rng.randrange(4))]

    inside = pa.struct([("n", pa.int8()), ("l", pa.list_(pa.int8()))])
    schema = pa.schema([K, ("v", pa.list_(inside))])
    table = made(MemoryStore(), schema, ["k"])
    begun = table.append(pa.table({"k": range(500), "v": [value() for _ in range(500)]}, schema))
    table.alter(WidenColumn(("v", "element", "n"), "long"))
    table.alter(WidenColumn(("v", "element", "l", "element"), "long"))
    rows = {k: value() for k in range(250, 750)}
    wide = table.upsert(pa.table({"k": [*rows], "v": [*rows.values()]}, table.schema), on="k").epoch
    before = {each["k"]: each["v"] for each in table.scan(epoch=begun).to_pylist()}
    table.restore(epoch=begun)
    expected = [(k, v) for k, v in rows.items() if k >= 500 or before[k] != v]
    found = table.changes(wide, wide).to_pylist()
    news = [c for c in found if c["_change_type"] in ("insert", "update_postimage")]
    assert sorted(((c["k"], c["v"]) for c in news), key=lambda e: e[0]) == expected
    olds = {c["k"]: c["v"] for c in found if c["_change_type"] == "update_preimage"}
    assert olds == {k: before[k] for k, _ in expected if k < 500}


def test_a_void_column_that_got_a_nested_type_is_told_as_void_where_it_is_null() -> None:
    schema = pa.schema([K, ("v", pa.null())])
    table = made(MemoryStore(), schema, ["k"])
    begun = table.append(pa.table({"k": [1], "v": [None]}, schema))
    table.alter(WidenColumn("v", pa.list_(pa.struct([("x", pa.int32())]))))
    table.append(pa.table({"k": [2], "v": [None]}, table.schema))
    last = table.append(pa.table({"k": [3], "v": [[{"x": 1}]]}, table.schema))
    table.restore(epoch=begun)
    assert told(table, begun + 1, begun + 2, schema_epoch=begun) == [("insert", 2, None)]
    with pytest.raises(
        InvalidInputError, match=r"'v' .* is array<struct<x:int>> at .* that void, "
    ):
        told(table, begun + 1)
    assert ("insert", 3, [{"x": 1}]) in told(table, begun + 1, schema_epoch=last)


def test_rows_may_be_null_where_the_last_schema_has_not_null() -> None:
    schema = pa.schema([K, ("v", pa.struct([("x", pa.int32())])), ("w", pa.int32())])
    table = made(MemoryStore(), schema, ["k"])
    table.append(pa.table({"k": [1, 2], "v": [{"x": None}, {"x": 3}], "w": [None, 3]}, schema))
    table.upsert(pa.table({"k": [1], "v": [{"x": 7}], "w": [7]}, schema))
    table.alter(SetNotNull("w"), SetNotNull(("v", "x")))
    found = table.changes(0)
    assert [(c["k"], c["v"], c["w"]) for c in found] == [
        (1, {"x": None}, None),
        (2, {"x": 3}, 3),
        (1, {"x": None}, None),
        (1, {"x": 7}, 7),
    ]
    assert found.schema.field("w").nullable
    assert found.schema.field("v").type.field("x").nullable
    table.alter(DropNotNull(("v", "x")))
    table.append(pa.table({"k": [4], "v": [{"x": None}], "w": [1]}, table.schema))
    end = table.epoch
    assert table.changes(0, schema_epoch=end - 2).to_arrow().num_rows == 5


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
