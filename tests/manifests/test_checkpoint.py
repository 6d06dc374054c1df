"""Checkpoints say what the log says, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manifests.bounds import BoundsTable
from manifests.checkpoint import CheckpointRef, Hint, plan_earlier, plan_merge
from manifests.checkpoint_reader import read_root, read_segment
from manifests.checkpoint_writer import write_checkpoint
from manifests.codec import byte_check, decode_model, encode_model, seal, unseal
from manifests.entries import ByteCheck, ColumnStatistics, PartitionField, SegmentEntry, SortField
from manifests.entry_block import AddedEntries, block_of, concat_blocks
from manifests.errors import CorruptionError
from manifests.log import Log
from manifests.names import CHECKPOINTS, HINT, checkpoint_name, epoch_name
from manifests.operations import DropRowSet
from manifests.partitions import PartitionKey
from manifests.schema import SchemaField, TableSchema
from manifests.segment import (
    INLINE_LIMIT,
    decode_segment,
    describe_segment,
    encode_segment,
    split_block,
)
from manifests.snapshot import LiveRowSet, SegmentRef, Snapshot
from manifests.statistics import decode_bound, encode_bound
from manifests.store import MemoryStore
from manifests.vectors import decode_floats, decode_integers, encode_floats, encode_integers
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
    table_state,
    vector,
    with_orders,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
BOUNDS: dict[int, st.SearchStrategy[Any]] = {
    1: INT64,
    2: st.floats(allow_nan=False),
    3: st.text(max_size=3),
    4: st.binary(max_size=3),
    5: st.integers(-(10**37), 10**37),
}
TYPES = ("long", "double", "string", "binary", "decimal(38,0)")
SCHEMA = TableSchema(
    fields=tuple(SchemaField(id=i, name=f"c{i}", type=t) for i, t in enumerate(TYPES, 1))
)

BY_BUCKET = PartitionField(transform="bucket", column=3, argument=16)
BY_LONG = PartitionField(transform="truncate", column=1, argument=10)
LAYOUTS = ((BY_BUCKET,), (BY_LONG, BY_BUCKET), (BY_LONG,))
PARTITION_VALUES = st.sampled_from((None, "i:0", "i:7"))


@given(st.lists(INT64, min_size=1, max_size=50))
def test_integers_come_back_from_a_vector(values: list[int]) -> None:
    array = np.array(values, np.int64)
    vector = encode_integers(array)
    assert decode_integers(vector, len(values), "x").tolist() == values


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_doubles_come_back_bit_by_bit(values: list[float]) -> None:
    array = np.array(values, np.float64)
    assert decode_floats(encode_floats(array), len(values), "x").tobytes() == array.tobytes()


@st.composite
def statistics(draw: st.DrawFn, column: int) -> ColumnStatistics | None:
    shape = draw(st.integers(0, 4))
    if not shape:
        return None
    low, high = sorted(draw(st.tuples(BOUNDS[column], BOUNDS[column])))
    return ColumnStatistics(
        min=encode_bound(low) if shape > 1 else None,
        max=encode_bound(high) if shape > 2 else None,
        nulls=draw(st.integers(0, 6)),
        exact=shape == 4,
    )


@st.composite
def rowset_lists(draw: st.DrawFn) -> list[LiveRowSet]:
    made = []
    columns = draw(st.sets(st.sampled_from(sorted(BOUNDS)), max_size=3))
    partitioned = draw(st.booleans())
    for number in range(draw(st.integers(1, 5))):
        inline, irregular, unsynced, deleted = draw(st.tuples(*[st.booleans()] * 4))
        found = {column: draw(statistics(column)) for column in columns}
        changes = {
            "cuts": (2, 6) if irregular else 6,
            "statistics": {c: s for c, s in found.items() if s is not None},
            "unsynced": unsynced,
        }
        if partitioned and (layout := draw(st.integers(0, len(LAYOUTS)))):
            values = draw(st.tuples(*(PARTITION_VALUES for _ in LAYOUTS[layout - 1])))
            changes |= {"partition_layout_id": layout, "partition": values}
        made.append(
            LiveRowSet(
                id=5 + 3 * number,
                epoch=1 + number % 2,
                entry=entry(6, data="QUJD" if inline else None).model_copy(update=changes),
                vector=vector(2) if deleted else None,
            )
        )
    return made


@settings(max_examples=150, deadline=None)
@given(rowset_lists(), st.integers(0, 5))
def test_a_segment_keeps_every_entry_and_its_summary_covers_them(
    rowsets: list[LiveRowSet], cut: int
) -> None:
    parts = [p for p in (rowsets[:cut], rowsets[cut:]) if p]
    block = concat_blocks([block_of(part) for part in parts])
    data = encode_segment(ORDERS, block, with_ids=True)
    described = describe_segment("a" * 32, data, block)
    ref = SegmentRef(described, rowsets[0].id, rowsets[-1].id)
    orders = replace(table_state(SCHEMA, rowsets), partition_layouts=LAYOUTS)
    read = decode_segment(data, orders, ref, "x")
    assert read.live(np.arange(len(rowsets))) == rowsets
    for column in BOUNDS:
        found = [r.entry.statistics.get(column) for r in rowsets]
        if any(s is None for s in found):
            assert column not in described.statistics
        else:
            parts_of_it = [(s, r.entry.rows) for s, r in zip(found, rowsets, strict=True) if s]
            assert described.statistics[column] == merged(parts_of_it)
    check_same_bounds(AddedEntries(orders).bounds(), read.bounds())


def merged(parts: list[tuple[ColumnStatistics, int]]) -> ColumnStatistics:
    """Statistics of the union of parts, each with its row count, in plain Python."""
    nulls, nans = (sum(getattr(part, name) for part, _ in parts) for name in ("nulls", "nans"))
    bounded = [part for part, _ in parts if part.min is not None and part.max is not None]
    unknown = [
        part for part, rows in parts if part not in bounded and part.nulls + part.nans < rows
    ]
    exact = all(part.exact for part, _ in parts)
    if unknown or not bounded:
        return ColumnStatistics(nulls=nulls, nans=nans, exact=exact and not unknown)
    low = min(decode_bound(part.min) for part in bounded)  # type: ignore[arg-type]
    high = max(decode_bound(part.max) for part in bounded)  # type: ignore[arg-type]
    return ColumnStatistics(
        min=encode_bound(low), max=encode_bound(high), nulls=nulls, nans=nans, exact=exact
    )


def check_same_bounds(expected, found) -> None:  # type: ignore[no-untyped-def]
    assert expected.rows.tolist() == found.rows.tolist()
    assert expected.columns.keys() == found.columns.keys()
    for column, bounds in expected.columns.items():
        other = found.columns[column]
        known = bounds.known.tolist()
        assert other.known.tolist() == known
        assert other.low[bounds.known].tolist() == bounds.low[bounds.known].tolist()
        assert other.high[bounds.known].tolist() == bounds.high[bounds.known].tolist()
        assert other.nulls.tolist() == bounds.nulls.tolist()
        assert other.nans.tolist() == bounds.nans.tolist()
    assert partition_keys(expected) == partition_keys(found)


def partition_keys(table: BoundsTable) -> list[PartitionKey]:
    assert table.partitions is not None
    return [table.partitions.keys[each] for each in table.partitions.index]


def test_segments_are_cut_by_bytes_and_in_key_order() -> None:
    lows = [5, 3, 9, 1, 7, 2]
    rowsets = [LiveRowSet(i, 1, entry(1, low)) for i, low in enumerate(lows)]
    block = block_of(rowsets)
    by_key = [b.ids.tolist() for b in split_block(block, (SortField(column=1),))]
    assert by_key == [[3, 5, 1, 0, 4, 2]]
    assert [b.ids.tolist() for b in split_block(block, ())] == [[0, 1, 2, 3, 4, 5]]
    big = "A" * (INLINE_LIMIT // 2)
    heavy = block_of([LiveRowSet(i, 1, entry(1, data=big)) for i in range(5)])
    assert [b.ids.tolist() for b in split_block(heavy, ())] == [[0, 1], [2, 3], [4]]


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
        checkpoint_name(ref.segment.object): lambda: read_segment(store, orders, ref),
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
        merged = plan_merge(refs, 1)
        for ref in merged:
            sizes.remove(ref.segment.rowset_count)
        sizes.append(1 + sum(ref.segment.rowset_count for ref in merged))
        written += sizes[-1]
    assert len(sizes) <= 12
    assert written <= 20 * 1000


def segment_of(count: int) -> SegmentRef:
    described = SegmentEntry(
        object="a" * 32,
        check=ByteCheck(length=100 * count, crc32c=1),
        rowset_count=count,
        row_count=count,
        byte_count=count,
    )
    return SegmentRef(described, 0, count)


def test_unchanged_large_segments_are_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manifests.checkpoint.LARGE_SEGMENT", 16)
    store = MemoryStore()
    log = make_log(store, 1)
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
def test_a_checkpoint_counts_what_is_left_when_segments_are_gone(
    gone: tuple[tuple[int, int], ...], deleted: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manifests.spill.SPILL_COUNT", 1)
    store = MemoryStore()
    log = make_log(store)
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


def test_segments_that_go_with_others_are_not_counted_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("manifests.checkpoint.LARGE_SEGMENT", 16)
    store = MemoryStore()
    log = make_log(store, 1)
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


def test_a_malformed_segment_with_a_right_checksum_is_refused() -> None:
    rowsets = [LiveRowSet(i, 1, entry(2, data="QUJD")) for i in range(3)]
    block = block_of(rowsets)
    data = encode_segment(ORDERS, block, with_ids=True)
    for old, new in (
        (b'"count":3', b'"count":4'),
        (b'"data":{"0"', b'"data":{"7"'),
        (b'"rows":{"type":"const","base":"2"', b'"rows":{"type":"const","base":"0"'),
        (b'"places":{"type":"const","base":"2"', b'"places":{"type":"const","base":"3"'),
        (b'"type":"u8","base":"0","data":"AAEC"', b'"type":"u8","base":"0","data":"AAE="'),
        (b'"flags":{"type":"const","base":"7"', b'"flags":{"type":"const","base":"16"'),
        (b'"nulls":{"type":"const","base":"1"', b'"nulls":{"type":"const","base":"-1"'),
        (b'"nans":{"type":"const","base":"2"', b'"nans":{"type":"const","base":"9007199254740992"'),
        (b'"bytes":{"type":"const","base":"102"', b'"bytes":{"type":"const","base":"101"'),
        (ORDERS.encode(), b"0" * 16),
    ):
        assert old in data
        body = data[28:-2].replace(old, new)
        forged = b'{"crc32c":"%08x","body":%b}\n' % (byte_check(body).crc32c, body)
        described = describe_segment("a" * 32, forged, block)
        with pytest.raises(CorruptionError, match="seg"):
            decode_segment(forged, table_state(), SegmentRef(described, 0, 2), "seg")


def test_a_segment_that_deletes_more_rows_than_there_are_is_refused() -> None:
    block = block_of([LiveRowSet(0, 1, entry(2), vector(3))])
    data = encode_segment(ORDERS, block, with_ids=True)
    ref = SegmentRef(describe_segment("a" * 32, data, block), 0, 0)
    with pytest.raises(CorruptionError, match="do not belong together"):
        decode_segment(data, table_state(), ref, "seg")


def test_a_forged_count_takes_no_memory() -> None:
    block = block_of([LiveRowSet(0, 1, entry())])
    body = unseal(encode_segment(ORDERS, block, with_ids=False), "seg")
    data = seal(body.replace(b'"count":1', b'"count":4294967295'))
    stated = describe_segment("a" * 32, data, block).model_copy(update={"rowset_count": 2**32 - 1})
    with pytest.raises(CorruptionError, match="object ids for 4294967295"):
        decode_segment(data, table_state(), SegmentRef(stated, 0, 2**32 - 2, epoch=1), "seg")


def test_epochs_between_checkpoints_ascend() -> None:
    refs = [CheckpointRef(epoch=e, root="a" * 32, check=byte_check(b"x")) for e in range(1, 300)]
    kept = [ref.epoch for ref in plan_earlier(refs, 300)]
    assert all(a > b for a, b in pairwise(kept))
    assert plan_earlier(refs, 100)[0].epoch == 99
