"""A database that was upgraded, as an earlier writer left it, is read and written the same.

`python -m tests.spec.test_golden_upgraded` makes the files; existing ones are never edited.
Specification: docs/spec/epoch-log.md#upgrade
"""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.members import SHARED_EPOCHS
from colonnade.manifests.model.operations import CreateTable, EnableFeatures
from colonnade.manifests.model.slot_blocks import FREED_SLOTS, UPGRADED_SLOTS
from colonnade.manifests.object_names import FREED, HINT, epoch_number
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

FLOOR, HEAD, BLOCK, UPGRADE = 12, 14, 3, 5
FEATURES = (FREED_SLOTS, SHARED_EPOCHS, UPGRADED_SLOTS)


def write(writer: Writer) -> None:
    """Stubs from before the upgrade, stubs that state the blocks, and two freed blocks."""
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", create)
    for number in range(1, 3):
        _append(writer, number)
    vacuum(writer.log, VacuumRequest(0, 2, threads=1))
    writer.state = writer.log.refresh(writer.state)
    assert writer.state.epoch == UPGRADE - 1
    enable = EnableFeatures(reader=FEATURES, writer=FEATURES, slot_block=BLOCK)
    commit("upgrade", enable)
    for number in range(3, 10):
        _append(writer, number)
    vacuum(writer.log, VacuumRequest(0, 1, threads=1))
    writer.state = writer.log.refresh(writer.state)
    _append(writer, 10)


def _append(writer: Writer, number: int) -> None:
    writer.commit("append", *add(rowset(number)))
    writer.store.put(f"{ORDERS}/{rowset(number).object}.rowset", b"R", sync=False)


def states(store: ObjectStore) -> dict[str, Any]:
    """What a reader must find, with a hint and without."""
    log = Log(store)
    head = log.read_head()
    assert head.blocks is not None
    found: dict[str, Any] = {"floor": head.floor, "features": sorted(head.reader_features)}
    found["blocks"] = [head.slot_block, head.slot_start]
    found["marks"] = sorted(info.name for info in store.list(FREED))
    for epoch in range(head.floor, head.epoch + 1):
        found[str(epoch)] = described(log, log.read_at(epoch))
    return found


LOG = GoldenLog("log-v1-upgraded", write, states)


def copied() -> MemoryStore:
    store = MemoryStore()
    copy(contents(LOG.store()), store)
    return store


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_slots_up_to_the_upgrade_have_stubs_and_whole_blocks_behind_it_are_free() -> None:
    names = (epoch_number(info.name) for info in copied().list(""))
    taken = {number for number in names if number is not None}
    assert taken == {*range(UPGRADE + 1), FLOOR, HEAD - 1, HEAD}


def test_a_reader_without_a_hint_finds_the_same_head() -> None:
    store = copied()
    store.delete(HINT)
    head = Log(store).read_head()
    assert (head.epoch, head.floor) == (HEAD, FLOOR)
    for epoch in range(1, FLOOR):
        with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
            Log(store).read_at(epoch, head=head)


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


if __name__ == "__main__":
    LOG.make()
