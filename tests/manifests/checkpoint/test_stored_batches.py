"""A table with the batches of many applications: one batch is found without reading all of them."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.checkpoint.stored_batches import StoredBatches
from colonnade.manifests.checkpoint.stored_map import StoredMap
from colonnade.manifests.errors import ConflictError, CorruptionError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AddRowSet, DropTable, Operation, Tag, Txn
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.state.snapshot import BatchMap, Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, read_used_objects, vacuum
from colonnade.tableformat.verify.log_check import LogCheck
from tests.faults import FaultyStore
from tests.log_samples import (
    ORDERS,
    TRIPS,
    append,
    change,
    contents,
    database,
    entry,
    land,
    make_log,
    replay,
    table,
)

SMALL = Limits(page_bytes=512)
PAGED = Limits(page_bytes=512, root_tables=0, root_bytes=0)
NOW = VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True)


def with_batches(count: int, limits: Limits = SMALL) -> tuple[MemoryStore, Log, Snapshot]:
    """A table with a batch of each of many applications, which the newest checkpoint has."""
    store = MemoryStore(now_ms=lambda: 0)
    log = make_log(store, 2**40, limits=limits)
    made = change(table(), table(TRIPS, "trips"))
    state = log.commit(made, database(store))
    for start in range(0, count, 1000):
        some = {f"app{number}": number for number in range(start, min(start + 1000, count))}
        state = log.commit(land(some), state)
    return store, log, log.try_checkpoint(state)


def batch_objects(state: Snapshot) -> frozenset[str]:
    """The objects that hold the batches of `orders`."""
    found = state.tables[ORDERS].batches
    assert isinstance(found, BatchMap)
    return found.objects()


def damage(store: MemoryStore, name: str, how: str) -> None:
    """Remove an object, or change bytes of it."""
    data = store.get(checkpoint_name(name))
    if how == "gone":
        store.delete(checkpoint_name(name))
    else:
        flipped = bytes(each ^ (64 if i % 7 == 3 else 0) for i, each in enumerate(data))
        store.put(checkpoint_name(name), flipped, sync=False)


@pytest.mark.parametrize("limits", [SMALL, PAGED])
def test_a_reader_that_asks_for_no_batch_reads_none(limits: Limits) -> None:
    reads = []
    for count in (2, 5000):
        store, log, state = with_batches(count, limits)
        # Epochs with batches after the checkpoint do not make a reader read the other batches.
        log.commit(land({"app1": 9999, "new": 0}), state)
        watched = FaultyStore(store)
        head = make_log(watched, limits=limits).reader.read_head()
        assert isinstance(head.tables[ORDERS].batches, BatchMap) == (count > 2)
        assert len(log.rowsets.read(head.table("orders"))) == 1 + -(-count // 1000)
        reads.append(len(watched.trace))
    assert reads[0] == reads[1]


@pytest.mark.slow
def test_a_commit_with_a_batch_reads_one_page() -> None:
    traces = []
    for batch in ({}, {"app77": 1000}, {"app77": 77}):
        store, _, _ = with_batches(5000)
        watched = FaultyStore(store)
        log = make_log(watched, limits=SMALL)
        state = log.reader.read_head()
        before = len(watched.trace)
        log.commit(land(batch), state)
        traces.append(len(watched.trace) - before)
    without, new, landed = traces
    assert new == without + 1
    assert landed <= without


def test_a_checkpoint_writes_the_pages_of_batches_that_changed() -> None:
    store, log, state = with_batches(5000)
    whole = sum(len(store.get(checkpoint_name(name))) for name in batch_objects(state))
    before = {info.name for info in store.list("_manifest/checkpoint/")}
    state = log.commit(land({"app77": 1000}), log.reader.read_head())
    state = log.try_checkpoint(state)
    written = {info.name: info.size for info in store.list("_manifest/checkpoint/")}
    objects = {checkpoint_name(name) for name in batch_objects(state)} - before
    assert 0 < sum(written[name] for name in objects) < whole / 50
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))


def test_few_batches_stay_in_the_record_of_their_table() -> None:
    store, _, state = with_batches(2)
    found = read_hint(store)
    assert found is not None
    assert found[1].tables[0].writer.stored_batches is None
    assert state.tables[ORDERS].batches == {"app0": 0, "app1": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 8), marks=pytest.mark.long)], ids=["one", "many"]
)
@pytest.mark.parametrize("limits", [SMALL, PAGED])
def test_states_with_stored_batches_are_those_that_the_log_tells(
    limits: Limits, seeds: range
) -> None:
    for seed in seeds:
        chance = random.Random(seed)
        store = MemoryStore(now_ms=lambda: 0)
        log = make_log(store, chance.choice((1, 3, 7)), limits=limits)
        state = log.commit(change(table(), table(TRIPS, "trips")), database(store))
        stale, stored = state, 0
        for _ in range(60):
            state = step(log, state, stale, chance)
            if chance.random() < 0.2:
                stale = state
            told = contents(log, replay(store))
            for read in (state, log.reader.read_head()):
                assert contents(log, read) == told
                stored += isinstance(read.tables[ORDERS].batches, BatchMap)
        assert stored > 30


def step(log: Log, state: Snapshot, stale: Snapshot, chance: random.Random) -> Snapshot:
    """One commit: batches of one table or of both, from an old base or not, or a table again."""
    keys = chance.choice(([ORDERS], [TRIPS], [ORDERS, TRIPS]))
    what = chance.random()
    if what < 0.1:
        # Made again under its own id, the table keeps its batches, and carries two of them along.
        again = TRIPS if keys == [TRIPS] else ORDERS
        name = state.tables[again].name
        known = state.tables[again].batches
        carried = [Txn(table=again, app=app, version=known.get(app, 0)) for app in ("app1", "app2")]
        made: list[Operation] = [DropTable(table=again), table(again, name), *carried]
        # These batches have landed before; only a new one makes this a change.
        own = Txn(table=again, app=f"again{state.epoch}", version=0)
        one = change(*made, own)
        carries = frozenset((each.table, each.app) for each in carried)
        return log.commit(type(one)(one.transaction, "restore", one.ops, carried=carries), state)
    operations: list[Operation] = []
    for key in keys:
        known = state.tables[key].batches
        apps = {f"app{chance.randrange(300)}" for _ in range(chance.choice((1, 40)))}
        operations += (Txn(table=key, app=app, version=known.get(app, -1) + 1) for app in apps)
        operations.append(AddRowSet(table=key, rowset=entry()))
    base = stale if stale.tables.keys() == state.tables.keys() and what < 0.5 else state
    same = all(base.tables[k].created_epoch == state.tables[k].created_epoch for k in keys)
    return log.commit(change(*operations), base if same else state)


def test_a_batch_that_landed_is_known_from_every_base() -> None:
    _, log, state = with_batches(500)
    stale = log.reader.read_head()
    state = log.commit(land({"app7": 8, "fresh": 1}), state)
    for _ in range(3):
        state = log.try_checkpoint(log.commit(append(), state))
        for base in (state, stale, log.reader.read_head()):
            assert log.commit(land({"app7": 8}), base).epoch in (state.epoch, stale.epoch + 1)
            assert log.commit(land({"app8": 8}), base).epoch in (state.epoch, stale.epoch)
            with pytest.raises(ConflictError, match="'fresh' of table 'orders'"):
                log.commit(land({"fresh": 1, "app9": 10}), base)
    assert log.reader.read_head().epoch == state.epoch


@pytest.mark.parametrize("limits", [SMALL, PAGED])
@pytest.mark.parametrize("how", ["gone", "flipped"])
def test_batches_that_cannot_be_read_in_a_checkpoint_are_read_from_the_log(
    how: str, limits: Limits
) -> None:
    store, log, state = with_batches(500, limits)
    state = log.commit(land({"app7": 8}), state)
    read = log.reader.read_head()
    for name in batch_objects(read):
        damage(store, name, how)
    assert read.tables[ORDERS].batches["app99"] == 99
    assert "absent" not in read.tables[ORDERS].batches
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))
    assert log.commit(land({"app99": 99}), log.reader.read_head()).epoch == state.epoch
    # The next checkpoint uses nothing of the damaged one.
    log.try_checkpoint(log.commit(land({"app5": 100}), log.reader.read_head()))
    after = log.reader.read_head()
    assert batch_objects(after).isdisjoint(batch_objects(read))
    assert contents(log, after) == contents(log, replay(store))


def test_a_checkpoint_of_tables_with_rowsets_is_made_anew_where_the_last_one_is_damaged() -> None:
    store, log, _ = with_batches(500, PAGED)
    state = log.commit(append(), log.reader.read_head())
    state = log.commit(append(to=TRIPS), log.try_checkpoint(state))
    read = log.reader.read_head()
    for name in read.stored_objects():
        damage(store, name, "gone")
    log.try_checkpoint(log.commit(append(to=TRIPS), read))
    found = read_hint(store)
    assert found is not None
    assert found[0].epoch == state.epoch + 1
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))


@pytest.mark.parametrize("limits", [SMALL, PAGED])
def test_vacuum_keeps_the_batches_of_kept_states_and_removes_all_other_batches(
    limits: Limits,
) -> None:
    store, log, state = with_batches(300, limits)
    model = {f"app{number}": number for number in range(300)}
    held, kept = log.reader.read_head(), {}
    for number in range(30):
        versions = {f"app{number * 7 % 310}": 1000 + number, f"more{number}": 0}
        state = log.commit(land(versions), state)
        model |= versions
        if number % 10 == 4:
            kept[state.epoch] = dict(model)
            tag = Tag(name=f"tag{number}", epoch=state.epoch)
            state = log.try_checkpoint(log.commit(change(tag), state))
        if number % 10 == 9:
            vacuum(log, NOW)
            state = log.reader.read_head()
    vacuum(log, NOW)
    for reader in (log, make_log(store, limits=limits)):
        assert reader.reader.read_head().tables[ORDERS].batches == model
        assert (
            reader.reader.read_from_log(reader.reader.read_head().epoch).tables[ORDERS].batches
            == model
        )
        for epoch, then in kept.items():
            assert reader.reader.read_at(epoch).tables[ORDERS].batches == then
    used = read_used_objects(log)
    there = {info.name for info in store.list("_manifest/checkpoint/")}
    assert there <= {checkpoint_name(name) for name in used}
    # A state that was read before its checkpoint was removed is read anew.
    assert log.reader.refresh(held).tables[ORDERS].batches == model


def test_a_state_whose_checkpoint_a_vacuum_removed_still_finds_its_batches() -> None:
    store, log, state = with_batches(500)
    state = log.commit(append(), state)
    held = log.reader.read_head()
    log.try_checkpoint(log.commit(land({f"app{n}": 1000 for n in range(500)}), held))
    vacuum(log, VacuumRequest(hours=0, epochs=2, threads=1, trust_clock=True))
    # The state is still kept, and the epoch of its checkpoint is not.
    assert log.reader.read_head().floor == held.epoch
    for name in batch_objects(held):
        if any(info.name == checkpoint_name(name) for info in store.list("_manifest/checkpoint/")):
            store.delete(checkpoint_name(name))
    assert held.tables[ORDERS].batches == {f"app{number}": number for number in range(500)}


def test_batches_that_a_table_took_over_are_found_after_their_checkpoint_is_gone() -> None:
    store, log, state = with_batches(500)
    own = Txn(table=TRIPS, app="app1", version=1000)
    state = log.commit(change(DropTable(table=TRIPS)), state)
    state = log.commit(change(DropTable(table=ORDERS), table(TRIPS, "orders"), own), state)
    held, model = log.reader.read_head(), {**{f"app{n}": n for n in range(500)}, "app1": 1000}
    kept = held.tables[TRIPS].batches
    assert isinstance(kept, BatchMap)
    later = [Txn(table=TRIPS, app=app, version=2000) for app in model]
    log.try_checkpoint(log.commit(change(*later), held))
    vacuum(log, VacuumRequest(hours=0, epochs=2, threads=1))
    assert log.reader.read_head().floor == held.epoch
    for name in kept.objects():
        if any(info.name == checkpoint_name(name) for info in store.list("_manifest/checkpoint/")):
            store.delete(checkpoint_name(name))
    assert kept == model


def test_an_anchor_without_its_batches_is_corruption() -> None:
    store, log, state = with_batches(500)
    for _ in range(3):
        state = log.commit(append(), state)
    vacuum(log, NOW)
    state = log.reader.read_from_log(log.reader.read_head().epoch)
    whole = state.tables[ORDERS].batches["app1"]
    for name in batch_objects(state):
        store.delete(checkpoint_name(name))
    again = log.reader.read_from_log(state.epoch)
    assert again.tables[ORDERS].batches["app1"] == whole, "the copy was not read"
    state = log.reader.read_from_log(state.epoch)
    for name in batch_objects(state):
        store.delete(copy_name(name))
    with pytest.raises(CorruptionError, match="part of the log"):
        state.tables[ORDERS].batches.get("app1")
    check = LogCheck(log.reader).run()
    assert "damage" in {finding.kind for finding in check.findings}


@pytest.mark.parametrize("value", [-1, 2**53, 1.0, True, "1", None])
def test_a_batch_that_no_writer_can_have_stored_is_refused(value: object) -> None:
    _, _, state = with_batches(50)
    found = state.tables[ORDERS].batches
    assert isinstance(found, StoredBatches)
    with (
        patch.object(StoredMap, "items", lambda *_: iter([("app7", value)])),
        pytest.raises(CorruptionError, match=f"table {ORDERS}.* the batch of 'app7' is invalid"),
    ):
        found.source.read_beside(None)


@pytest.mark.parametrize("value", [-1, 2**53, 1.0, True, "1"])
def test_a_batch_that_is_stored_wrongly_is_found_in_the_log(value: object) -> None:
    _, _, state = with_batches(50)
    with patch.object(StoredMap, "get", lambda *_: value):
        assert state.tables[ORDERS].batches["app7"] == 7
