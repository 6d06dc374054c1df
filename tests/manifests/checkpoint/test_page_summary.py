"""A vacuum that knows pages of tables by their summaries finds what it would find in the pages."""

from __future__ import annotations

import random
from typing import Any

import pytest

from colonnade.manifests.checkpoint import root, stored_tables
from colonnade.manifests.checkpoint.page_summary import (
    NO_SUMMARIES,
    PageSummary,
    Summaries,
    decode_summaries,
    encode_summaries,
    read_summaries,
    write_summaries,
)
from colonnade.manifests.checkpoint.paged_map import PagePlace, PageTable, empty_table
from colonnade.manifests.checkpoint.state_summary import NO_STATES, summary_of
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.ids import new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.codec import seal, unseal
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    DropRowSet,
    DropTable,
    Operation,
    SetComment,
    SetProperties,
    Tag,
    Txn,
    Untag,
)
from colonnade.manifests.object_names import SUMMARIES
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum, vacuum
from tests.faults import FaultyStore
from tests.log_samples import ORDERS, change, database, make_log, table, vector
from tests.manifests.checkpoint.test_state_summary import some_states
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
ONE_PAGE = Summaries({PagePlace("1" * 32, 0, 9): PageSummary(1, {}, {})}, NO_STATES)


def some_pages(order: random.Random) -> dict[PagePlace, PageSummary]:
    def ids(most: int) -> list[str]:
        return [order.randbytes(16).hex() for _ in range(order.randrange(most))]

    def one() -> PageSummary:
        hours = {"retention.hours": str(order.randrange(9))}
        retention = {order.randbytes(8).hex(): hours for _ in range(order.choice((0, 0, 2)))}
        parts = {name: order.randrange(2**40) for name in ids(4)}
        objects = order.choice((None, frozenset(ids(30))))
        return PageSummary(order.randrange(9), retention, parts, objects)

    bundles = [*ids(5), "0" * 32]
    return {
        PagePlace(order.choice(bundles), at * 7, order.randrange(1, 99)): one()
        for at in range(order.randrange(12))
    }


@pytest.mark.parametrize("seed", range(30))
def test_summaries_are_read_as_they_were_written(seed: int) -> None:
    order = random.Random(seed)
    summaries = Summaries(some_pages(order), order.choice((NO_STATES, some_states(order))))
    assert decode_summaries(encode_summaries(summaries), "a file") == summaries


@pytest.mark.parametrize("seed", range(30))
def test_summaries_that_were_cut_flipped_or_changed_are_no_summaries(seed: int) -> None:
    order, store = random.Random(seed), MemoryStore()
    database(store)
    summaries = Summaries(some_pages(order), some_states(order))
    write_summaries(store, summaries)
    data = bytearray(store.get(SUMMARIES))
    assert read_summaries(store) == summaries
    at = order.randrange(1, len(data))
    if seed % 2:
        data[at] ^= 1 << order.randrange(8)
    else:
        del data[at:]
    store.put(SUMMARIES, bytes(data), sync=True)
    assert read_summaries(store) == NO_SUMMARIES


def _stated(field: str, number: int) -> bytes:
    return b'"%b":{"type":"const","base":"%d"' % (field.encode(), number)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"format_version":1', b'"format_version":2'),
        (b'"pages":1', b'"pages":1,"colours":2'),
        (_stated("object_counts", 1), _stated("object_counts", -2)),
        (_stated("object_counts", 1), _stated("object_counts", 2)),
        (_stated("part_counts", 1), _stated("part_counts", 2)),
        (_stated("part_counts", 1), _stated("part_counts", -1)),
        (_stated("bundle_indexes", 0), _stated("bundle_indexes", 1)),
        (_stated("firsts", 0), _stated("firsts", -1)),
        (_stated("firsts", 0), _stated("firsts", 1)),
        (_stated("lasts", 0), _stated("lasts", 1)),
        (b'"count":1', b'"count":2'),
    ],
)
def test_summaries_of_another_version_or_with_wrong_counts_are_not_used(
    old: bytes, new: bytes
) -> None:
    store = MemoryStore()
    database(store)
    page = PageSummary(1, {}, {"2" * 32: 5}, frozenset({"3" * 32}))
    states = summary_of(["4" * 32], {"5" * 32: (0, 0)}, {})
    write_summaries(store, Summaries({PagePlace("1" * 32, 0, 9): page}, states))
    body = unseal(store.get(SUMMARIES), SUMMARIES)
    assert old in body
    store.put(SUMMARIES, seal(body.replace(old, new)), sync=True)
    assert read_summaries(store) == NO_SUMMARIES


def test_without_pages_there_is_no_file_and_none_without_a_log() -> None:
    store = MemoryStore()
    with pytest.raises(NotFoundError):
        write_summaries(store, ONE_PAGE)
    database(store)
    write_summaries(store, ONE_PAGE)
    write_summaries(store, NO_SUMMARIES)
    assert SUMMARIES not in {info.name for info in store.list("")}


def test_summaries_that_would_be_too_large_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    database(store)
    write_summaries(store, ONE_PAGE)
    monkeypatch.setattr("colonnade.manifests.checkpoint.page_summary.SIZE_LIMIT", 100)
    write_summaries(store, ONE_PAGE)
    assert SUMMARIES not in {info.name for info in store.list("")}


def stored_summaries(world: World) -> bool:
    return read_summaries(world.store) != NO_SUMMARIES


def some_change(world: World, order: random.Random, others: list[Any]) -> list[Operation]:
    state = world.log.read_head()
    live = world.log.read_rowsets(state.table("orders"))
    some = order.choice(live) if live else None
    match order.randrange(9):
        case 0 if some:
            return [DropRowSet(table=ORDERS, rowsets=((some.id, some.id),))]
        case 1 if some and some.deleted_count < 9:
            new = vector(some.deleted_count + 1, some.amendments.vector)
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


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 60))]
)
def test_a_vacuum_removes_the_same_with_summaries_and_without(seed: int) -> None:
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
            known = world.store.get(SUMMARIES) if stored_summaries(world) else None
            quick = [plan_vacuum(world.log, each) for each in requests]
            world.store.delete(SUMMARIES)
            assert [plan_vacuum(world.log, each) for each in requests] == quick
            if known is not None:
                compared += 1
                victims += sum(len(each.files) for each in quick)
                world.store.put(SUMMARIES, known, sync=True)
            world.vacuum(order.choice((None, 0, 2)))
            world.check()
    assert compared > 1
    assert victims > 0
    world.wait(1000)
    world.vacuum()
    world.check_tidy()


def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the ids of all tables that are decoded from now on."""
    real, found = root.decode_table_record, list[str]()

    def counted(value: Any, *arguments: Any) -> Any:
        found.append(value["id"])
        return real(value, *arguments)

    monkeypatch.setattr(stored_tables, "decode_table_record", counted)
    return found


NOW = VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True)


def test_a_vacuum_of_many_tables_reads_those_that_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    store, log, state = with_tables(700)
    vacuum(log, NOW)
    found = decoded(monkeypatch)
    for number in range(3):
        state = log.read_head()
        key = state.table("t7").id
        log.commit(change(SetComment(table=key, comment=str(number))), state)
        found.clear()
        watched = FaultyStore(store)
        assert (
            vacuum(make_log(watched, start_ms=10**6 + number * 10**5, limits=SMALL), NOW).epoch
            is not None
        )
        assert key in found
        assert len(found) < 100
        assert len(watched.trace) < 200
    found.clear()
    assert vacuum(log, NOW).epoch is None
    assert found == []


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
        state = log.read_head()
        assert isinstance(state.tables, StoredTables)
        pages = len(real(state.tables.stored.records.table, empty_table()))
        assert pages > 100
        key, made = state.table("t7").id, 0
        log.commit(change(SetComment(table=key, comment=str(number))), state)
        assert vacuum(log, NOW).epoch is not None
        assert made < 2 * pages
