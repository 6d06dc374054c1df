"""A vacuum sees in a segment exactly the objects of its live RowSets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_segment import describe_entry_segment, encode_entry_segment
from colonnade.manifests.arrays.segment_objects import decode_segment_objects
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.state.amendments import LaterAmendments
from colonnade.manifests.state.snapshot import EntrySegmentRef, LiveRowSet
from tests.examples_of import examples
from tests.log_samples import ORDERS, vector
from tests.manifests.arrays.rowsets import rowset_lists


def stored(rowsets: list[LiveRowSet], first: int | None = None) -> tuple[bytes, EntrySegmentRef]:
    """A segment that is referred to under its own ids, or under those from `first` on."""
    block = block_of(rowsets)
    data = encode_entry_segment(ORDERS, block)
    described = describe_entry_segment("a" * 32, data, block)
    least = rowsets[0].id
    by = 0 if first is None else first - least
    return data, EntrySegmentRef(described, least + by, rowsets[-1].id + by, 7)


@settings(max_examples=examples(40))
@given(rowset_lists(), st.data())
def test_the_objects_of_live_rowsets_are_found_and_no_others(
    rowsets: list[LiveRowSet], data: st.DataObject
) -> None:
    content, ref = stored(rowsets)
    dropped = data.draw(st.sets(st.sampled_from([each.id for each in rowsets])))
    amended = {
        each.id: LaterAmendments(vector(3))
        for each in rowsets
        if each.id not in dropped and data.draw(st.booleans())
    }
    expected: list[str] = []
    for each in rowsets:
        if each.id not in dropped:
            later = amended[each.id].vector if each.id in amended else None
            expected += (each.with_vector(later) if later else each).objects()
    found = decode_segment_objects(content, ref.segment, "x", ref.first_id)
    assert list(found.live([(each, each) for each in sorted(dropped)], amended)) == expected


@pytest.mark.slow
@settings(max_examples=20)
@given(rowset_lists())
def test_ids_count_from_the_first_one_of_the_reference(rowsets: list[LiveRowSet]) -> None:
    content, ref = stored(rowsets, first=1005)
    found = decode_segment_objects(content, ref.segment, "x", ref.first_id)
    assert found.ids.tolist() == [each.id + 1000 for each in rowsets]
    assert list(found.live([(1006, 2**31)], {})) == list(rowsets[0].objects())


@pytest.mark.slow
@settings(max_examples=20)
@given(rowset_lists())
def test_damage_is_named(rowsets: list[LiveRowSet]) -> None:
    content, ref = stored(rowsets)
    flipped = content[:-9] + bytes((content[-9] ^ 1,)) + content[-8:]
    with pytest.raises(CorruptionError, match="segment-x"):
        decode_segment_objects(flipped, ref.segment, "segment-x")
