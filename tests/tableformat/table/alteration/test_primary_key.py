"""A table gets a primary key when its rows allow that, and keeps what the key needs."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import (
    AddColumn,
    AlterProperties,
    ArrowTable,
    ColonnadeError,
    DropColumn,
    DropNotNull,
    DropPrimaryKey,
    RenameColumn,
    ReplaceColumns,
    SchemaField,
    SetPrimaryKey,
    WidenColumn,
)
from colonnade.tableformat.table.alteration import Alteration
from tests.tableformat.statements.tables import another, made

SCHEMA = pa.schema([("a", pa.int32()), ("b", pa.string()), ("v", pa.float64())])


def table(*rows: tuple[int | None, str, float], key: tuple[str, ...] = ()) -> ArrowTable:
    created = made(schema=SCHEMA, key=key)
    for row in rows:
        created.append(pa.table([[each] for each in row], SCHEMA))
    return created


def key_of(table: ArrowTable) -> tuple[str, ...]:
    return table.primary_key


def test_a_key_is_set_and_dropped() -> None:
    own = table((1, "x", 0.0), (1, "y", 0.0))
    epoch = own.alter(SetPrimaryKey("a", "b"))
    assert (key_of(own), own.epoch) == (("a", "b"), epoch)
    assert [field.nullable for field in own._state.schema.fields] == [False, False, True]
    assert [field.column for field in own._state.sort_key] == [1, 2]
    with pytest.raises(ColonnadeError, match="primary key"):
        own.append(pa.table([[1], ["x"], [2.0]], SCHEMA))
    own.alter(SetPrimaryKey("b"))
    assert key_of(own) == ("b",)
    own.alter(DropPrimaryKey())
    assert key_of(own) == ()
    own.append(pa.table([[1], ["x"], [2.0]], SCHEMA))
    changes = [entry.parameters.get("changes") for entry in own.history()]
    assert "set primary key (a, b)" in changes
    assert "drop primary key" in changes


@pytest.mark.parametrize(
    ("rows", "key", "text"),
    [
        ([(1, "x", 0.0), (1, "y", 0.0)], ("a",), r"share keys: a = 1 \(2 rows\); delete"),
        ([(None, "x", 0.0)], ("a",), "'a' of table 't' cannot be made NOT NULL"),
        ([(1, "x", float("nan"))], ("v",), "'v' is a key and is NaN"),
        ([(1, "x", 0.0), (2, "x", -0.0)], ("v",), r"share keys: v = -?0.0 \(2 rows\)"),
        ([], (), "at least one column"),
        ([], ("z",), "'z' does not exist"),
        ([], ("a", "A"), "twice"),
    ],
)
def test_a_key_that_the_rows_do_not_have_is_refused(
    rows: list[tuple[int | None, str, float]], key: tuple[str, ...], text: str
) -> None:
    own = table(*rows)
    before = own._snapshot
    with pytest.raises(ColonnadeError, match=text):
        own.alter(SetPrimaryKey(*key))
    assert own._refresh() == before


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (DropColumn("a"), "'a' cannot be dropped: it is in the primary key"),
        (DropNotNull("a"), "'a' cannot be made nullable: it is in the primary key"),
        (
            ReplaceColumns((SchemaField(name="b", type="string"),)),
            "'a' cannot be dropped: it is in the primary key",
        ),
        (AlterProperties({"onDuplicate": "sometimes"}), "error, ignore or merge"),
        (AlterProperties({"primaryKey": "a"}), "not a property that can be set"),
    ],
    ids=["drop", "nullable", "replace", "policy", "property"],
)
def test_a_change_that_the_key_does_not_survive_is_refused(change: Alteration, text: str) -> None:
    own = table((1, "x", 0.0), key=("a", "b"))
    with pytest.raises(ColonnadeError, match=text):
        own.alter(change)
    assert own._refresh().table("t").primary_key == (1, 2)


def test_a_key_column_gets_another_name_and_a_wider_type() -> None:
    own = table((1, "x", 0.0), key=("a",))
    late = another(own)
    own.alter(RenameColumn("a", "number"), WidenColumn("number", "long"))
    assert key_of(own) == ("number",)
    wide = pa.schema([("number", pa.int64()), ("b", pa.string()), ("v", pa.float64())])
    with pytest.raises(ColonnadeError, match="number = 1"):
        own.append(pa.table([[1], ["y"], [0.0]], wide))
    own.append(pa.table([[2**40], ["y"], [0.0]], wide))
    with pytest.raises(ColonnadeError, match="a = 1"):
        late.append(pa.table([[1], ["late"], [0.0]], SCHEMA))
    late.append(pa.table([[3], ["late"], [0.0]], SCHEMA))
    own.refresh()
    assert sorted(own.scan(["number"]).to_arrow()["number"].to_pylist()) == [1, 3, 2**40]


def test_the_columns_of_a_former_key_can_be_dropped_at_once() -> None:
    own = table((1, "x", 0.0), key=("a",))
    own.alter(DropPrimaryKey(), SetPrimaryKey("b"), AddColumn(SchemaField(name="n", type="long")))
    assert key_of(own) == ("b",)
    plain = made(schema=SCHEMA, key=("a",), sort_key=["v"])
    plain.alter(DropPrimaryKey(), DropColumn("a"))
    assert plain.schema.names == ["b", "v"]
    with pytest.raises(ColonnadeError, match="'t' has no primary key to drop"):
        plain.alter(DropPrimaryKey())


def test_a_key_is_set_beside_a_writer_whose_rows_are_compared() -> None:
    own = table((1, "x", 0.0))
    late = another(own)
    late.append(pa.table([[1], ["y"], [0.0]], SCHEMA))
    with pytest.raises(ColonnadeError, match=r"a = 1 \(2 rows\)"):
        own.alter(SetPrimaryKey("a"))
    late.delete("b = 'y'")
    own.alter(SetPrimaryKey("a"))
    with pytest.raises(ColonnadeError, match=r"primary key \(a\)"):
        late.append(pa.table([[1], ["y"], [0.0]], SCHEMA))


def test_a_restore_brings_a_key_back_or_ends_it() -> None:
    own = table((1, "x", 0.0))
    before = own.epoch
    keyed = own.alter(SetPrimaryKey("a"))
    own.restore(epoch=before)
    assert key_of(own) == ()
    own.append(pa.table([[1], ["y"], [0.0]], SCHEMA))
    own.restore(epoch=keyed)
    assert key_of(own) == ("a",)
    with pytest.raises(ColonnadeError, match="primary key"):
        own.append(pa.table([[1], ["y"], [0.0]], SCHEMA))
