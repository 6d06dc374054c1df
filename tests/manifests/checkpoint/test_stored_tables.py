"""In a database of many tables, opening one table does not read the other tables."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.checkpoint.root import Hint
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.errors import (
    AlreadyExistsError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId, new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import decode_model
from colonnade.manifests.model.operations import DropTable, Operation, RenameTable, SetComment
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.state.snapshot import Snapshot, TableMap
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, read_used_objects, vacuum
from tests.faults import Call, Fault, FaultyStore
from tests.log_samples import append, change, contents, database, entry, make_log, replay, table

SMALL = Limits(root_tables=2, root_bytes=100, page_bytes=512)
NOW = VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True)


def with_tables(count: int, interval: int = 8) -> tuple[MemoryStore, Log, Snapshot]:
    """Make a database of `count` tables whose newest checkpoint is at its head."""
    store = MemoryStore(now_ms=lambda: 0)
    state = database(store)
    log = make_log(store, interval, limits=SMALL)
    made = [table(new_table_id(), f"t{number}") for number in range(count)]
    for start in range(0, count, 500):
        state = log.commit(change(*made[start : start + 500]), state)
    return store, log, log.try_checkpoint(state)


@pytest.mark.slow
def test_one_of_many_tables_is_opened_with_as_many_reads_as_one_of_few() -> None:
    reads = []
    for count in (20, 2000):
        store, _, _ = with_tables(count)
        watched = FaultyStore(store)
        state = make_log(watched, limits=SMALL).reader.read_head()
        assert isinstance(state.tables, TableMap)
        assert state.table("t7").name == "t7"
        reads.append(len(watched.trace))
    assert reads[0] == reads[1]


@pytest.mark.slow
def test_a_commit_to_one_of_many_tables_reads_and_writes_that_one() -> None:
    store, _, _ = with_tables(2000)
    watched = FaultyStore(store)
    log = make_log(watched, limits=SMALL)
    state = log.reader.read_head()
    key = state.table("t7").id
    before = len(watched.trace)
    state = log.commit(append(entry(), to=key), state)
    assert len(watched.trace) - before == 4  # two looks, the epoch and a look at a mark
    log.try_checkpoint(state)
    assert len(watched.trace) - before < 20
    assert contents(log, log.reader.read_head()) == contents(log, state)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_change_that_was_found_is_called_committed_although_no_later_state_can_be_read(
    fresh: bool,
) -> None:
    """The state after it needs tables of its base that a concurrent writer has changed."""
    store, log, head = with_tables(20)
    mine = replace(append(entry(), to=head.table("t7").id), fresh=fresh)
    # Ids are random: one other table may be in the page of `t7`, which is read before.
    others = [append(entry(), to=head.table(f"t{number}").id) for number in range(8, 20)]
    theirs = replace(others[0], ops=tuple(op for each in others for op in each.ops))
    state = log.commit(theirs, head)
    landed = log.commit(replace(mine, fresh=False), state)

    def send(faults: Sequence[int]) -> tuple[list[Call], int]:
        """The calls, and the epoch after which the state was returned."""
        way = FaultyStore(store, dict.fromkeys(faults, Fault.FAIL_BEFORE))
        again = make_log(way, limits=SMALL)
        base = again.reader.read_at(head.epoch)
        assert base.table("t7").id in base.tables
        return way.trace, again.commit(mine, base).epoch

    trace, epoch = send(())
    assert epoch == landed.epoch
    # The change is put again, and its slot and the mark of its block are read.
    settled = trace.index(Call("put_if_absent", epoch_name(landed.epoch))) + 3
    assert settled < len(trace), "no state is read after the change was found"
    for call in range(settled + 1, len(trace) + 1):
        assert send([call])[1] == epoch, "one failure is not the end"
        with pytest.raises(CommitUnknownError, match=f"as epoch {landed.epoch}; do not repeat it"):
            send(range(call, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("steps", [50, pytest.param(120, marks=pytest.mark.long)])
def test_states_with_stored_tables_are_those_that_the_log_tells(steps: int) -> None:
    chance = random.Random(5)
    store, log, state = with_tables(30, interval=3)
    for step in range(steps):
        names = dict(state.table_names())
        key = chance.choice([*names])
        what: list[Operation] = [
            SetComment(table=key, comment=str(step)),
            DropTable(table=key),
            table(new_table_id(), f"new{step}"),
            RenameTable(table=key, name=f"renamed{step}"),
        ]
        chosen = chance.choice([*what, None, None])
        # A name that becomes free is taken again before the next checkpoint.
        again = [table(new_table_id(), names[key])] if isinstance(chosen, DropTable) else []
        one = append(entry(), to=key) if chosen is None else change(chosen, *again)
        state = log.commit(one, state)
        told = replay(store)
        read = log.reader.read_head()
        assert contents(log, read) == contents(log, told) == contents(log, state)
        assert dict(read.table_names()) == {k: t.name for k, t in told.tables.items()}
        assert all(read.table(t.name).id == key for key, t in told.tables.items())
        assert read.find_table("absent") is None
        assert len(read.tables) == len(told.tables)
    assert isinstance(read.tables, TableMap)


@pytest.mark.parametrize("damage", ["gone", "flipped"])
def test_tables_that_cannot_be_read_in_a_checkpoint_are_read_from_the_log(damage: str) -> None:
    for looked_before in (False, True):
        store, log, state = with_tables(30)
        state = log.commit(append(entry(), to=state.table("t3").id), state)
        read = log.reader.read_head()
        if looked_before:
            read.table("t4")
        for name in read.stored_objects():
            data = store.get(checkpoint_name(name))
            if damage == "gone":
                store.delete(checkpoint_name(name))
            else:
                flipped = bytes(each ^ (64 if i % 7 == 3 else 0) for i, each in enumerate(data))
                store.put(checkpoint_name(name), flipped, sync=False)
        told = replay(store)
        assert read.table("t5") == told.table("t5")
        assert dict(read.table_names()) == dict(told.table_names())
        assert contents(log, log.reader.read_head()) == contents(log, told)
        later = log.commit(append(entry(), to=told.table("t6").id), read)
        assert contents(log, later) == contents(log, replay(store))
        # The next checkpoint uses nothing of the damaged one.
        log.try_checkpoint(later)
        store.delete(checkpoint_name(decode_model(Hint, store.get(HINT), HINT).root) + "x")
        found = read_hint(store)
        assert found is not None
        assert found[0].epoch == later.epoch
        assert contents(log, log.reader.read_head()) == contents(log, replay(store))


def test_a_checkpoint_after_a_damaged_one_has_the_rowsets_of_tables_that_did_not_change() -> None:
    store, log, state = with_tables(30)
    for name in ("t3", "t4"):
        state = log.commit(append(entry(), to=state.table(name).id), state)
    state = log.try_checkpoint(state)
    found = read_hint(store)
    assert found is not None
    for name in log.reader.read_head().stored_objects():
        store.delete(checkpoint_name(name))
    read = log.reader.read_head()
    later = log.commit(append(entry(), to=read.table("t3").id), read)
    write_checkpoint(store, later, SMALL, partial(log.reader.follower.replay, later.database))
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))
    assert read_hint(store) != found


def test_a_preview_shows_no_rows_of_a_concurrent_writer_after_its_checkpoint_is_lost() -> None:
    store, log, _ = with_tables(30)
    base = log.reader.read_head()
    keys = sorted(base.table_names())
    other = base.tables[keys[1]]
    preview = log.preview(append(entry(), to=keys[0]), log.reader.read_head())
    log.commit(append(entry(), to=other.id), base)
    for name in [each.name for each in store.list("_manifest/checkpoint/")]:
        store.delete(name)
    assert preview.tables[keys[0]].next_rowset_id == 1
    assert preview.tables[other.id] == other


def test_a_writer_that_wrote_a_checkpoint_continues_without_reading_it() -> None:
    store, _, _ = with_tables(30)
    watched = FaultyStore(store)
    log = make_log(watched, limits=SMALL)
    state = log.reader.read_head()
    key = state.table("t3").id
    state = log.try_checkpoint(log.commit(append(entry(), to=key), state))
    assert isinstance(state.tables, TableMap)
    before = len(watched.trace)
    assert state.tables[key] == state.table("t3")
    assert len(watched.trace) == before


def test_the_state_after_a_commit_with_a_checkpoint_does_not_need_that_to_stay_whole() -> None:
    store, log, state = with_tables(30)
    state = log.try_checkpoint(log.commit(append(entry(), to=state.table("t3").id), state))
    preview = log.preview(append(entry(), to=state.table("t3").id), state)
    for name in state.stored_objects():
        store.put(checkpoint_name(name), b"damaged", sync=False)
    assert dict(preview.table_names()) == dict(replay(store).table_names())
    assert contents(log, state) == contents(log, replay(store))


@pytest.mark.parametrize("wrote", [False, True])
def test_tables_of_another_database_at_the_same_place_are_not_taken_for_ones_own(
    wrote: bool,
) -> None:
    store, log, state = with_tables(30)
    if not wrote:
        state = log.reader.read_head()
    for info in [*store.list("")]:
        store.delete(info.name)
    other = database(store)
    for number in range(state.epoch + 2):
        made = table(new_table_id(), f"t{number}")
        other = make_log(store, 64, limits=SMALL).commit(change(made), other)
    # The writer of a checkpoint holds its tables, and reads only their names.
    with pytest.raises(NotFoundError, match="was removed or replaced"):
        state.table_names()
    if not wrote:
        with pytest.raises(NotFoundError, match="was removed or replaced"):
            state.find_table("t1")


def test_names_of_stored_tables_are_taken() -> None:
    _, log, _ = with_tables(30)
    state = log.reader.read_head()
    with pytest.raises(AlreadyExistsError, match="'t3' exists already"):
        log.commit(change(table(new_table_id(), "t3")), state)
    with pytest.raises(AlreadyExistsError, match="'t4' exists already"):
        log.commit(change(RenameTable(table=state.table("t3").id, name="t4")), state)
    with pytest.raises((ConflictError, InvalidInputError)):
        log.commit(change(table(state.table("t3").id, "other")), state)


@pytest.mark.slow
def test_vacuum_keeps_what_stored_tables_need_and_removes_what_they_needed() -> None:
    store, log, state = with_tables(30, interval=4)
    held = log.reader.read_head()
    for step in range(40):
        key = state.table(f"t{step % 30}").id
        state = log.commit(append(entry(), to=key), state)
        if step % 10 == 9:
            vacuum(log, NOW)
            state = log.reader.read_head()
            told = log.reader.read_from_log(state.epoch)
            assert state.table_names() == told.table_names()
            assert contents(log, state) == contents(log, told)
    vacuum(log, NOW)
    used = read_used_objects(log)
    there = {info.name for info in store.list("_manifest/checkpoint/")}
    assert log.reader.read_head().stored_objects() <= used
    assert there == {checkpoint_name(name) for name in used} & there
    assert not log.reader.is_removed(state.epoch)
    # A state that was read before its checkpoint was removed is read anew.
    assert contents(log, log.reader.refresh(held)) == contents(log, state)


def test_a_database_that_shrinks_is_stored_in_its_root_again() -> None:
    store, log, state = with_tables(30)
    keys: list[TableId] = [*state.table_names()]
    state = log.commit(change(*(DropTable(table=key) for key in keys[1:])), state)
    log.try_checkpoint(state)
    read = log.reader.read_head()
    assert [*read.table_names()] == keys[:1]
    assert contents(log, read) == contents(log, replay(store))


def test_a_table_is_not_taken_for_another_one_whose_record_is_at_its_place() -> None:
    _, _, state = with_tables(20)
    assert isinstance(state.tables, StoredTables)
    source = state.tables.stored
    one, other = state.table("t1").id, state.table("t2").id
    with pytest.raises(
        CorruptionError, match=rf"table {other} of a checkpoint\) holds table {one}"
    ):
        source.decode(other, source.records.get(one))
