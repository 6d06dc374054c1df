"""The rows of one RowSet: without deleted rows, filtered, whatever is read ahead at once."""

from __future__ import annotations

import pytest

from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.scan.live_rows import live_batches, needed_fields
from colonnade.tableformat.scan.opened import OpenedAhead, open_rowsets
from tests.faults import FaultyStore
from tests.tableformat.scan.tables import append, delete, new, numbers, reopened

TYPES = {"a": "long", "n": "long", "z": "long"}


def test_a_plan_needs_what_it_returns_filters_by_or_orders_by_in_the_order_of_the_table() -> None:
    table = new(MemoryStore(), TYPES)
    plan = table.scan(["z"], where="n > 1").plan
    predicate = plan.bound_predicate()
    assert [each.name for each in needed_fields(plan, None)] == ["z"]
    assert [each.name for each in needed_fields(plan, predicate)] == ["n", "z"]
    first = table.state.schema.field("a").id
    assert [each.name for each in needed_fields(plan, predicate, [first])] == ["a", "n", "z"]


@pytest.mark.parametrize(("window_bytes", "least_reads"), [(1, 6), (None, 1)])
def test_rows_do_not_depend_on_what_is_read_ahead(
    window_bytes: int | None, least_reads: int
) -> None:
    disk = MemoryStore()
    table = new(disk, {"n": "long"})
    append(disk, table, numbers(0, 100), "directory")
    delete(disk, table, 0, [*range(16, 32), 50, 99], inline=True)
    store = FaultyStore(disk)
    plan = reopened(table, store).scan(where="n >= 10").plan
    fields = needed_fields(plan, plan.bound_predicate())
    [opened] = open_rowsets(store, plan, OpenedAhead())
    store.trace.clear()
    found = list(live_batches(opened, fields, plan.bound_predicate(), window_bytes))
    reads = [call for call in store.trace if call.name.endswith(".col")]
    # Seven stretches, of which no row of the second is live.
    assert least_reads <= len(reads) < least_reads + 2
    assert all(batch.num_rows for batch in found)
    gone = {*range(16, 32), 50, 99}
    assert [n for batch in found for n in batch["n"].to_pylist()] == [
        n for n in range(10, 100) if n not in gone
    ]
