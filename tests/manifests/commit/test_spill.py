"""Lists that an epoch has no room for are stored outside: RowSets in segments, batches in maps."""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.spill import spill
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, AddRowSets
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, TRIPS, append, change, entry


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
