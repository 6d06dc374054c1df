"""Lists that an epoch has no room for are stored outside: RowSets in segments, batches in maps."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.checkpoint.reader import batches_of_epochs
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.spill import spill
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, AddRowSets, CreateTable, Txn, Txns
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, TRIPS, append, change, entry, table


def wide() -> RowSetEntry:
    """A RowSet with bounds of a thousand columns, some 70 kB of them."""
    bounds = ColumnStatistics(min=f"i:{10**17}", max=f"i:{10**18}")
    return entry().model_copy(update={"statistics": dict.fromkeys(range(1, 1001), bounds)})


def spilled(given: Change) -> set[str]:
    """Return the tables whose RowSets are in segments; all other RowSets must still be listed."""
    after = spill(MemoryStore(), given)
    found = {op.table for op in after.ops if isinstance(op, AddRowSets)}
    kept = tuple(op for op in given.ops if isinstance(op, AddRowSet) and op.table not in found)
    assert tuple(op for op in after.ops if isinstance(op, AddRowSet)) == kept
    return found


def test_a_short_list_stays_in_the_epoch() -> None:
    assert spilled(append(*(entry() for _ in range(LIMITS.listed_rowsets)))) == set()
    assert spilled(append(*(entry() for _ in range(LIMITS.listed_rowsets + 1)))) == {ORDERS}


def test_rowsets_of_many_columns_take_room_too() -> None:
    assert spilled(append(*(wide() for _ in range(3)))) == set()
    assert spilled(append(*(wide() for _ in range(30)))) == {ORDERS}


def test_tables_share_the_room_of_an_epoch() -> None:
    inline = entry(data="A" * (LIMITS.listed_bytes // 3))
    longer = append(inline, inline).ops
    shorter = append(inline, to=TRIPS).ops
    assert spilled(change(*longer)) == spilled(change(*shorter)) == set()
    assert spilled(change(*longer, *shorter)) == {ORDERS}


def created_again(counts: dict[TableId, int], *, own: str = "own") -> Change:
    """Tables that are created again with batches which they had before, and a batch of its own."""
    made = [table(key, f"t{key}") for key in counts]
    brought = [
        Txn(table=key, app=f"app{number}", version=number)
        for key, count in counts.items()
        for number in range(count)
    ]
    mine = [Txn(table=key, app=own, version=7) for key in counts]
    carries = frozenset((each.table, each.app) for each in brought)
    return replace(change(*made, *brought, *mine), carried=carries)


def brought(store: MemoryStore, after: Change) -> dict[str, dict[str, int]]:
    """The batches in maps, by table. Each map follows the creation of its table."""
    read, found = batches_of_epochs(store), {}
    for before, op in zip(after.ops, after.ops[1:], strict=False):
        if isinstance(op, Txns):
            assert isinstance(before, CreateTable)
            assert before.table == op.table
            found[op.table] = dict(read(TableId(op.table), 1, op.batches))
    return found


def test_batches_that_a_table_brings_along_go_into_a_map_and_its_own_batch_stays() -> None:
    store, given = MemoryStore(), created_again({ORDERS: 90, TRIPS: 2})
    after = spill(store, given, Limits(listed_bytes=1000, page_bytes=512))
    assert brought(store, after) == {ORDERS: {f"app{number}": number for number in range(90)}}
    left = [(op.table, op.app) for op in after.ops if isinstance(op, Txn)]
    assert left == [(TRIPS, "app0"), (TRIPS, "app1"), (ORDERS, "own"), (TRIPS, "own")]
    assert spill(MemoryStore(), given) is given


def test_batches_of_all_tables_share_the_room_of_an_epoch() -> None:
    store, limits = MemoryStore(), Limits(listed_bytes=2000)
    assert not brought(store, spill(store, created_again({ORDERS: 20}), limits))
    both = spill(store, created_again({ORDERS: 20, TRIPS: 19}), limits)
    assert brought(store, both).keys() == {ORDERS}


def test_a_map_is_only_for_tables_that_the_change_creates() -> None:
    given = created_again({ORDERS: 90})
    kept = replace(given, ops=tuple(op for op in given.ops if not isinstance(op, CreateTable)))
    assert spill(MemoryStore(), kept, Limits(listed_bytes=0)) is kept
