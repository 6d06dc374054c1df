"""A new checkpoint keeps large segments, and rewrites small ones rarely."""

from __future__ import annotations

from colonnade.manifests.checkpoint.segment_choice import plan_merge
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.entries import ByteCheck, EntrySegment
from colonnade.manifests.state.snapshot import EntrySegmentRef


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
    return EntrySegmentRef(described, 0, count, 1)
