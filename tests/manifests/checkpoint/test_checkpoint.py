"""Checkpoints say what the log says, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from colonnade.manifests.checkpoint.reader import read_entry_segment, read_root
from colonnade.manifests.checkpoint.root import CheckpointRef, Hint, plan_earlier, plan_merge
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import byte_check, decode_model, encode_model, seal, unseal
from colonnade.manifests.model.entries import ByteCheck, EntrySegment
from colonnade.manifests.model.operations import DropRowSet
from colonnade.manifests.object_names import CHECKPOINTS, HINT, checkpoint_name, epoch_name
from colonnade.manifests.state.snapshot import EntrySegmentRef, Snapshot
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    delete,
    entry,
    holds,
    live,
    make_log,
    overwrite,
    replay,
    vector,
    with_orders,
)


def checkpointed(interval: int = 8) -> tuple[MemoryStore, Log, Snapshot]:
    """A database at epoch 9 whose checkpoint is of epoch 8."""
    store = MemoryStore()
    log = make_log(store, interval)
    state = with_orders(store, log)
    for low in range(0, 40, 10):
        state = log.commit(append(entry(low=low, data="QUJD"), entry(low=low)), state)
    state = log.commit(delete(2, vector(3)), state)
    state = log.commit(overwrite((4, 5)), state)
    state = log.commit(append(), state)
    assert state.tables
    return store, log, log.commit(append(), state)


def names(store: MemoryStore, prefix: str) -> list[str]:
    return [info.name for info in store.list(prefix)]


def test_a_reader_uses_the_checkpoint_and_not_the_epochs_before_it() -> None:
    store, _, state = checkpointed()
    watched = FaultyStore(store)
    log = make_log(watched)
    assert contents(log, log.read_head()) == contents(log, state)
    read = {call.name for call in watched.trace}
    assert HINT in read
    assert not {epoch_name(n) for n in range(8)} & read


@pytest.mark.parametrize("kind", ["hint", "root", "segment"])
def test_no_flipped_bit_or_truncation_of_a_checkpoint_changes_what_is_read(kind: str) -> None:
    store, log, state = checkpointed()
    expected = contents(log, state)
    hint = decode_model(Hint, store.get(HINT), HINT)
    root = checkpoint_name(hint.root)
    segment = next(n for n in names(store, CHECKPOINTS) if n != root)
    name = {"hint": HINT, "root": root, "segment": segment}[kind]
    data = store.get(name)
    step = 1 if kind == "hint" else 11  # coprime to 8: every bit position, one byte in eleven
    damages = [bytes_with_flip(data, bit) for bit in range(0, len(data) * 8, step)]
    damages += [data[:end] for end in range(1, len(data), step)]
    for damaged in damages:
        store.put(name, damaged, sync=False)
        assert contents(log, log.read_head()) == expected
    store.delete(name)
    assert contents(log, log.read_head()) == expected


def test_every_flipped_bit_and_truncation_of_a_root_and_a_segment_is_detected() -> None:
    store, _, state = checkpointed()
    hint = decode_model(Hint, store.get(HINT), HINT)
    orders = state.table("orders")
    ref = orders.rowsets.segments[0]
    readers: dict[str, Callable[[], object]] = {
        checkpoint_name(hint.root): lambda: read_root(store, hint),
        checkpoint_name(ref.segment.object): lambda: read_entry_segment(store, orders, ref),
    }
    for name, read in readers.items():
        data = store.get(name)
        read()
        flips = (bytes_with_flip(data, bit) for bit in range(len(data) * 8))
        for damaged in (*flips, *(data[:end] for end in range(1, len(data)))):
            store.put(name, damaged, sync=False)
            with pytest.raises(CorruptionError):
                read()
        another = seal(unseal(data, name).replace(b":1,", b":2,", 1))
        for exchanged in (another, seal(b"{}")):
            store.put(name, exchanged, sync=False)
            with pytest.raises(CorruptionError, match="instead of|checksum"):
                read()
        store.put(name, data, sync=False)


def bytes_with_flip(data: bytes, bit: int) -> bytes:
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def test_a_snapshot_read_before_its_segments_vanished_is_read_from_the_log() -> None:
    store, log, state = checkpointed()
    expected = contents(log, state)
    for name in names(store, CHECKPOINTS):
        store.delete(name)
    assert contents(log, state) == expected


def test_a_hint_of_what_never_happened_is_ignored() -> None:
    store, log, state = checkpointed()
    other, _, _ = checkpointed()
    hint = decode_model(Hint, store.get(HINT), HINT)
    foreign = decode_model(Hint, other.get(HINT), HINT)
    for name in names(other, CHECKPOINTS):
        store.put(name, other.get(name), sync=False)
    forged = [
        foreign,
        hint.model_copy(update={"epoch": 9}),
        hint.model_copy(update={"epoch": 900}),
        hint.model_copy(update={"root": foreign.root, "check": foreign.check}),
    ]
    for wrong in forged:
        store.put(HINT, encode_model(wrong), sync=False)
        assert contents(log, log.read_head()) == contents(log, state)


def test_a_log_that_was_rolled_back_behind_its_checkpoint_is_refused() -> None:
    store, log, _ = checkpointed()
    store.delete(epoch_name(9))
    store.delete(epoch_name(8))
    with pytest.raises(CorruptionError, match=rf"{epoch_name(8)} is missing.*remove .*{HINT}"):
        log.read_head()
    store.delete(HINT)
    assert log.read_head().epoch == 7
    assert contents(log, log.read_head()) == contents(log, replay(store))


def test_a_hint_of_another_database_beyond_the_head_is_ignored() -> None:
    other, _, _ = checkpointed()
    store = MemoryStore()
    state = with_orders(store, make_log(store))
    for name in (HINT, *names(other, CHECKPOINTS)):
        store.put(name, other.get(name), sync=False)
    assert make_log(store).read_head() == state
    for _ in range(8):
        state = make_log(store, 8).commit(append(), state)
    assert make_log(store).read_head().epoch == 9


def test_a_late_checkpoint_writer_leaves_the_newer_hint() -> None:
    store, log, state = checkpointed(interval=3)
    newest, before = store.get(HINT), names(store, CHECKPOINTS)
    write_checkpoint(store, log.read_at(5))
    assert len(names(store, CHECKPOINTS)) > len(before)
    assert store.get(HINT) == newest
    assert contents(log, log.read_head()) == contents(log, state)


def test_pruning_reads_only_the_segments_that_may_hold_the_value() -> None:
    store = MemoryStore()
    log = make_log(store, 1)
    state = with_orders(store, log)
    for size in (40, 8, 1):
        state = log.commit(append(*(entry(1, 1000 * size + i) for i in range(size))), state)
    table = state.tables[next(iter(state.tables))]
    assert len(table.rowsets.segments) == 3
    watched = FaultyStore(store)
    found = make_log(watched).read_rowsets(table, holds(8003))
    assert [r.entry.statistics[1].min for r in found] == ["i:8003"]
    assert len(watched.trace) == 1


def test_a_new_checkpoint_rewrites_an_entry_a_logarithmic_number_of_times() -> None:
    sizes: list[int] = []
    written = 0
    for _ in range(1000):
        refs = [segment_of(count) for count in sizes]
        merged = plan_merge(refs, 1, LIMITS)
        for ref in merged:
            sizes.remove(ref.segment.rowset_count)
        sizes.append(1 + sum(ref.segment.rowset_count for ref in merged))
        written += sizes[-1]
    assert len(sizes) <= 12
    assert written <= 20 * 1000


def segment_of(count: int) -> EntrySegmentRef:
    described = EntrySegment(
        object="a" * 32,
        check=ByteCheck(length=100 * count, crc32c=1),
        rowset_count=count,
        row_count=count,
        byte_count=count,
    )
    return EntrySegmentRef(described, 0, count)


def test_unchanged_large_segments_are_reused() -> None:
    store = MemoryStore()
    log = make_log(store, 1, limits=Limits(segment_rowsets=32))
    state = with_orders(store, log)
    state = log.commit(append(*(entry(1, i) for i in range(20))), state)
    (large,) = state.table("orders").rowsets.segments
    state = log.commit(append(*(entry(1, i) for i in range(30))), state)
    state = log.commit(overwrite_some(2), state)
    state = log.commit(delete(5, vector(1)), state)
    rowsets = state.table("orders").rowsets
    assert large in rowsets.segments
    assert rowsets.dropped
    assert rowsets.vectors
    assert rowsets.row_count == 20 + 30 + 10 - 2 - 1
    assert contents(log, log.read_head()) == contents(log, replay(store))
    state = log.commit(overwrite_some(9, 12), state)
    assert large not in state.table("orders").rowsets.segments
    assert contents(log, log.read_head()) == contents(log, replay(store))


@pytest.mark.parametrize("gone", [((0, 1),), ((0, 0), (1, 1)), ((0, 2),)])
@pytest.mark.parametrize("deleted", [None, 0, 3])
def test_a_checkpoint_counts_the_remaining_rows_after_segments_were_removed(
    gone: tuple[tuple[int, int], ...], deleted: int | None
) -> None:
    store = MemoryStore()
    log = make_log(store, limits=Limits(listed_rowsets=1))
    state = with_orders(store, log)
    for rows in (1, 10):
        state = log.commit(append(entry(rows), entry(rows)), state)
    if deleted is not None:
        state = log.commit(delete(deleted, vector(1)), state)
    for each in gone:
        state = log.commit(change(DropRowSet(table=ORDERS, rowsets=(each,))), state)
    counted = write_checkpoint(store, state).table("orders").rowsets
    left = live(log, state.table("orders"))
    assert counted.rowset_count == len(left)
    assert counted.row_count == sum(each.row_count for each in left)
    assert counted.byte_count == sum(each.entry.byte_count for each in left)


def test_segments_that_are_dropped_together_are_not_counted_twice() -> None:
    store = MemoryStore()
    log = make_log(store, 1, limits=Limits(segment_rowsets=32))
    state = log.commit(append(*(entry(1) for _ in range(20))), with_orders(store, log))
    state = log.commit(append(*(entry(2) for _ in range(20))), state)
    state = log.commit(change(DropRowSet(table=ORDERS, rowsets=((0, 1),))), state)
    assert state.table("orders").rowsets.dropped
    late = make_log(store).commit(change(DropRowSet(table=ORDERS, rowsets=((2, 21),))), state)
    assert late.table("orders").rowsets.row_count in (None, 18 * 2)


def overwrite_some(first: int, last: int | None = None):  # type: ignore[no-untyped-def]
    return overwrite((first, (last or first + 1)))


def test_the_list_of_earlier_checkpoints_stays_short_and_leads_everywhere() -> None:
    lists: dict[int, tuple[CheckpointRef, ...]] = {}
    previous: CheckpointRef | None = None
    for epoch in range(64, 64 * 2000, 64):
        older = (previous, *lists[previous.epoch]) if previous else ()
        lists[epoch] = plan_earlier(older, epoch)
        previous = CheckpointRef(epoch=epoch, root="a" * 32, check=byte_check(b"x"))
    assert max(map(len, lists.values())) <= 60
    for target in range(64, 64 * 1999, 6400):
        at, hops, best = max(lists), 0, 0
        while at > target:
            best = max([best, *(r.epoch for r in lists[at] if r.epoch <= target)])
            after = [r.epoch for r in lists[at] if r.epoch > target]
            if not after:
                break
            at, hops = min(after), hops + 1
        assert hops <= 12
        assert target - best <= 64 * 8


def test_epochs_between_checkpoints_ascend() -> None:
    refs = [CheckpointRef(epoch=e, root="a" * 32, check=byte_check(b"x")) for e in range(1, 300)]
    kept = [ref.epoch for ref in plan_earlier(refs, 300)]
    assert all(a > b for a, b in pairwise(kept))
    assert plan_earlier(refs, 100)[0].epoch == 99
