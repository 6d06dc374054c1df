"""A log whose last vacuum lists its anchors in an object is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/checkpoint.md#anchor-lists
"""

from __future__ import annotations

from typing import Any

from colonnade.manifests.checkpoint.anchor_list import read_anchors
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, Tag
from colonnade.manifests.store import ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    rowset,
)

TAGGED = (2, 4)


def write(writer: Writer) -> None:
    """Two tags below the floor, epoch 7, and an epoch after the vacuum."""
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", orders)
    for number in range(1, 5):
        writer.commit("append", *add(rowset(number)))
        name = f"{ORDERS}/{rowset(number).object}.rowset"
        writer.store.put(name, b"R", sync=False)
    writer.commit("tag", *(Tag(name=f"tag «{epoch}»", epoch=epoch) for epoch in TAGGED))
    writer.commit("append", *add(rowset(5)))
    vacuum(writer.log, VacuumRequest(0, threads=1))
    writer.state = writer.log.reader.refresh(writer.state)
    writer.commit("append", *add(rowset(6)))


def states(store: ObjectStore) -> dict[str, Any]:
    """What a reader must find."""
    log = Log(store)
    head = log.reader.read_head()
    kept = {anchor.epoch for anchor in read_anchors(store, head)} | {head.epoch}
    return {
        str(epoch): [
            [r.id, r.entry.object]
            for t in log.reader.read_at(epoch, head=head).tables.values()
            for r in log.rowsets.read(t)
        ]
        for epoch in sorted(kept)
    }


LOG = GoldenLog("log-v1-anchor-list", write, states, Limits(listed_anchors=1))


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()
    head = Log(LOG.store()).reader.read_head()
    assert head.anchor_list is not None
    assert [anchor.epoch for anchor in head.anchors] == [head.floor]
    assert {*map(str, TAGGED), str(head.floor)} <= LOG.expected().keys()


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
