"""A batch that is sent again is done, although the table has its keys by now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowTable, CommitSettings, DropPrimaryKey, WriteSettings
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import OnDuplicate
from tests.tableformat.statements.tables import another, made

SCHEMA = pa.schema([("k", pa.int64()), ("n", pa.int8())])
BATCH = CommitSettings(batch=("app", 1))


def keyed() -> ArrowTable:
    table = made(schema=SCHEMA, key=("k",), properties={"merge.n": "add"})
    table.append(rows((1, 100)))
    return table


def rows(*given: tuple[int, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("kn", each, strict=True)) for each in given], SCHEMA)


def content(table: ArrowTable) -> list[dict[str, int]]:
    table.refresh()
    return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: row["k"])


def by_tasks(table: ArrowTable) -> None:
    """Append as a job whose tasks have written, as Spark does."""
    base, log = table._refresh(), table._log
    job = plan_write(table._location, base, "append", commit=BATCH, limits=log.limits)
    commit_written(job, write_rows(job, rows((2, 1)).to_batches(), log.store), log)


def in_transaction(step: Callable[[Any], Any], table: ArrowTable) -> None:
    with ArrowTransaction(table._log, table._refresh(), BATCH) as transaction:
        step(transaction.table("t"))


ROADS: dict[str, Callable[[ArrowTable], Any]] = {
    "append": lambda t: t.append(rows((2, 1)), commit=BATCH),
    "append by tasks": by_tasks,
    "overwrite where": lambda t: t.overwrite(rows((2, 1)), "n = 1", commit=BATCH),
    "upsert": lambda t: t.upsert(rows((1, 20)), commit=BATCH),
    "update of a key": lambda t: t.update({"k": 2}, "k = 1", commit=BATCH),
    "append in a transaction": partial(in_transaction, lambda t: t.append(rows((2, 1)))),
    "upsert in a transaction": partial(in_transaction, lambda t: t.upsert(rows((1, 20)))),
}


@pytest.mark.parametrize("road", ROADS)
def test_a_batch_that_is_sent_again_is_done(road: str) -> None:
    table = keyed()
    stale = another(table)
    ROADS[road](table)
    once, epoch = content(table), table.epoch
    ROADS[road](table)
    ROADS[road](stale)
    assert (content(table), table.epoch) == (once, epoch)


@pytest.mark.parametrize("on_duplicate", ["error", "ignore", "merge"])
def test_a_batch_that_is_sent_again_is_done_although_the_table_has_no_key_any_more(
    on_duplicate: OnDuplicate,
) -> None:
    table = keyed()
    chosen = WriteSettings(on_duplicate=on_duplicate)
    table.append(rows((2, 1)), settings=chosen, commit=BATCH)
    table.alter(DropPrimaryKey())
    once, epoch = content(table), table.epoch
    assert table.append(rows((2, 1)), settings=chosen, commit=BATCH) == epoch
    with pytest.raises(InvalidInputError, match="no primary key"):
        table.append(rows((3, 1)), settings=chosen, commit=CommitSettings(batch=("app", 2)))
    assert (content(table), table.epoch) == (once, epoch)


def test_a_batch_that_is_sent_again_brings_no_columns() -> None:
    table = keyed()
    table.append(rows((2, 1)), commit=BATCH)
    more = rows((2, 1)).append_column("more", pa.array([1]))
    assert table.append(more, commit=BATCH, evolve=True) == table.epoch
    assert table._state.schema.names == ("k", "n")


def test_the_next_batch_with_the_same_rows_is_refused() -> None:
    table = keyed()
    table.append(rows((2, 1)), commit=BATCH)
    once = content(table)
    with pytest.raises(InvalidInputError, match="allows a key once"):
        table.append(rows((2, 1)), commit=CommitSettings(batch=("app", 2)))
    assert content(table) == once


def test_a_transaction_of_which_one_table_has_the_batch_is_refused() -> None:
    table = keyed()
    table.append(rows((2, 1)), commit=BATCH)
    transaction = ArrowTransaction(table._log, table._refresh(), BATCH)
    transaction.create("u", SCHEMA).append(rows((1, 1)))
    transaction.table("t").append(rows((2, 1)))
    with pytest.raises(ConflictError, match="Only some of the batches"):
        transaction.commit()
