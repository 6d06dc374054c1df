"""Rows of a keyed table are compared with the state before each slot, and added as that says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.commit.change import (
    AddedRows,
    Change,
    DeletedRows,
    KeyedRows,
    ResolvedRows,
    TableRead,
)
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    DropRowSet,
)
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, append, change, entry, live, make_log, with_orders

Leaving = Mapping[int, FrozenBitMap]
Resolve = Callable[[Snapshot, Leaving], ResolvedRows]


def keyed(resolve: Resolve, *rowsets: AddRowSet) -> Change:
    made = change(*rowsets, name="append")
    return replace(made, keyed=(KeyedRows(ORDERS, resolve),))


def added(rows: int = 10) -> AddRowSet:
    return AddRowSet(table=ORDERS, rowset=entry(rows))


def start(limits: object = LIMITS) -> tuple[Log, Snapshot]:
    store = MemoryStore()
    log = make_log(store) if limits is LIMITS else make_log(store, limits=limits)  # type: ignore[arg-type]
    return log, log.commit(append(entry(), entry()), with_orders(store, log))


def rowsets(log: Log, state: Snapshot) -> dict[int, LiveRowSet]:
    return {each.id: each for each in live(log, state.table("orders"))}


def test_keyed_rows_are_resolved_against_the_state_before_the_slot() -> None:
    log, base = start()
    mine, other = added(), added()
    seen: list[int] = []

    def resolve(state: Snapshot, leaving: Leaving) -> ResolvedRows:
        seen.append(state.epoch)
        return ResolvedRows((AddedRows(mine.rowset, FrozenBitMap([3, 4])),))

    log.commit(append(), base)
    after = log.commit(keyed(resolve, mine, other), base)
    assert seen == [base.epoch + 1]
    found = rowsets(log, after)
    assert [each.row_count for each in found.values()] == [10, 10, 10, 8]
    vector = found[3].vector
    assert vector is not None
    assert vector.predecessor is None


def test_rows_of_the_head_are_deleted_also_from_rowsets_that_are_new_since_the_base() -> None:
    log, base = start()
    mine = added(1)

    def resolve(state: Snapshot, leaving: Leaving) -> ResolvedRows:
        there = rowsets(log, state)
        rows = (
            DeletedRows(ORDERS, there[0], "merge", BitMap([0, 5])),
            DeletedRows(ORDERS, there[2], "merge", None),
        )
        return ResolvedRows((AddedRows(mine.rowset),), rows, {"rows_updated": 12})

    log.commit(append(), base)
    head = log.reader.read_head()
    first = DeletedRows(ORDERS, rowsets(log, head)[0], "delete", BitMap([5, 9]))
    log.commit(replace(change(name="delete"), rows=(first,)), head)
    after, epoch = log.commit_change(keyed(resolve, mine), base)
    assert {k: each.row_count for k, each in rowsets(log, after).items()} == {0: 7, 1: 10, 3: 1}
    assert epoch is not None
    assert epoch.metrics == {"rows_updated": 12}
    kinds = [op.kind for op in epoch.ops if isinstance(op, DropRowSet)]
    assert kinds == ["merge"]


def test_rows_that_the_change_deletes_itself_are_told() -> None:
    log, base = start()
    told: list[dict[int, int]] = []
    first_ten = FrozenBitMap(range(10))

    def resolve(state: Snapshot, leaving: Leaving) -> ResolvedRows:
        told.append({number: len(rows & first_ten) for number, rows in leaving.items()})
        return ResolvedRows(())

    own = DeletedRows(ORDERS, rowsets(log, base)[1], "update", BitMap([1, 2]))
    log.commit(replace(keyed(resolve, added()), rows=(own,)), base)
    base = log.reader.read_head()
    drop = DropRowSet(table=ORDERS, rowsets=((0, 1),))
    read = TableRead(ORDERS, overwrites=True)
    after = replace(keyed(resolve, added()), reads=(read,))
    log.commit(replace(after, ops=(drop, *after.ops)), base)
    assert told == [{1: 2}, {0: 10, 1: 10}]


def test_an_error_of_the_comparison_commits_nothing() -> None:
    log, base = start()

    def resolve(state: Snapshot, leaving: Leaving) -> ResolvedRows:
        raise InvalidInputError("taken")

    with pytest.raises(InvalidInputError, match="taken"):
        log.commit(keyed(resolve, added()), base)
    assert log.reader.read_head() == base


def test_many_rowsets_are_stored_in_a_segment() -> None:
    log, base = start(replace(LIMITS, listed_rowsets=2))
    many = [added(1) for _ in range(5)]
    resolved = ResolvedRows(tuple(AddedRows(each.rowset) for each in many[1:]))
    after, epoch = log.commit_change(keyed(lambda *_: resolved, *many), base)
    assert epoch is not None
    assert [type(op) for op in epoch.ops] == [AddRowSets]
    assert after.table("orders").rowsets.row_count == 24
