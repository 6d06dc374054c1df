"""The objects that whole entry segments name, so that a vacuum need not read the segments again.

A segment never changes once it is stored. So names that were true once stay true. The file with the
names may be lost, stale or damaged: a vacuum then reads the segments.
Spec: docs/spec/checkpoint.md#segment-names
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate, chain
from typing import Literal, TypeAlias, cast

import numpy as np

from colonnade.manifests.arrays.entry_block import object_ids
from colonnade.manifests.arrays.json_arrays import (
    decode_integers,
    decode_objects,
    encode_integers,
    encode_objects,
)
from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.model.codec import decode_model, encode_model
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model
from colonnade.manifests.object_names import SEGMENT_NAMES
from colonnade.manifests.store.object_store import ObjectStore

SIZE_LIMIT = 2**28
"""The most bytes of the file. With more objects, a vacuum reads all segments."""

SegmentNames: TypeAlias = Mapping[str, frozenset[str]]
"""The objects of all RowSets in a segment, with vectors and replaced columns, by segment."""

NOTHING_KNOWN: SegmentNames = {}
"""The names that a vacuum knows that has no file."""


class SegmentNamesBody(Model):
    """The content of the file. Each segment has the next `counts[i]` elements of `objects`."""

    format_version: Literal[1] = 1
    segments: Count
    ids: str
    counts: IntegerArray
    objects: str


def encode_names(names: SegmentNames) -> bytes:
    """Write names. Equal names give equal bytes."""
    segments = sorted(names)
    return encode_model(
        SegmentNamesBody(
            segments=len(segments),
            ids=_encode_ids(segments),
            counts=encode_integers(np.array([len(names[each]) for each in segments], np.int64)),
            objects=_encode_ids(chain.from_iterable(sorted(names[each]) for each in segments)),
        )
    )


def decode_names(data: bytes, name: str) -> SegmentNames:
    """Read names. Raises CorruptionError; UnsupportedFormatError for another version."""
    body = decode_model(SegmentNamesBody, data, name)
    segments = object_ids(decode_objects(body.ids, body.segments, name))
    counts = cast(list[int], decode_integers(body.counts, body.segments, name).tolist())
    if min(counts, default=0) < 0:
        raise CorruptionError(f"{name} is malformed: a count is negative.")
    objects = object_ids(decode_objects(body.objects, sum(counts), name))
    return {
        segment: frozenset(objects[end - count : end])
        for segment, count, end in zip(segments, counts, accumulate(counts), strict=True)
    }


def read_names(store: ObjectStore) -> SegmentNames:
    """Return the stored names, or none if they are missing, damaged or of another version.

    Costs a GET. Raises StoreError.
    """
    try:
        data = store.get(SEGMENT_NAMES, limit=SIZE_LIMIT)
        return decode_names(data, store.locate(SEGMENT_NAMES))
    except (NotFoundError, CorruptionError, UnsupportedFormatError):
        return NOTHING_KNOWN


def write_names(store: ObjectStore, names: SegmentNames) -> None:
    """Replace the stored names, unless they would take more than `SIZE_LIMIT`.

    Costs a PUT, or a DELETE without names. Raises StoreError; NotFoundError if the log was dropped.
    """
    data = encode_names(names) if names else b""
    if data and len(data) <= SIZE_LIMIT:
        store.put(SEGMENT_NAMES, data, sync=False)
    else:
        store.delete(SEGMENT_NAMES)


def _encode_ids(ids: Iterable[str]) -> str:
    return encode_objects(np.frombuffer(bytes.fromhex("".join(ids)), np.uint8))
