"""A log that vacuum has been at, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/vacuum.md
"""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.checkpoint.segment_names import read_names
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, DropRowSet, Lease, Pin, Tag
from colonnade.manifests.object_names import SEGMENT_NAMES
from colonnade.manifests.store import ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    START_MS,
    GoldenLog,
    Writer,
    add,
    contents,
    rowset,
)

FLOOR, KEPT, HEAD = 7, 2, 10


def write(writer: Writer) -> None:
    """Epoch 2 has a tag; the vacuum of epoch 9 moves the floor to a lease's, epoch 7."""
    commit, store = writer.commit, writer.store
    commit("create_table", CreateTable(
        table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12
    ))  # fmt: skip
    for number in (1, 2, 3):
        commit("append", *add(rowset(number)))
        store.put(f"{ORDERS}/{rowset(number).object}.rowset", b"R", sync=False)
    commit("tag", Tag(name="first", epoch=KEPT))
    commit("overwrite", DropRowSet(table=ORDERS, rowsets=((0, 2),)), *add(rowset(4)))
    commit("pin", Pin(name="over", epoch=1, until_ms=START_MS))
    commit("lease", Lease(job="00000000000000bb", epoch=FLOOR, until_ms=2 * START_MS))
    vacuum(writer.log, VacuumRequest(0, threads=1))
    writer.state = writer.log.reader.refresh(writer.state)
    commit("append", *add(rowset(5)))


def states(store: ObjectStore) -> dict[str, Any]:
    """What a reader must find."""
    log = Log(store)
    head = log.reader.read_head()
    found: dict[str, Any] = {
        "floor": head.floor,
        "anchors": [anchor.epoch for anchor in head.anchors],
        "pins": sorted(head.pins),
        "leases": [lease.model_dump() for lease in head.leases.values()],
    }
    for epoch in range(HEAD + 1):
        if log.reader.keeps(head, epoch):
            state = log.reader.read_at(epoch)
            tables = list(state.tables.values())
            found[str(epoch)] = [
                [r.id, r.entry.object] for t in tables for r in log.rowsets.read(t)
            ]
    return found


LOG = GoldenLog("log-v1-vacuum", write, states)


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
        Log(LOG.store()).reader.read_at(3)


def test_the_names_in_segments_are_those_that_a_vacuum_reads() -> None:
    store = LOG.store()
    names = read_names(store)
    assert any(names.values())
    store.delete(SEGMENT_NAMES)
    vacuum(Log(store), VacuumRequest(hours=1000, threads=1, trust_clock=True))
    assert read_names(store) == names


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
