"""Who goes through all tables reads each page once, and decodes no columns that it does not use."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import orjson
import pytest

from colonnade.manifests.arrays.segment_objects import decode_segment_objects
from colonnade.manifests.checkpoint import root, stored_tables
from colonnade.manifests.checkpoint.loaded_pages import (
    LoadedPages,
    _without_columns,
    read_plain_state,
)
from colonnade.manifests.checkpoint.paged_map import PagePlace
from colonnade.manifests.checkpoint.reader import read_entry_segment, read_state
from colonnade.manifests.checkpoint.root import encode_table_record
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.errors import ColonnadeError, CorruptionError, UnsupportedFormatError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import byte_check, seal, unseal
from colonnade.manifests.model.operations import DropTable, SetComment
from colonnade.manifests.model.schema import ArrayType, SchemaField, TableSchema
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.state.snapshot import EntrySegmentRef, Snapshot, TableState
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.faults import FaultyStore
from tests.log_samples import append, change, database, entry, make_log, table
from tests.manifests.checkpoint.test_stored_tables import SMALL, with_tables
from tests.manifests.vacuum.test_references import some_operations
from tests.manifests.vacuum.world import World


def without(table: TableState) -> TableState:
    """A table without columns and statistics."""
    refs = table.rowsets.segments
    plain = [replace(r, segment=r.segment.model_copy(update={"statistics": {}})) for r in refs]
    rowsets = replace(table.rowsets, segments=tuple(plain))
    return replace(table, schema=TableSchema(fields=()), rowsets=rowsets)


def by_id(tables: Any) -> dict[str, TableState]:
    found = list(tables)
    assert len({each.id for each in found}) == len(found)
    return {each.id: without(each) for each in found}


def test_all_tables_of_a_state_are_there_whatever_changed_since_its_checkpoint() -> None:
    _, log, state = with_tables(30)
    names = sorted(state.table_names())
    state = log.commit(append(entry(), to=names[0]), state)
    state = log.try_checkpoint(state)
    assert isinstance(state.tables, StoredTables)
    state = log.commit(change(SetComment(table=names[1], comment="x")), state)
    state = log.commit(change(DropTable(table=names[2])), state)
    head = make_log(log.store, limits=SMALL).reader.read_head()
    for each in (state, head):
        assert by_id(LoadedPages().read(each)) == by_id(each.tables.values())


def test_tables_in_a_lost_page_are_read_from_the_log() -> None:
    store, log, state = with_tables(30)
    expected = by_id(state.tables.values())
    for name in state.stored_objects():
        store.delete(checkpoint_name(name))
    head = log.reader.refresh(make_log(store, limits=SMALL).reader.read_head())
    assert by_id(LoadedPages().read(head)) == expected


def test_states_share_pages_and_each_is_read_once() -> None:
    store, log, state = with_tables(200)
    key = state.table("t7").id
    after = log.try_checkpoint(log.commit(change(SetComment(table=key, comment="x")), state))
    watched = FaultyStore(store)
    loaded, seen = LoadedPages(), set[PagePlace]()
    reader = make_log(watched, limits=SMALL)
    one, other = reader.reader.read_at(state.epoch), reader.reader.read_at(after.epoch)
    before = len(watched.trace)
    assert len(list(loaded.read(one, seen))) == 200
    fresh = [table.id for table in loaded.read(other, seen)]
    assert key in fresh
    assert len(fresh) < 20
    reads = Counter(call.name for call in watched.trace[before:])
    # A new bundle has copies of old pages, so only the bundles of both states are read.
    assert set(reads.values()) == {1}
    assert list(loaded.read(other, seen)) == []


@pytest.mark.slow
def test_a_vacuum_decodes_the_columns_of_the_tables_that_changed_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, log, state = with_tables(500)
    now = VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True)
    vacuum(log, now)
    state = log.reader.read_head()
    log.commit(change(SetComment(table=state.table("t7").id, comment="x")), state)
    decoded: list[int] = []
    real = root.decode_table_record

    def counted(*arguments: Any) -> TableState:
        found = real(*arguments)
        decoded.append(len(found.schema.fields))
        return found

    monkeypatch.setattr(stored_tables, "decode_table_record", counted)
    assert vacuum(log, now).epoch is not None
    whole = [count for count in decoded if count]
    assert 0 < len(whole) < 50
    # Each page is decoded once, and once more where a checkpoint has copied it.
    assert len(decoded) - len(whole) <= 2 * 500


def record(schema: TableSchema) -> dict[str, Any]:
    _, _, state = with_tables(3)
    return encode_table_record(replace(state.table("t1"), schema=schema))


def test_columns_of_kinds_that_may_be_unknown_are_decoded() -> None:
    nested = ArrayType(element=SchemaField(id=2, name="element", type="long"))
    flat = TableSchema(fields=(SchemaField(id=1, name="a", type="decimal(9,2)"),))
    deep = TableSchema(fields=(SchemaField(id=1, name="a", type=nested),))
    assert _without_columns(record(flat))["table_schema"] == {"fields": []}
    for value in (record(deep), *map(unknown, ("type", "key", "shape"))):
        assert _without_columns(value) == value


def unknown(what: str) -> dict[str, Any]:
    """A record that a later version may write."""
    value = record(TableSchema(fields=(SchemaField(id=1, name="a", type="long"),)))
    [field] = value["table_schema"]["fields"]
    match what:
        case "type":
            field["type"] = "video"
        case "key":
            field["codec"] = "x"
        case _:
            value["segments"] = None
    return value


@pytest.mark.parametrize("what", ["type", "key"])
def test_a_vacuum_refuses_tables_of_a_later_version(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, log, _ = with_tables(30)
    real = orjson.loads

    def later(data: bytes) -> Any:
        page = real(data)
        for each in page.get("entries", {}).values():
            if isinstance(each, dict):
                field = each["table_schema"]["fields"][0]
                field.update(type="video") if what == "type" else field.update(codec="x")
        return page

    monkeypatch.setattr("colonnade.manifests.checkpoint.loaded_pages.orjson.loads", later)
    state = log.reader.read_head()
    assert isinstance(state.tables, StoredTables)
    with pytest.raises(UnsupportedFormatError, match="upgrade Colonnade"):
        LoadedPages()._load(state.tables.stored, state.tables.stored.places)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_objects_of_a_segment_are_those_of_its_live_entries(seed: int) -> None:
    order = random.Random(seed)
    store = MemoryStore(now_ms=lambda: 0)
    state = database(store)
    log = make_log(store, 4, limits=Limits(segment_rowsets=8, segment_vectors=4))
    state = log.commit(change(table()), state)
    compared = 0
    for _ in range(40):
        key = state.table("orders").id
        state = log.commit(change(*some_operations(order, log, state, key)), state)
        orders = state.table("orders")
        for ref in orders.rowsets.segments:
            block = read_entry_segment(store, orders, ref)
            rowsets = orders.rowsets
            live = block.updated(rowsets.dropped, rowsets.amended)
            data = store.get(checkpoint_name(ref.segment.object))
            found = decode_segment_objects(data, ref.segment, "a segment", ref.first_id)
            assert {*found.live(rowsets.dropped, rowsets.amended)} == {*live.object_ids()}
            compared += len(live) < len(block)
    assert compared
    check_consecutive(log, state)


def check_consecutive(log: Log, state: Snapshot) -> None:
    """The ids of a segment of `add_rowsets` begin with the one that the fold gives."""
    log.reader.limits = replace(log.limits, listed_rowsets=1)
    state = log.commit(append(*(entry() for _ in range(5))), state)
    table = state.table("orders")
    refs: list[EntrySegmentRef] = [*table.rowsets.segments]
    data = log.store.get(checkpoint_name(refs[-1].segment.object))
    found = decode_segment_objects(data, refs[-1].segment, "a segment", refs[-1].first_id)
    second = refs[-1].first_id + 1
    assert [*found.live(((second, second),), {})] == [
        name for at, name in enumerate(found.objects) if at != 1
    ]


def test_a_state_that_is_read_for_the_names_of_its_objects_lacks_columns_alone() -> None:
    world = World(4)
    for _ in range(6):
        world.append()
    world.vacuum()
    anchor = world.log.reader.read_head().anchors[-1]
    whole, plain = read_state(world.store, anchor), read_plain_state(world.store, anchor)
    assert by_id(plain.tables.values()) == by_id(whole.tables.values())
    assert replace(plain, tables=whole.tables) == whole
    assert not any(each.schema.fields for each in plain.tables.values())


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (b'"type":"long"', b'"type":"cube"', UnsupportedFormatError),
        (b'"name":"id"', b'"size":"id"', UnsupportedFormatError),
        (b'"tables":[', b'"tables":[1,', CorruptionError),
        (b'"floor":', b'"cubes":', UnsupportedFormatError),
    ],
)
def test_an_unknown_or_wrong_field_of_a_stored_state_is_refused(
    old: bytes, new: bytes, error: type[ColonnadeError]
) -> None:
    world = World(4)
    world.append()
    world.append()
    world.vacuum()
    anchor = world.log.reader.read_head().anchors[-1]
    name = checkpoint_name(anchor.root)
    body = unseal(world.store.get(name), name)
    assert old in body
    data = seal(body.replace(old, new, 1))
    world.store.put(name, data, sync=True)
    changed = anchor.model_copy(update={"check": byte_check(data)})
    for read in (read_state, read_plain_state):
        with pytest.raises(error):
            read(world.store, changed)
