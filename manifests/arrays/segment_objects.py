"""The objects that an entry segment names, read without the rest of its entries. Pure.

For a vacuum, which reads all segments and needs nothing else of them.
Spec: docs/spec/checkpoint.md#segments
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from colonnade.manifests.arrays.entry_block import object_ids
from colonnade.manifests.arrays.entry_segment import EntrySegmentBody
from colonnade.manifests.arrays.json_arrays import Integers, decode_integers, decode_objects
from colonnade.manifests.model.codec import decode_model, verify
from colonnade.manifests.model.entries import (
    ColumnReplacement,
    DeletionVectorEntry,
    EntrySegment,
)
from colonnade.manifests.state.amendments import NOTHING_LATER, LaterAmendments


@dataclass(frozen=True, slots=True)
class SegmentObjects:
    """The objects that a segment names: by RowSet, without what else the entries say.

    `vectors` and `replacements` are by position.
    """

    objects: list[str]
    ids: Integers
    vectors: Mapping[int, DeletionVectorEntry]
    replacements: Mapping[int, tuple[ColumnReplacement, ...]]

    def live(
        self, dropped: Sequence[tuple[int, int]], amended: Mapping[int, LaterAmendments]
    ) -> Iterator[str]:
        """Yield the objects of the live RowSets after later changes to the RowSets.

        Requires that no column was replaced later: whether a replacement is still used depends on
        its columns.
        """
        alive = np.ones(len(self.objects), bool)
        for first, last in dropped:
            alive &= (self.ids < first) | (self.ids > last)
        assert not any(each.replaced for each in amended.values())
        for at in np.flatnonzero(alive).tolist():
            yield self.objects[at]
            yield from (each.object for each in self.replacements.get(at, ()))
            later = amended.get(int(self.ids[at]), NOTHING_LATER).vector
            vector = later or self.vectors.get(at)
            if vector is not None:
                yield vector.object


def decode_segment_objects(
    data: bytes, segment: EntrySegment, name: str, first_id: int = 0
) -> SegmentObjects:
    """Read the objects of a segment's RowSets, and the ids of the RowSets from `first_id` on.

    Raises CorruptionError, UnsupportedFormatError.
    """
    verify(data, segment.check, name)
    body = decode_model(EntrySegmentBody, data, name)
    objects = object_ids(decode_objects(body.objects, segment.rowset_count, name))
    ids = decode_integers(body.ids, segment.rowset_count, name) + first_id
    return SegmentObjects(objects, ids, body.vectors, body.replacements or {})
