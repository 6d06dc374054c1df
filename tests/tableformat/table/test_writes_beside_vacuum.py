"""A vacuum may remove the files of a statement that no epoch names yet. That is never damage.

The statement runs again if it can. Otherwise a ConflictError says what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import Vacuum
from colonnade.manifests.object_names import packed_name
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import WriteSettings
from tests.tableformat.table.beside import Beside

SCHEMA = pa.schema(
    [("p", pa.int64(), False), ("k", pa.int64(), False), ("v", pa.string()), ("n", pa.int64())]
)
MORE = tuple(range(4, 8))
"""Keys that are new, beside those from 0 to 5."""


def rows(*keys: int, value: str = "new", p: int = 1) -> pa.Table:
    columns = {"p": [p] * len(keys), "k": [*keys], "v": [value] * len(keys), "n": [1] * len(keys)}
    return pa.table(columns, SCHEMA)


class Worlds(NamedTuple):
    """The database as a writer that is disturbed sees it, the call, and the table for others."""

    mine: ArrowDatabase
    way: Beside
    other: ArrowTable

    @property
    def table(self) -> ArrowTable:
        return self.mine.table("t")


Statement = Callable[[ArrowDatabase], object]
Found = list[dict[str, object]]


def of_table(statement: Callable[[ArrowTable], object]) -> Statement:
    return lambda mine: statement(mine.table("t"))


def on_duplicate(what: str) -> WriteSettings:
    return WriteSettings(on_duplicate=what)  # type: ignore[arg-type]


def _job(mine: ArrowDatabase) -> None:
    """Rows that tasks have written, as the driver of a job commits them, which may be again."""
    table = mine.table("t")
    job = plan_write(table._location, table._snapshot, "append", settings=on_duplicate("ignore"))
    commit_written(job, write_rows(job, rows(0, *MORE).to_batches(), table._log.store), table._log)


def _transaction(mine: ArrowDatabase) -> None:
    with mine.transaction() as tx:
        table = tx.table("t")
        table.upsert(rows(0, 9))
        table.delete("k = 1")
        table.overwrite(rows(8, 9), "p = 1 AND k > 2")


AGAIN: dict[str, Statement] = {
    "append": of_table(lambda t: t.append(rows(*range(6, 9)))),
    "append ignore": of_table(lambda t: t.append(rows(*MORE), settings=on_duplicate("ignore"))),
    "append merge": of_table(lambda t: t.append(rows(*MORE), settings=on_duplicate("merge"))),
    "upsert": of_table(lambda t: t.upsert(rows(*MORE))),
    "upsert on": of_table(lambda t: t.upsert(rows(*MORE), on=["k", "p"])),
    "upsert columns": of_table(lambda t: t.upsert(rows(*MORE).select(["p", "k", "n"]))),
    "update": of_table(lambda t: t.update({"v": "'x'"}, "k < 2")),
    "update keys": of_table(lambda t: t.update({"k": 30}, "p = 1 AND k = 1")),
    "delete": of_table(lambda t: t.delete("v <> 'z' AND k = 2", count_rows=True)),
    "delete keys": of_table(lambda t: t.delete_keys(rows(0, 4).select(["p", "k"]))),
    "delete range": of_table(lambda t: t.delete_range("p = 1 AND k = 2")),
    "backfill": of_table(lambda t: t.backfill("v", "'y'", "k < 3")),
    "add column": of_table(lambda t: t.add_column("m", pa.int64(), "n")),
}
"""Statements that run again."""

ONCE: dict[str, Statement] = {
    "overwrite": of_table(lambda t: t.overwrite(rows(*MORE))),
    "overwrite where": of_table(lambda t: t.overwrite(rows(*MORE), "p = 1")),
    "overwrite partitions": of_table(lambda t: t.overwrite_partitions(rows(*MORE))),
    "append a stream": of_table(lambda t: t.append(rows(*range(6, 9)).to_reader())),
    "compaction": of_table(lambda t: t.optimize().option("run-bytes", "none").executeCompaction()),
    "job": _job,
    "transaction": _transaction,
}
"""Statements whose rows may have been read before, or be gone: these may end with a conflict."""

KEYED_ALONE = {
    "upsert",
    "upsert columns",
    "append merge",
    "append ignore",
    "delete keys",
    "job",
    "transaction",
}


def world(keyed: bool) -> Worlds:
    store = MemoryStore()
    limits = replace(LIMITS, inline_bytes=0, inline_rowset_bytes=0)
    base = create_database(store, lone_table=False)
    others = ArrowDatabase(store, Log(store, pause=lambda _: None, limits=limits), base)
    key = ["p", "k"]
    table = others.create_table("t", SCHEMA, sort_key=key, primary_key=key if keyed else [])
    for first in (0, 3):
        table.append(rows(first, first + 1, first + 2, value="old"))
    table.delete("v = 'old' AND k = 5")
    way = Beside(store)
    log = Log(way, pause=lambda _: None, limits=limits)
    mine = ArrowDatabase(way, log, log.reader.read_head())
    way.trace.clear()
    return Worlds(mine, way, table)


def disturbed(table: ArrowTable, kept: int, moves: bool) -> None:
    """Rows of another writer, perhaps of keys of the statement, and a vacuum without a grace."""
    table.append(rows(table.refresh().epoch, p=9))
    if moves:
        table.upsert(rows(0, 4, value="moved"), on=["p", "k"])
    log = Log(table._log.store, pause=lambda _: None)
    vacuum(log, VacuumRequest(0, kept, threads=1, trust_clock=True))


def tries(
    statement: Statement, keyed: bool, kept: int, times: int = 1, moves: bool = False
) -> Iterator[tuple[ColonnadeError | None, Found]]:
    """The error, if any, and the rows, for a vacuum right before each call of the store."""
    call = 0
    while True:
        call += 1
        mine, way, other = world(keyed)
        way.call = call
        way.acts = (partial(disturbed, other, kept, moves),) * times
        found = None
        try:
            statement(mine)
        except (ConflictError, CommitUnknownError) as error:
            found = error
        if len(way.acts) == times:
            return
        other.refresh()
        yield found, other.scan(where="p <> 9", order="key").to_arrow().to_pylist()


def undisturbed(statement: Statement, keyed: bool) -> Found:
    mine, _, other = world(keyed)
    statement(mine)
    other.refresh()
    return other.scan(where="p <> 9", order="key").to_arrow().to_pylist()


CASES = [
    pytest.param(statement, keyed, kept, id=f"{name}-{'keyed' if keyed else 'plain'}-{kept}")
    for name, statement in {**AGAIN, **ONCE}.items()
    for keyed, kept in ((True, 1), (True, 50), (False, 50))
    if keyed or name not in KEYED_ALONE
]


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "keyed", "kept"), CASES)
def test_a_statement_is_done_or_is_a_conflict_whenever_a_vacuum_comes(
    statement: Statement, keyed: bool, kept: int
) -> None:
    want, before = undisturbed(statement, keyed), undisturbed(lambda _: None, keyed)
    for error, found in tries(statement, keyed, kept):
        if isinstance(error, CommitUnknownError):
            # The vacuum that keeps one epoch may remove that of the statement at once.
            assert kept == 1
            assert found in (before, want)
        else:
            assert not (error and statement in AGAIN.values())
            assert found == (before if error else want)


MEETING = ("append ignore", "append merge", "upsert", "update keys", "job", "transaction")


@pytest.mark.slow
@pytest.mark.parametrize("name", MEETING)
def test_no_lost_file_is_named_when_rivals_move_the_rows_and_vacuums_come_twice(name: str) -> None:
    # Each row is read.
    for _, found in tries({**AGAIN, **ONCE}[name], keyed=True, kept=50, times=2, moves=True):
        assert len({row["k"] for row in found}) == len(found)


def test_a_transaction_that_reads_its_own_removed_files_ends_with_a_conflict() -> None:
    mine, _, other = world(keyed=True)
    transaction = mine.transaction()
    table = transaction.table("t")
    table.upsert(rows(0, 9))
    disturbed(other, kept=50, moves=False)
    with pytest.raises(ConflictError, match="removed by the vacuum of epoch"):
        table.scan().to_arrow()


def test_a_removed_file_that_a_kept_epoch_names_is_damage() -> None:
    mine, _, other = world(keyed=False)
    epoch = mine.tag("kept")
    other.refresh()
    named = other._log.rowsets.read(other._state)[0].entry.object
    other.overwrite(rows(7))
    wrong = Vacuum(floor=0, victims=(named,))
    other._log.commit(Change(new_transaction_id(), "vacuum", (wrong,)), other._refresh())
    other._log.store.delete(packed_name(other._state.prefix, named))
    with pytest.raises(CorruptionError, match="is missing, though the log names it"):
        mine.table("t").scan(epoch=epoch).to_arrow()
