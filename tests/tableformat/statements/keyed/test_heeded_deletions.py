"""A deletion that comes between a merge and its slot counts, whatever row its key has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys import parts
from colonnade.tableformat.statements.statement import (
    Statement,
    inserting,
    row_statement,
    write_batches,
)
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from tests.tableformat.statements.keyed.test_late_rows import SCHEMA, Racing, data, keys
from tests.tableformat.statements.tables import another, made

DELETED_AT = 100

MODES: Mapping[str, Mapping[str, str]] = {
    "replace": {},
    "sums": {"merge.must": "add", "merge.word": "concat:+"},
    "first": {"merge.word": "first", "merge.must": "max"},
}


def table_of(modes: str, there: int | None) -> ArrowTable:
    """A table with a key 9, and a key 1 if a row of it is `there`, as new as this."""
    table = made(schema=SCHEMA, key=("id",), properties={"sequence": "at", **MODES[modes]})
    table.upsert(data((9, 1, "other")))
    if there is not None:
        table.upsert(data((1, there, "there")))
    return table


def bury(table: ArrowTable) -> None:
    """What another writer does: a deletion, among changes that concern no key of the merge."""
    other = another(table)
    other.upsert(data((8, 1, "another")))
    other.delete_keys(keys((1, DELETED_AT), (7, DELETED_AT)))
    other.optimize().option("min-rowsets", 2).executeCompaction()


def content(table: ArrowTable) -> list[dict[str, Any]]:
    table.refresh()
    found: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    return sorted(found, key=lambda row: row["id"])


def merge(table: Any, road: str, at: int) -> None:
    """Merge rows of the keys 1 and 2 by a road, into a table or one in a transaction."""
    batch = data((1, at, "mine"), (1, at - 1, "before"), (2, 3, "new"))
    match road:
        case "some columns":
            table.upsert(batch.slice(0, 1).select(["id", "at", "must"]))
        case "append":
            table.append(batch, settings=MERGES)
        case "tasks":
            table._run(partial(written, batch), None)
        case "deletion":
            table.delete_keys(keys((3, 3)))
            table.upsert(batch)
        case _:
            table.upsert(batch)


def written(batch: pa.Table, log: Log, table: TableState, job_id: str) -> Statement:
    """What a job reports whose task has written a batch, as Spark's tasks do."""
    entries = write_batches(log, table, job_id, batch.to_batches())
    count = batch.num_rows
    return inserting(row_statement("append", table, (), entries, reads=(), inserted=count), MERGES)


MERGES = WriteSettings(on_duplicate="merge")
ROADS = ("upsert", "append", "tasks", "some columns", "deletion")
CASES = [
    case
    for case in product(ROADS, MODES, (None, 50, 200), (60, 150))
    if case[0] != "some columns" or case[2] is not None  # a new row needs all columns
]


def after_the_deletion(road: str, modes: str, there: int | None, at: int) -> list[dict[str, Any]]:
    """What a merge leaves that begins after the deletion."""
    table = table_of(modes, there)
    bury(table)
    table.refresh()
    merge(table, road, at)
    return content(table)


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 1])
@pytest.mark.parametrize(("road", "modes", "there", "at"), CASES)
def test_a_merge_heeds_a_deletion_from_before_its_slot(
    road: str, modes: str, there: int | None, at: int, part_rows: int
) -> None:
    with patch.object(parts, "PART_ROWS", part_rows):
        wanted = after_the_deletion(road, modes, there, at)
        table = table_of(modes, there)
        with Racing(table._log, lambda: bury(table)):
            merge(table, road, at)
        assert content(table) == wanted


@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 1])
@pytest.mark.parametrize(("road", "modes", "there", "at"), CASES)
def test_a_transaction_heeds_a_deletion_from_before_its_slot(
    road: str, modes: str, there: int | None, at: int, part_rows: int
) -> None:
    with patch.object(parts, "PART_ROWS", part_rows):
        table = table_of(modes, there)
        transaction = ArrowTransaction(table._log, table._refresh())
        merge(transaction.table("t"), road, at)
        bury(table)
        before = content(table)
        try:
            transaction.commit()
        except ConflictError:
            assert content(table) == before
        else:
            assert content(table) == after_the_deletion(road, modes, there, at)


@pytest.mark.parametrize("road", ROADS)
def test_a_transaction_does_not_conflict_with_deletions_of_other_keys(road: str) -> None:
    table = table_of("replace", 50)
    transaction = ArrowTransaction(table._log, table._refresh())
    merge(transaction.table("t"), road, 60)
    another(table).delete_keys(keys((9, DELETED_AT), (5, DELETED_AT)))
    transaction.commit()
    assert content(table)[0]["at"] == 60


def test_a_range_of_which_a_transaction_has_merged_rows_is_a_conflict() -> None:
    table = made(schema=pa.schema([SCHEMA.field("id"), ("n", pa.int64())]), key=("id",))
    table.append(pa.table({"id": pa.array([1, 50, 70], pa.int32()), "n": [0, 0, 0]}))
    transaction = ArrowTransaction(table._log, table._refresh())
    mine = transaction.table("t")
    mine.update({"n": 1}, "id = 1")
    mine.upsert(pa.table({"id": pa.array([50], pa.int32()), "n": [1]}))
    another(table).delete_range("id >= 40 AND id < 60")
    with pytest.raises(ConflictError):
        transaction.commit()
    assert sorted(row["id"] for row in content(table)) == [1, 70]
