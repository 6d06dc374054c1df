"""The rows of one RowSet: without deleted rows, filtered, whatever is read ahead at once."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.deletion_vector import DeletionVector, hold_deletion_vector
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.scan.live_rows import live_batches, needed_fields
from colonnade.tableformat.scan.open_rowsets import OpenedAhead, open_rowsets
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.scan.run import read_plan
from tests import strategies
from tests.examples_of import examples
from tests.faults import FaultyStore
from tests.strategies import identical
from tests.tableformat.rowset.written import PLACES, write
from tests.tableformat.scan.tables import append, delete, new, numbers, reopened

TYPES = {"a": "long", "n": "long", "z": "long"}


def test_a_plan_needs_what_it_returns_filters_by_or_orders_by_in_the_order_of_the_table() -> None:
    table = new(MemoryStore(), TYPES)
    plan = table.scan(["z"], where="n > 1")._plan
    predicate = plan.bound_predicate()
    assert [each.name for each in needed_fields(plan, None)] == ["z"]
    assert [each.name for each in needed_fields(plan, predicate)] == ["n", "z"]
    first = table._state.schema.field("a").id
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
    plan = reopened(table, store).scan(where="n >= 10")._plan
    fields = needed_fields(plan, plan.bound_predicate())
    [opened] = open_rowsets(store, plan, OpenedAhead())
    store.trace.clear()
    found = list(live_batches(plan.view, opened, fields, plan.bound_predicate(), window_bytes))
    reads = [call for call in store.trace if call.name.endswith(".col")]
    # Seven stretches, of which no row of the second is live.
    assert least_reads <= len(reads) < least_reads + 2
    assert all(batch.num_rows for batch in found)
    gone = {*range(16, 32), 50, 99}
    assert [n for batch in found for n in batch["n"].to_pylist()] == [
        n for n in range(10, 100) if n not in gone
    ]


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data(), place=st.sampled_from(("packed", "directory")))
def test_few_or_many_deleted_rows_of_any_type_are_left_out(data: st.DataObject, place: str) -> None:
    """Few rows of a block are cut out, and more are masked."""
    schema = data.draw(strategies.schemas())
    rows = strategies.make_batch(schema, data.draw(st.integers(1, 200)), data.draw(st.integers(0)))
    store = MemoryStore()
    [entry] = write(store, schema, rows, block_rows=128, **PLACES[place])
    gone = data.draw(st.frozensets(st.integers(0, rows.num_rows - 1), max_size=rows.num_rows))
    vector = hold_deletion_vector(new_job_id(), DeletionVector.of(gone)) if gone else None
    rowset = replace(as_written(entry), vector=vector)
    plan = plan_scan(replace(View.written("t/", schema.fields), rowsets=(rowset,)), 1)
    found = list(read_plan(store, plan))
    kept = rows.filter(pa.array([row not in gone for row in range(rows.num_rows)]))
    assert sum(batch.num_rows for batch in found) == kept.num_rows
    first = 0
    for batch in found:
        assert identical(batch, kept.slice(first, batch.num_rows))
        first += batch.num_rows
