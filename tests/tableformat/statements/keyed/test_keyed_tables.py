"""Keyed tables hold what a dictionary holds, at every epoch, whatever writers do in which order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.commit.change import Change, KeyGuard
from colonnade.manifests.commit.rebase.targets import all_rows
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.deletion_vector import DeletionVector, hold_deletion_vector
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.tableformat.compaction import run as compaction
from colonnade.tableformat.compaction.job import CompactionJob
from colonnade.tableformat.statements.change import complete, make_change
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.keyed import upsert
from colonnade.tableformat.statements.keyed.upsert import evaluate_upsert
from colonnade.tableformat.table.epochs.erase import erase
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import CommitSettings, OnDuplicate
from tests.examples_of import examples
from tests.keyed_world import (
    KEY,
    SCHEMA,
    Key,
    KeyedWorld,
    expected,
    key_of,
    random_rows,
    sorted_rows,
    table_of,
)
from tests.merge_model import Row
from tests.tableformat.statements.keyed.changes import change_at_random, written
from tests.tableformat.statements.tables import another, made


@dataclass(frozen=True)
class Planned:
    """Rows that were written on some epoch and are not committed yet.

    Rows with the keys `lost` lost against rows of that epoch.
    """

    base: Snapshot
    change: Change
    rows: list[Row]
    mode: OnDuplicate
    lost: frozenset[Key]


@dataclass
class Run:
    """Writers of one table, its model, and what the table held at each epoch."""

    rng: random.Random
    table: ArrowTable
    world: KeyedWorld
    planned: list[Planned] = field(default_factory=list)
    epochs: dict[int, pa.Table] = field(default_factory=dict)
    deleted: dict[int, dict[Key, int]] = field(default_factory=dict)
    batches: list[tuple[int, pa.Table]] = field(default_factory=list)
    begun: list[tuple[ArrowTransaction, list[Row]]] = field(default_factory=list)

    def step(self) -> None:
        """Do one thing, and remember what the table must hold after it."""
        writer = another(self.table)
        match self.rng.randrange(13):
            case 0 | 1 | 2 if len(self.planned) < 4:
                self._plan(writer)
            case 3 | 4 | 5 if self.planned:
                self._commit(self.planned.pop(self.rng.randrange(len(self.planned))))
            case 10 if len(self.begun) < 3:
                self._begin(writer)
            case 11 if self.begun:
                transaction, rows = self.begun.pop(self.rng.randrange(len(self.begun)))
                if self.rng.random() < 0.5:
                    self._delete_keys(writer, rows)
                    self.note()
                self._end(transaction, rows)
            case 6:
                self._send_batch(writer)
            case 7:
                self._delete_keys(writer)
            case 8:
                self._restore(writer)
            case 9 if self.rng.random() < 0.5:
                self._erase(writer)
            case _:
                change_at_random(writer, self.world, self.rng)
        self.note()

    def note(self) -> None:
        """Remember what the newest epoch must hold."""
        self.table.refresh()
        self.epochs[self.table._snapshot.epoch] = expected(self.world)
        self.deleted[self.table._snapshot.epoch] = dict(self.world.deleted)

    def finish(self) -> None:
        """Commit what is planned, and look at every epoch."""
        for each in self.planned:
            self._commit(each)
            self.note()
        for begun in self.begun:
            self._end(*begun)
            self.note()
        for epoch, rows in self.epochs.items():
            assert sorted_rows(self.table.scan(epoch=epoch).to_arrow()).equals(rows), epoch

    def _rows(self) -> tuple[list[Row], list[str]]:
        columns = self.world.columns(self.rng)
        return random_rows(self.rng, columns, self.rng.randrange(1, 7)), columns

    def _plan(self, writer: ArrowTable) -> None:
        """Upsert rows, or append what tasks have written, up to the commit."""
        rows, columns = self._rows()
        base, job_id = writer._refresh(), new_job_id()
        log, state = StatementLog(writer._log, None), writer._state
        mode: OnDuplicate = self.rng.choice(("merge", "merge", "ignore", "error"))
        if mode == "merge" and self.rng.random() < 0.5:
            statement = evaluate_upsert(log, state, table_of(rows, columns), job_id)
        else:
            cut = self.rng.randrange(len(rows) + 1)
            parts = [part for part in (rows[:cut], rows[cut:]) if part]
            settings = WriteSettings(on_duplicate=mode)
            statement = written(log, state, job_id, parts, columns, settings)
        try:
            statement = complete(statement, log, state)
        except InvalidInputError:
            assert mode == "error"
            assert not self.world.insert(rows, mode)
            return
        if statement.is_empty:
            return  # All rows lost against those of the base.
        change, lost = make_change(statement, state, job_id), frozenset(self.world.rows)
        self.planned.append(Planned(base, change, rows, mode, lost))

    def _commit(self, planned: Planned) -> None:
        allowed = self.world.insert(planned.rows, planned.mode, planned.lost)
        try:
            self.table._log.commit(planned.change, planned.base)
        except InvalidInputError:
            assert not allowed
        else:
            assert allowed

    def _begin(self, writer: ArrowTable) -> None:
        """Begin a transaction that merges rows."""
        rows, columns = self._rows()
        transaction = ArrowTransaction(writer._log, writer._refresh())
        transaction.table("t").upsert(table_of(rows, columns))
        self.begun.append((transaction, rows))

    def _end(self, transaction: ArrowTransaction, rows: list[Row]) -> None:
        """Commit a transaction. If no conflict refuses it, it is as if it had begun just now."""
        with suppress(ConflictError):
            transaction.commit()
            self.world.upsert(rows)

    def _send_batch(self, writer: ArrowTable) -> None:
        """Send a batch, perhaps one that was sent before."""
        if self.batches and self.rng.random() < 0.4:
            version, data = self.rng.choice(self.batches)
        else:
            rows, columns = self._rows()
            version, data = len(self.batches) + 1, table_of(rows, columns)
            self.batches.append((version, data))
            self.world.upsert(rows)
        writer.upsert(data, commit=CommitSettings(batch=("app", version)))

    def _delete_keys(self, writer: ArrowTable, like: Sequence[Row] = ()) -> None:
        """Delete three keys, or those of some rows."""
        if not self.world.deletes_keys:
            return
        columns = [*KEY, *(["at"] if "sequence" in self.world.properties else [])]
        rows = random_rows(self.rng, columns, len(like) or 3)
        for row, each in zip(rows, like, strict=False):
            row.update(zip(KEY, key_of(each), strict=True))
        counts = writer.delete_keys(table_of(rows, columns))
        assert counts.rows_deleted == self.world.delete(rows)

    def _restore(self, writer: ArrowTable) -> None:
        epoch = self.rng.choice(list(self.epochs))
        writer.restore(epoch=epoch)
        names = [each.name for each in SCHEMA.fields]
        rows = [dict(zip(names, row, strict=True)) for row in values_of(self.epochs[epoch])]
        self.world.rows = {key_of(row): row for row in rows}
        self.world.deleted = dict(self.deleted[epoch])

    def _erase(self, writer: ArrowTable) -> None:
        """Erase some keys: their rows, what is remembered of them, and all earlier epochs."""
        number = self.rng.randrange(4)
        assert erase(writer, f"a = {number}").held_by == ()
        self.world.erase(number)
        # Nothing that was planned before can be committed any more.
        self.planned, self.begun, self.epochs, self.deleted = [], [], {}, {}


def values_of(rows: pa.Table) -> list[tuple[object, ...]]:
    columns = [
        column.cast(pa.int64()).to_pylist()
        if pa.types.is_timestamp(column.type)
        else column.to_pylist()
        for column in rows.columns
    ]
    return list(zip(*columns, strict=True))


def run(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    world = KeyedWorld.chosen(rng)
    table = made(schema=arrow_schema(SCHEMA), key=KEY, properties=world.properties)
    done = Run(rng, table, world)
    done.note()
    for _ in range(steps):
        done.step()
    done.finish()


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_every_epoch_holds_what_a_dictionary_holds(seed: int) -> None:
    run(seed, 12)


def _forgets_all(job: CompactionJob, store: Any, view: Any, rowset: LiveRowSet) -> Any:
    """A vector of all tombstones of a RowSet, where some are erased."""
    if job.group.erased is None:
        return None
    return hold_deletion_vector(job.job_id, DeletionVector(all_rows(rowset.entry.rows)))


def _guarding_new_keys(store: Any, table: Any, columns: Any, inserted: Any, _: Any) -> KeyGuard:
    """A guard that heeds no deletion of a key that has a row."""
    return guard_keys(store, table, columns, inserted)


BUGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "an erasure forgets whole RowSets of tombstones": lambda: patch.object(
        compaction, "_erased", _forgets_all
    ),
    "a transaction heeds no deletion of a key that has a row": lambda: patch.object(
        upsert, "guard_keys", _guarding_new_keys
    ),
}


FOUND: dict[str, int] = {
    "an erasure forgets whole RowSets of tombstones": 24,
    "a transaction heeds no deletion of a key that has a row": 89,
}
"""A seed that finds the mistake; the search begins with it."""


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_planted_mistakes_are_found(bug: str) -> None:
    with BUGS[bug]():
        assert any(map(finds, (FOUND.get(bug, 0), *range(500))))


def finds(seed: int) -> bool:
    """Whether a run finds a planted mistake, on a table that remembers deleted keys."""
    world = KeyedWorld.chosen(random.Random(seed))
    if "sequence" not in world.properties or not world.deletes_keys:
        return False
    try:
        run(seed, 40)
    except AssertionError:
        return True
    return False


@pytest.mark.long
@settings(max_examples=examples(300), deadline=None)
@given(st.integers(0, 2**32))
def test_many_runs_hold_what_a_dictionary_holds(seed: int) -> None:
    run(seed, 30)


@pytest.mark.long
def test_a_large_table_with_nested_columns_holds_what_a_dictionary_holds() -> None:
    rng = random.Random(3)
    world = KeyedWorld.chosen(rng)
    table = made(schema=arrow_schema(SCHEMA), key=KEY, properties=world.properties)
    for count in (300_000, 20_000, 50_000):
        columns = [field.name for field in SCHEMA.fields]
        rows = random_rows(rng, columns, count, keys=200_000)
        counts = table.upsert(table_of(rows, columns))
        assert (counts.rows_updated, counts.rows_inserted) == world.upsert(rows)
        assert sorted_rows(table.scan().to_arrow()).equals(expected(world))
