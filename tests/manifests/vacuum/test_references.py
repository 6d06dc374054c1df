"""What kept states name together is what each of them names, and is read once."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from colonnade.manifests.checkpoint.anchor_list import read_anchors
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId, new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    DropRowSet,
    Operation,
    Tag,
)
from colonnade.manifests.object_names import CHECKPOINTS, COPIES, SEGMENT_NAMES, checkpoint_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.manifests.vacuum.run import VacuumRequest, read_used_objects, vacuum
from tests.log_samples import change, contents, database, entry, make_log, table, vector
from tests.manifests.vacuum.kept import reads, tagged

SMALL = Limits(segment_rowsets=16, segment_vectors=4, root_tables=2, root_bytes=100, page_bytes=512)


@pytest.mark.slow
def test_objects_that_kept_states_share_are_stored_and_read_once() -> None:
    world = tagged(epochs=200, tags=50, limits=Limits(segment_rowsets=16))
    world.vacuum()
    head = world.check()
    listed = Counter[str]()
    for anchor in read_anchors(world.store, head):
        state = world.log.reader.read_at(anchor.epoch, head=head)
        listed.update(ref.segment.object for ref in state.table("orders").rowsets.segments)
    assert listed.total() > 2 * len(listed)
    world.store.delete(SEGMENT_NAMES)
    again = reads(world)
    floor = world.log.reader.read_from_log(head.floor).table("orders").rowsets.segments
    of_floor = {ref.segment.object for ref in floor}
    for name in listed.keys() - of_floor:
        assert again[checkpoint_name(name)] == 1, name


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))]
)
def test_kept_states_read_as_before_and_together_name_what_each_of_them_names(seed: int) -> None:
    """Odd seeds have more tables than a root holds."""
    order = random.Random(seed)
    store = MemoryStore(now_ms=lambda: 0)
    database(store)
    log = make_log(store, 5, limits=SMALL)
    tables = [new_table_id() for _ in range(6 if seed % 2 else 1)]
    state = log.commit(change(*(table(key, f"t{key}") for key in tables)), log.reader.read_head())
    expected: dict[int, Any] = {}
    for number in range(60):
        state = log.commit(change(*some_operations(order, log, state, order.choice(tables))), state)
        if number % 4 == 0:
            expected[state.epoch] = contents(log, state)
            state = log.commit(change(Tag(name=f"t{number}", epoch=state.epoch)), state)
        if number % 30 == 29:
            vacuum(log, VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True))
            state = log.reader.read_head()
    assert len(read_anchors(store, state)) == len(expected) + 1
    together = StateObjects(store)
    apart = set[str]()
    for epoch, what in expected.items():
        kept = log.reader.read_at(epoch, head=state)
        assert contents(log, kept) == what
        together.add(kept)
        apart |= named(log, kept)
    lists = {info.name for info in store.list("_manifest/checkpoint/")}
    found = together.read()
    assert {each for each in found if checkpoint_name(each) not in lists} == apart
    assert apart <= read_used_objects(log)


def some_operations(
    order: random.Random, log: Log, state: Snapshot, key: TableId
) -> list[Operation]:
    """Some RowSets more, some dropped, and some with rows deleted."""
    live = log.rowsets.read(state.tables[key])
    made: list[Operation] = [AddRowSet(table=key, rowset=entry()) for _ in range(3)]
    for rowset in order.sample(live, min(len(live), order.randrange(4))):
        deleted, before = rowset.deleted_count, rowset.vector
        if order.random() < 0.4 or deleted == rowset.entry.rows:
            made.append(DropRowSet(table=key, rowsets=((rowset.id, rowset.id),)))
        else:
            new = vector(deleted + 1, before)
            made.append(AddDeletionVector(table=key, rowset=rowset.id, vector=new))
    return made


def named(log: Log, state: Snapshot) -> set[str]:
    """The objects of the RowSets of a state, one by one."""
    live = [r for each in state.tables.values() for r in log.rowsets.read(each)]
    vectors = [r.vector for r in live]
    return {r.entry.object for r in live} | {each.object for each in vectors if each}


def test_a_damaged_part_that_kept_states_share_stops_the_run() -> None:
    world = tagged(epochs=60, tags=10, limits=Limits(segment_rowsets=16))
    world.vacuum()
    head = world.log.reader.read_head()
    first = world.log.reader.read_at(read_anchors(world.store, head)[0].epoch, head=head)
    name = checkpoint_name(first.table("orders").rowsets.segments[0].segment.object)
    world.store.delete(name.replace(CHECKPOINTS, COPIES))
    files = world.files()
    whole = world.store.get(name)
    for broken in (whole[:-9] + b"?" + whole[-8:], None):
        if broken is None:
            world.store.delete(name)
        else:
            world.store.put(name, broken, sync=False)
        with pytest.raises(CorruptionError, match=name):
            world.vacuum()
        assert world.files() == files
