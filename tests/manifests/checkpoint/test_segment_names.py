"""A vacuum that knows the names in segments finds what it would find in the segments."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from colonnade.manifests.checkpoint.paged_map import PagePlace, PageTable, empty_table
from colonnade.manifests.checkpoint.segment_names import (
    NOTHING_KNOWN,
    SegmentNames,
    decode_names,
    encode_names,
    read_names,
    write_names,
)
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.ids import new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.codec import seal, unseal
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    DropRowSet,
    DropTable,
    Operation,
    SetComment,
    SetProperties,
    Tag,
    Txn,
    Untag,
)
from colonnade.manifests.object_names import SEGMENT_NAMES, checkpoint_name
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum, vacuum
from tests.faults import FaultyStore
from tests.log_samples import ORDERS, change, database, entry, make_log, table, vector
from tests.manifests.checkpoint.test_stored_tables import SMALL, with_tables
from tests.manifests.vacuum.world import World

PAGED = Limits(
    root_tables=0,
    root_bytes=0,
    page_bytes=600,
    segment_rowsets=4,
    segment_vectors=1,
    victims=5,
    listed_anchors=1,
)
ONE_SEGMENT: SegmentNames = {"1" * 32: frozenset({"2" * 32})}


def some_names(order: random.Random) -> SegmentNames:
    def ids(most: int) -> list[str]:
        return [order.randbytes(16).hex() for _ in range(order.randrange(most))]

    return {segment: frozenset(ids(30)) for segment in (*ids(9), "0" * 32)}


@pytest.mark.parametrize("seed", range(30))
def test_names_are_read_as_they_were_written(seed: int) -> None:
    names = some_names(random.Random(seed))
    assert decode_names(encode_names(names), "a file") == names


def _stated(field: str, number: int) -> bytes:
    return b'"%b":{"type":"const","base":"%d"' % (field.encode(), number)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"format_version":1', b'"format_version":2'),
        (b'"segments":1', b'"segments":1,"colours":2'),
        (b'"segments":1', b'"segments":2'),
        (b'"segments":1', b'"segments":1000000000000000'),
        (_stated("counts", 1), _stated("counts", -1)),
        (_stated("counts", 1), _stated("counts", 2)),
    ],
)
def test_names_of_another_version_or_with_wrong_counts_are_not_known(
    old: bytes, new: bytes
) -> None:
    store = MemoryStore()
    database(store)
    write_names(store, ONE_SEGMENT)
    body = unseal(store.get(SEGMENT_NAMES), SEGMENT_NAMES)
    assert old in body
    store.put(SEGMENT_NAMES, seal(body.replace(old, new)), sync=True)
    assert read_names(store) == NOTHING_KNOWN


def some_change(world: World, order: random.Random, others: list[Any]) -> list[Operation]:
    state = world.log.reader.read_head()
    live = world.log.rowsets.read(state.table("orders"))
    some = order.choice(live) if live else None
    match order.randrange(9):
        case 0 if some:
            return [DropRowSet(table=ORDERS, rowsets=((some.id, some.id),))]
        case 1 if some and some.deleted_count < 9:
            new = vector(some.deleted_count + 1, some.vector)
            return [AddDeletionVector(table=ORDERS, rowset=some.id, vector=new)]
        case 2:
            return [Tag(name=f"tag {world.now}", epoch=state.epoch)]
        case 3 if state.tags:
            return [Untag(name=order.choice(sorted(state.tags)))]
        case 4:
            changed = {"retention.hours": str(order.choice((0, 1, 5)))}
            return [SetProperties(table=order.choice(others), set=changed)]
        case 5:
            return [Txn(table=ORDERS, app=f"app {order.randrange(99)}", version=world.now)]
        case 6 if len(others) > 2:
            return [DropTable(table=others.pop())]
        case _:
            return [SetComment(table=order.choice(others), comment=str(world.now))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 60))]
)
def test_a_vacuum_removes_the_same_with_known_names_and_without(seed: int) -> None:
    """Both plans are compared before each vacuum, for each way to ask for one."""
    order = random.Random(seed)
    world = World(order.choice((3, 8, 1000)), limits=PAGED)
    others = [new_table_id() for _ in range(12)]
    world.commit(*(table(key, f"t{key}") for key in others))
    compared = victims = 0
    for _ in range(40):
        if order.random() < 0.4:
            world.append()
        else:
            world.commit(*some_change(world, order, others))
        world.wait(order.choice((0, 0, 1, 3)))
        if order.random() < 0.3:
            requests = [
                VacuumRequest(hours, only=only, dry_run=True)
                for hours in (None, 0, 2)
                for only in (None, ORDERS, others[0])
            ]
            known = world.store.get(SEGMENT_NAMES) if read_names(world.store) else None
            quick = [plan_vacuum(world.log, each) for each in requests]
            world.store.delete(SEGMENT_NAMES)
            assert [plan_vacuum(world.log, each) for each in requests] == quick
            if known is not None:
                compared += 1
                victims += sum(len(each.files) for each in quick)
                world.store.put(SEGMENT_NAMES, known, sync=True)
            world.vacuum(order.choice((None, 0, 2)))
            world.check()
    assert compared > 1
    assert victims > 0
    world.wait(1000)
    world.vacuum()
    world.check_tidy()


NOW = VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True)


def _segments(tables: Iterable[TableState]) -> set[str]:
    return {checkpoint_name(name) for table in tables for name in table.listing_objects()}


@pytest.mark.slow
def test_a_vacuum_of_many_tables_reads_the_segments_of_those_that_changed() -> None:
    store, log, state = with_tables(400)
    adds = [AddRowSet(table=key, rowset=entry()) for key in state.table_names()]
    log.commit(change(*adds), state)
    assert vacuum(log, NOW).epoch is not None
    for _ in range(3):
        state = log.reader.read_head()
        tables = [state.tables[key] for key in state.table_names()]
        changed = [state.table(f"t{number}") for number in range(10)]
        log.commit(change(*(AddRowSet(table=t.id, rowset=entry()) for t in changed)), state)
        watched = FaultyStore(store)
        later = make_log(watched, start_ms=10**6 + state.epoch * 10**5, limits=SMALL)
        assert vacuum(later, NOW).epoch is not None
        read = Counter(call.name for call in watched.trace if call.operation == "get")
        assert not (_segments(tables) - _segments(changed)).intersection(read)


@pytest.mark.slow
def test_a_vacuum_makes_the_places_of_one_state_and_of_pages_that_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, log, _ = with_tables(700)
    vacuum(log, NOW)
    made = 0
    real = PageTable.places_beside

    def counted(pages: PageTable, other: PageTable) -> list[PagePlace]:
        nonlocal made
        found = real(pages, other)
        made += len(found)
        return found

    def all_places(pages: PageTable) -> frozenset[PagePlace]:
        return frozenset(counted(pages, empty_table()))

    monkeypatch.setattr(PageTable, "places_beside", counted)
    monkeypatch.setattr(PageTable, "places", property(all_places))
    for number in range(3):
        state = log.reader.read_head()
        assert isinstance(state.tables, StoredTables)
        pages = len(real(state.tables.stored.records.table, empty_table()))
        assert pages > 100
        key, made = state.table("t7").id, 0
        log.commit(change(SetComment(table=key, comment=str(number))), state)
        assert vacuum(log, NOW).epoch is not None
        assert made < 2 * pages
