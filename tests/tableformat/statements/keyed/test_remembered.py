"""Tombstones beside everything else that happens to their table: other rules, other writers."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.statements.change import complete, make_change
from colonnade.tableformat.statements.keyed.delete_keys import evaluate_delete_keys
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AlterProperties,
    DropPrimaryKey,
    SetPrimaryKey,
)
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from tests.tableformat.statements.keyed.test_late_rows import (
    Racing,
    data,
    empty,
    keys,
    tombstones,
    words,
)
from tests.tableformat.statements.tables import another, log_of, made


def compact(table: ArrowTable) -> None:
    another(table).optimize().option("min-rowsets", 2).executeCompaction()


def test_a_new_sequence_takes_no_default_for_the_time_of_an_earlier_deletion() -> None:
    table = empty()
    table.delete_keys(keys((1, 7)))
    table.delete_keys(keys((2, 7)))
    since = SchemaField(name="since", type="int")
    table.alter(AddColumn(since, default="5"), AlterProperties(set={"sequence": "since"}))
    for number in (1, 2):
        row = {"id": number, "at": 9, "word": "new", "must": 0, "since": 4}
        table.upsert(pa.Table.from_pylist([row], table.schema))
        compact(table)
    assert words(table) == {1: "new", 2: "new"}


def test_tombstones_need_not_meet_the_constraints_of_rows() -> None:
    schema = pa.schema([("id", pa.int64()), ("at", pa.int64()), ("n", pa.int64())])
    schema = schema.append(pa.field("twice", pa.int64()))
    table = made(
        schema=schema,
        key=("id",),
        properties={"sequence": "at"},
        constraints={"known": "n IS NOT NULL AND n > 0"},
        generated={"twice": "n * 2"},
    )
    table.delete_keys(pa.table({"id": [1], "at": [7]}))
    table.delete_keys(pa.table({"id": [2], "at": [7]}))
    compact(table)
    assert table.verify(depth=4).findings == ()
    table.upsert(pa.table({"id": [1, 2], "at": [6, 8], "n": [1, 1]}))
    assert table.scan().to_arrow()["id"].to_pylist() == [2]


@pytest.mark.parametrize("changes", [(DropPrimaryKey(),), (SetPrimaryKey("id", "word"),)])
def test_tombstones_that_come_beside_a_change_of_the_key_end_with_it(changes: Any) -> None:
    table = empty()
    with Racing(table._log, lambda: another(table).delete_keys(keys((1, 7)))):
        table.alter(*changes)
    assert tombstones(table) == []


def test_a_key_ends_beside_a_compaction_of_its_tombstones() -> None:
    table = empty()
    for number in range(3):
        table.delete_keys(keys((number, 7)))
    with Racing(table._log, lambda: compact(table)):
        table.alter(DropPrimaryKey())
    assert tombstones(table) == []


def test_no_transaction_conflicts_with_a_compaction_of_tombstones() -> None:
    table = empty()
    for number in range(3):
        table.delete_keys(keys((number, 7)))
    transaction = ArrowTransaction(table._log, table._refresh())
    transaction.table("t").upsert(data((1, 6, "late"), (5, 1, "new")))
    compact(table)
    assert tombstones(table) == [3]
    transaction.commit()
    assert words(table) == {5: "new"}


def test_keys_are_deleted_beside_a_compaction_of_tombstones_in_one_try() -> None:
    table = empty()
    for number in range(3):
        table.delete_keys(keys((number, 7)))
    log, base = table._log, table._refresh()
    statement = evaluate_delete_keys(log_of(table), table._state, keys((1, 9)), "0" * 16)
    planned = make_change(complete(statement, log_of(table), table._state), table._state, "0" * 16)
    compact(table)
    log.commit(planned, base)
    assert tombstones(table) == [3, 1]


def test_a_serializable_read_does_not_conflict_with_tombstones_of_keys_without_rows() -> None:
    table = empty()
    table.alter(AlterProperties(set={"isolation": "serializable"}))
    table.upsert(data((1, 5, "a")))
    transaction = ArrowTransaction(table._log, table._refresh())
    mine = transaction.table("t")
    assert mine.scan().to_arrow().num_rows == 1
    mine.update({"word": "'b'"}, where="id = 1")
    table.delete_keys(keys((2, 7)))
    transaction.commit()
    assert words(table) == {1: "b"}


@pytest.mark.parametrize("hours", ["-1", "nan", "inf", "1000", "soon", ""])
def test_hours_are_a_number_within_the_retention(hours: str) -> None:
    table = empty()
    with pytest.raises(InvalidInputError, match=r"'tombstone\.hours' must be a number from 0 to"):
        table.alter(AlterProperties(set={"tombstone.hours": hours}))
    table.alter(AlterProperties(set={"tombstone.hours": "20"}))
    with pytest.raises(InvalidInputError, match=r"'tombstone\.hours' must be .* from 0 to 10,"):
        table.alter(AlterProperties(set={"retention.hours": "10"}))
    table.delete_keys(keys((1, 7)))


def moment(year: int) -> dt.datetime:
    return dt.datetime(year, 1, 1, tzinfo=dt.timezone.utc)


ORDERED: dict[str, tuple[pa.DataType, tuple[Any, Any, Any]]] = {
    "boolean": (pa.bool_(), (False, True, True)),
    "text": (pa.string(), ("a", "b", "é")),
    "binary": (pa.binary(), (b"", b"\x01", b"\xff")),
    "date": (pa.date32(), (dt.date(1, 1, 1), dt.date(2020, 1, 1), dt.date(9999, 1, 1))),
    "decimal": (pa.decimal128(38, 2), (Decimal("-1.00"), Decimal("0.10"), Decimal(10) ** 30)),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        (moment(1900), moment(1970), moment(2020)),
    ),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_a_sequence_of_any_ordered_type_says_which_deletion_is_newest(kind: str) -> None:
    type_, (old, middle, new) = ORDERED[kind]
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("at", type_)])
    table = made(schema=schema, key=("id",), properties={"sequence": "at"})

    def rows(*given: tuple[int, Any]) -> pa.Table:
        return pa.Table.from_pylist([{"id": id_, "at": at} for id_, at in given], schema)

    table.upsert(rows((1, middle), (2, new)))
    assert table.delete_keys(rows((1, old), (1, middle), (1, None), (2, None), (3, middle)))
    table.upsert(rows((1, old), (3, old)))
    assert table.scan().to_arrow().to_pylist() == [{"id": 2, "at": new}]
    table.upsert(rows((3, new)))
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [2, 3]


def test_a_damaged_rowset_of_tombstones_is_found_and_can_be_given_up(tmp_path: Path) -> None:
    table = empty()
    table.upsert(data((1, 5, "a")))
    many = keys(*((number, 9) for number in range(2, 6_000)))
    table.delete_keys(many)
    table.refresh()
    (buried,) = table._log.rowsets.read(table._state, which="tombstones")
    store = table._log.store
    for file in [each.name for each in store.list("") if buried.entry.object in each.name]:
        store.delete(file)
    assert table.verify(depth=4).findings
    table.repair([buried.id], rescue=tmp_path / "rows.arrow")
    assert table.verify(depth=4).findings == ()
    assert words(table) == {1: "a"}
