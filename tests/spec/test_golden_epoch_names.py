"""A log with the names in its epochs, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden epoch_names` makes the files.
Specification: docs/spec/checkpoint.md#epoch-names
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colonnade.manifests.checkpoint.epoch_names import read_epoch_names
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.object_names import EPOCH_NAMES
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    copy,
    delete,
    rowset,
    vector,
)

LIMITS = Limits(listed_rowsets=2, remembered_epochs=4)
FLOOR, REMEMBERED, HEAD = 3, 8, 10
KEPT = HEAD - FLOOR + 1
ROWSETS: tuple[Sequence[RowSetEntry], ...] = (
    (rowset(1),),
    (rowset(2),),
    (rowset(3),),
    (rowset(4), rowset(5), rowset(6)),
    (rowset(7),),
)
"""The RowSets of each append. The fourth append needs a segment."""


def write(writer: Writer) -> None:
    """A vacuum remembers the epochs from 4 to 8. The next two epochs come after it."""
    commit, store = writer.commit, writer.store
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", create)
    for rowsets in ROWSETS:
        commit("append", *add(*rowsets))
        for each in rowsets:
            store.put(f"{ORDERS}/{each.object}.rowset", b"R", sync=False)
    commit("delete", delete(0, vector(8, 3)))
    commit("delete", delete(1, vector(9, 4)))
    vacuum(writer.log, VacuumRequest(0, REMEMBERED - FLOOR + 1, threads=1))
    writer.state = writer.log.reader.refresh(writer.state)
    commit("append", *add(rowset(10)))


def states(store: ObjectStore) -> dict[str, Any]:
    """What a reader must find, and the objects that each epoch names."""
    log = Log(store)
    head, names = log.reader.read_head(), read_epoch_names(store)
    assert names is not None
    return {
        "floor": head.floor,
        "names": {str(names.first + at): [*each] for at, each in enumerate(names.names)},
        "transaction": names.transaction,
        **{
            str(epoch): [
                each.entry.object
                for each in log.rowsets.read(log.reader.read_at(epoch).table("orders"))
            ]
            for epoch in range(head.floor, head.epoch + 1)
        },
    }


LOG = GoldenLog("log-v1-epoch-names", write, states, LIMITS)


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_names_in_epochs_are_those_that_a_vacuum_reads() -> None:
    store = MemoryStore()
    copy(contents(LOG.store()), store)
    found = []
    for _ in range(2):
        vacuum(Log(store, limits=LIMITS), VacuumRequest(0, KEPT, threads=1, trust_clock=True))
        found.append(store.get(EPOCH_NAMES))
        store.delete(EPOCH_NAMES)
    assert found[0] == found[1] != LOG.store().get(EPOCH_NAMES)


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
