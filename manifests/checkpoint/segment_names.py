"""The objects that whole entry segments name, so that a vacuum need not read the segments again.

A segment never changes once it is stored. So names that were true once stay true.
Spec: docs/spec/checkpoint.md#segment-names
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from colonnade.manifests.arrays.entry_block import object_ids
from colonnade.manifests.arrays.json_arrays import decode_objects
from colonnade.manifests.checkpoint.names_file import (
    decode_lists,
    encode_ids,
    encode_lists,
    read_file,
    write_file,
)
from colonnade.manifests.model.codec import decode_model, encode_model
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model
from colonnade.manifests.object_names import SEGMENT_NAMES
from colonnade.manifests.store.object_store import ObjectStore

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
    """Write names. Equal names give equal bytes. Requires: a segment."""
    segments = sorted(names)
    counts, objects = encode_lists([sorted(names[each]) for each in segments])
    return encode_model(
        SegmentNamesBody(
            segments=len(segments), ids=encode_ids(segments), counts=counts, objects=objects
        )
    )


def decode_names(data: bytes, name: str) -> SegmentNames:
    """Read names. Raises CorruptionError; UnsupportedFormatError for another version."""
    body = decode_model(SegmentNamesBody, data, name)
    segments = object_ids(decode_objects(body.ids, body.segments, name))
    lists = decode_lists(body.counts, body.objects, body.segments, name)
    return dict(zip(segments, map(frozenset, lists), strict=True))


def read_names(store: ObjectStore) -> SegmentNames:
    """Return the stored names, or none if they are missing, damaged or of another version.

    Costs a GET. Raises StoreError.
    """
    return read_file(store, SEGMENT_NAMES, decode_names) or NOTHING_KNOWN


def write_names(store: ObjectStore, names: SegmentNames) -> None:
    """Replace the stored names, unless they would take more than `names_file.SIZE_LIMIT`.

    Costs a PUT, or a DELETE without names. Raises StoreError; NotFoundError if the log was dropped.
    """
    write_file(store, SEGMENT_NAMES, encode_names(names) if names else b"")
