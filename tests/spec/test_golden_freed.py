"""A log whose slots were freed, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CreateTable, DropDatabase
from colonnade.manifests.object_names import HINT, epoch_name
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
    described,
    rowset,
)

STRAY = 2
FLOOR, HEAD, BLOCK = 9, 12, 4


def write(writer: Writer) -> None:
    """Blocks 0 and 1 are freed; a writer that slept since epoch 1 has put into slot 2."""
    commit, store = writer.commit, writer.store
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", create)
    slept = writer.state
    for number in range(1, 10):
        commit("append", *add(rowset(number)))
        store.put(f"{ORDERS}/{rowset(number).object}.rowset", b"R", sync=False)
    vacuum(writer.log, VacuumRequest(0, 2, threads=1))
    writer.state = writer.log.reader.refresh(writer.state)
    commit("append", *add(rowset(10)))
    stray = Epoch(
        epoch=STRAY,
        transaction="f" * 32,
        previous=slept.transaction,
        base=slept.epoch,
        time_ms=slept.time_ms + 1,
        operation="drop_database",
        engine="golden",
        ops=(DropDatabase(),),
    )
    store.put(epoch_name(STRAY), encode_epoch(stray), sync=False)


def states(store: ObjectStore) -> dict[str, Any]:
    """What a reader must find, with a hint and without."""
    log = Log(store)
    head = log.reader.read_head()
    found: dict[str, Any] = {"floor": head.floor, "slot_block": head.slot_block}
    found["marks"] = [head.blocks.mark(block) for block in range(head.blocks.of(head.floor))]
    for epoch in range(head.floor, head.epoch + 1):
        found[str(epoch)] = described(log.reader, log.reader.read_at(epoch))
    return found


LOG = GoldenLog("log-v1-freed", write, states, slot_block=BLOCK)


def copied() -> MemoryStore:
    store = MemoryStore()
    copy(contents(LOG.store()), store)
    return store


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_a_reader_without_a_hint_finds_the_same_head() -> None:
    store = copied()
    store.delete(HINT)
    head = Log(store).reader.read_head()
    assert (head.epoch, head.floor) == (HEAD, FLOOR)


def test_an_object_in_a_freed_slot_is_not_an_epoch() -> None:
    log = Log(copied())
    for epoch in range(1, FLOOR):
        with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
            log.reader.read_at(epoch, head=log.reader.read_head())
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
        log.reader.read_at(STRAY)


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
