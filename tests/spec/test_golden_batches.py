"""A log whose checkpoints hold batches in a map, as an earlier writer left it, is read and written.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/checkpoint.md#batches
"""

from __future__ import annotations

from typing import Any

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, Txn
from colonnade.manifests.state.snapshot import BatchMap, Snapshot
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.golden_logs import ORDERS, SCHEMA, TRIPS, GoldenLog, Writer, add, contents, rowset
from tests.spec.golden_logs import states as all_states

FLOOR = 6


def write(writer: Writer) -> None:
    """A checkpoint of epoch 8 and an anchor of epoch 6, both with batches in several pages."""
    commit, store = writer.commit, writer.store
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    commit("create_tables", orders, trips)
    commit("append", *add(rowset(1)), *(batch(f"job «{n}»", n) for n in range(60)))
    store.put(f"{ORDERS}/{rowset(1).object}.rowset", b"R", sync=False)
    commit("append", Txn(table=TRIPS, app="few", version=3))
    for number in (4, 5, 6, 7):
        commit("append", batch("job «7»", 10 * number), batch(f"new {number}", 0))
    vacuum(writer.log, VacuumRequest(0, threads=1, epochs=2))
    writer.state = writer.log.reader.refresh(writer.state)
    commit("append", batch("after", 2**53 - 1))


def batch(app: str, version: int) -> Txn:
    return Txn(table=ORDERS, app=app, version=version)


def with_batches(state: Snapshot, found: dict[str, Any]) -> None:
    for table in state.tables.values():
        found["tables"][table.name]["batches"] = dict(sorted(table.batches.items()))


LOG = GoldenLog(
    "log-v1-batches",
    write,
    lambda store: all_states(store, FLOOR, with_batches),
    Limits(page_bytes=512),
)


def test_an_earlier_log_reads_as_it_did() -> None:
    store = LOG.store()
    assert LOG.read(store) == LOG.expected()
    state = Log(store).reader.read_head()
    assert isinstance(state.table("orders").batches, BatchMap)
    assert state.table("orders").batches["job «7»"] == 70
    assert state.table("trips").batches == {"few": 3}


def test_its_checkpoints_have_batches_in_several_pages() -> None:
    found = read_hint(LOG.store())
    assert found is not None
    orders, trips = found[1].tables
    stored = orders.writer.stored_batches
    assert stored is not None
    assert stored.pages > 1
    assert (orders.writer.batches, stored.count) == (None, 63)
    assert (trips.writer.batches, trips.writer.stored_batches) == ({"few": 3}, None)


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
