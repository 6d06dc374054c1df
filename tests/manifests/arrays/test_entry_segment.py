"""A segment says what its entries say, or is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.arrays.entry_block import AddedEntries, block_of, concat_blocks
from colonnade.manifests.arrays.entry_segment import (
    decode_entry_segment,
    describe_entry_segment,
    encode_entry_segment,
    split_block,
)
from colonnade.manifests.arrays.partitions import PartitionKey
from colonnade.manifests.arrays.segment_objects import decode_segment_objects
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.codec import byte_check, seal, unseal
from colonnade.manifests.model.entries import (
    ColumnStatistics,
    SortField,
)
from colonnade.manifests.state.snapshot import EntrySegmentRef, LiveRowSet
from tests.examples_of import examples
from tests.log_samples import ORDERS, entry, table_state, vector
from tests.manifests.arrays.rowsets import (
    BOUNDS,
    LAYOUTS,
    SCHEMA,
    rowset_lists,
)
from tests.tagged import tagged, untagged


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(rowset_lists(), st.integers(0, 5))
def test_a_segment_keeps_every_entry_and_its_summary_covers_them(
    rowsets: list[LiveRowSet], cut: int
) -> None:
    parts = [p for p in (rowsets[:cut], rowsets[cut:]) if p]
    block = concat_blocks([block_of(part) for part in parts])
    data = encode_entry_segment(ORDERS, block)
    described = describe_entry_segment("a" * 32, data, block)
    ref = EntrySegmentRef(described, rowsets[0].id, rowsets[-1].id, 1)
    orders = replace(table_state(SCHEMA, rowsets), partition_layouts=LAYOUTS)
    read = decode_entry_segment(data, orders, ref, "x")
    assert read.live(np.arange(len(rowsets))) == rowsets
    objects = sorted(name for rowset in rowsets for name in rowset.objects())
    assert sorted(read.object_ids()) == objects
    assert sorted(AddedEntries(orders).object_ids()) == objects
    assert sorted(decode_segment_objects(data, described, "x").live((), {})) == objects
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
    low = min(untagged(part.min) for part in bounded)  # type: ignore[arg-type]
    high = max(untagged(part.max) for part in bounded)  # type: ignore[arg-type]
    return ColumnStatistics(min=tagged(low), max=tagged(high), nulls=nulls, nans=nans, exact=exact)


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
    big = "A" * (LIMITS.segment_inline_bytes // 2)
    heavy = block_of([LiveRowSet(i, 1, entry(1, data=big)) for i in range(5)])
    assert [b.ids.tolist() for b in split_block(heavy, ())] == [[0, 1], [2, 3], [4]]


def test_a_malformed_segment_with_a_right_checksum_is_refused() -> None:
    stated = entry(2, data="QUJD").model_copy(update={"clean_epoch": 8, "written_ms": (4, 6)})
    rowsets = [LiveRowSet(i, 1, stated) for i in range(3)]
    block = block_of(rowsets)
    data = encode_entry_segment(ORDERS, block)
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
        (
            b'"clean_epochs":{"type":"const","base":"8"',
            b'"clean_epochs":{"type":"const","base":"-2"',
        ),
        (b'ms":{"type":"const","base":"4"', b'ms":{"type":"const","base":"7"'),
        (b'ms":{"type":"const","base":"4"', b'ms":{"type":"const","base":"-1"'),
        (b'ms":{"type":"const","base":"6"', b'ms":{"type":"const","base":"-1"'),
        (ORDERS.encode(), b"0" * 16),
    ):
        assert old in data
        body = data[28:-2].replace(old, new)
        forged = b'{"crc32c":"%08x","body":%b}\n' % (byte_check(body).crc32c, body)
        described = describe_entry_segment("a" * 32, forged, block)
        with pytest.raises(CorruptionError, match="seg"):
            decode_entry_segment(forged, table_state(), EntrySegmentRef(described, 0, 2, 1), "seg")


def test_a_segment_that_deletes_more_rows_than_there_are_is_refused() -> None:
    block = block_of([LiveRowSet(0, 1, entry(2), vector(3))])
    data = encode_entry_segment(ORDERS, block)
    ref = EntrySegmentRef(describe_entry_segment("a" * 32, data, block), 0, 0, 1)
    with pytest.raises(CorruptionError, match="do not fit together"):
        decode_entry_segment(data, table_state(), ref, "seg")


def test_a_forged_count_takes_no_memory() -> None:
    block = block_of([LiveRowSet(0, 1, entry())])
    body = unseal(encode_entry_segment(ORDERS, block), "seg")
    data = seal(body.replace(b'"count":1', b'"count":4294967295'))
    stated = describe_entry_segment("a" * 32, data, block).model_copy(
        update={"rowset_count": 2**32 - 1}
    )
    with pytest.raises(CorruptionError, match="4294967295 object ids have"):
        decode_entry_segment(data, table_state(), EntrySegmentRef(stated, 0, 2**32 - 2, 1), "seg")


PARTITIONED = entry(2).model_copy(update={"partition_layout_id": 1, "partition": ("i:7",)})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"partitions":[["i:7"]],', b"", "partitions of its entries are missing"),
        (b',"partition_indexes":{"type":"const","base":"0","data":""}', b"", "are missing"),
        (b'[["i:7"]]', b'[["i:7","i:7"]]', "partition"),
        (b'[["i:7"]]', b'[["s:a"]]', "'s:a' does not fit"),
        (b'"partition_indexes":{"type":"const","base":"0"', b"1", "partition_indexes"),
        (b'"partition_layout_ids":{"type":"const","base":"1"', b"9", "partition"),
        (b'"sort_order_ids":{"type":"const","base":"0"', b"3", "order"),
    ],
)
def test_a_segment_whose_partitions_or_order_its_table_lacks_is_refused(
    old: bytes, new: bytes, said: str
) -> None:
    block = block_of([LiveRowSet(0, 1, PARTITIONED)])
    orders = replace(table_state(SCHEMA), partition_layouts=LAYOUTS)
    body = unseal(encode_entry_segment(ORDERS, block), "seg")
    assert body.count(old) == 1
    forged = seal(body.replace(old, old[:-2] + new + b'"' if new.isdigit() else new))
    ref = EntrySegmentRef(describe_entry_segment("a" * 32, forged, block), 0, 0, 1)
    with pytest.raises(CorruptionError, match=f"seg.*{said}"):
        decode_entry_segment(forged, orders, ref, "seg")
