"""What a vacuum must know of a page of tables, so that it need not read the page again.

A page never changes once it is stored, and neither do the segments that its tables name. So a
summary that was true once stays true. The file with the summaries may be lost, stale or damaged:
a vacuum then reads the pages.
Spec: docs/spec/checkpoint.md#page-summaries
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from colonnade.manifests.arrays.entry_block import object_ids
from colonnade.manifests.arrays.json_arrays import (
    decode_integers,
    decode_objects,
    encode_integers,
    encode_objects,
)
from colonnade.manifests.checkpoint.paged_map import PagePlace
from colonnade.manifests.checkpoint.state_summary import (
    NO_STATES,
    StateSummary,
    StateSummaryRecord,
    decode_states,
    encode_states,
)
from colonnade.manifests.checkpoint.stored_batches import StoredBatches
from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.model.codec import decode_model, encode_model
from colonnade.manifests.model.entries import Count, ObjectIdText, TableIdText
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model
from colonnade.manifests.object_names import SUMMARIES
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store.base import ObjectStore

SIZE_LIMIT = 2**28
"""The most bytes of the file. With more pages or objects, a vacuum reads all pages."""

_RETENTION = "retention."

_NOTHING: Mapping[str, Any] = {}
"""What most pages have: one object for all of them."""


class PageSummary(NamedTuple):
    """What a vacuum must know of the tables in one page. There are `tables` of them.

    `retention` has the properties about retention of the tables that have some, by id. `parts` are
    the objects that list RowSets and batches, with their length. `objects` are the objects of the
    RowSets. They are None if the segments were not read, as with pages of caches.
    """

    tables: int
    retention: Mapping[str, Mapping[str, str]]
    parts: Mapping[str, int]
    objects: frozenset[str] | None = None


class Summaries(NamedTuple):
    """What a vacuum knows of pages of tables, and of the states of tags below the floor."""

    pages: Mapping[PagePlace, PageSummary]
    states: StateSummary

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to store."""
        return not self.pages and not self.states.roots


NO_SUMMARIES = Summaries({}, NO_STATES)
"""What a vacuum knows that has no file."""


class SummariesBody(Model):
    """The content of the file. Each page has the next `part_counts[i]` elements of `parts`.

    It also has the next `object_counts[i]` elements of `objects`. The number -1 says that the
    objects are not known.
    """

    format_version: Literal[1] = 1
    pages: Count
    bundles: tuple[ObjectIdText, ...]
    bundle_indexes: IntegerArray
    offsets: IntegerArray
    lengths: IntegerArray
    table_counts: IntegerArray
    part_counts: IntegerArray
    parts: str
    part_lengths: IntegerArray
    object_counts: IntegerArray
    objects: str
    retention: dict[Count, dict[TableIdText, dict[str, str]]]
    states: StateSummaryRecord | None = None


def summarize(tables: Collection[TableState], objects: frozenset[str] | None = None) -> PageSummary:
    """Return the summary of a page with these tables, whose RowSets have these objects.

    Requires: all RowSets are in segments.
    """
    retention, parts = dict[str, Mapping[str, str]](), dict[str, int]()
    for table in tables:
        found = {k: text for k, text in table.stored_properties.items() if k.startswith(_RETENTION)}
        if found:
            retention[table.id] = found
        parts.update(_parts(table))
    return PageSummary(len(tables), retention, parts, objects)


def _parts(table: TableState) -> Iterator[tuple[str, int]]:
    for ref in table.rowsets.segments:
        yield ref.segment.object, ref.segment.check.length
    if isinstance(table.batches, StoredBatches):
        for bundle in table.batches.source.ref.bundles:
            yield bundle.object, bundle.length


def encode_summaries(summaries: Summaries) -> bytes:
    """Write summaries. Equal summaries give equal bytes."""
    pages = sorted(summaries.pages)
    bundles = sorted({place.object for place in pages})
    index = {name: at for at, name in enumerate(bundles)}
    found = [summaries.pages[place] for place in pages]
    parts = [part for each in found if each.parts for part in sorted(each.parts.items())]
    return encode_model(
        SummariesBody(
            pages=len(pages),
            bundles=tuple(bundles),
            bundle_indexes=_integers([index[place.object] for place in pages]),
            offsets=_integers([place.offset for place in pages]),
            lengths=_integers([place.length for place in pages]),
            table_counts=_integers([each.tables for each in found]),
            part_counts=_integers([len(each.parts) for each in found]),
            parts=_ids(name for name, _ in parts),
            part_lengths=_integers([length for _, length in parts]),
            object_counts=_integers([-1 if s.objects is None else len(s.objects) for s in found]),
            objects=_ids(name for each in found if each.objects for name in sorted(each.objects)),
            retention={
                at: {key: dict(some) for key, some in sorted(each.retention.items())}
                for at, each in enumerate(found)
                if each.retention
            },
            states=encode_states(summaries.states),
        )
    )


def decode_summaries(data: bytes, name: str) -> Summaries:
    """Read summaries. Raises CorruptionError; UnsupportedFormatError for another version."""
    body = decode_model(SummariesBody, data, name)

    def integers(array: IntegerArray, count: int = body.pages) -> list[int]:
        return cast(list[int], decode_integers(array, count, name).tolist())

    part_counts, object_counts = integers(body.part_counts), integers(body.object_counts)
    indexes = integers(body.bundle_indexes)
    if min((*part_counts, *indexes), default=0) < 0 or min(object_counts, default=0) < -1:
        raise CorruptionError(f"{name} is malformed: a count is negative.")
    if max(indexes, default=-1) >= len(body.bundles):
        raise CorruptionError(f"{name} is malformed: a page is in no bundle.")
    whole = [max(0, count) for count in object_counts]
    parts = _names(body.parts, sum(part_counts), name)
    objects = _names(body.objects, sum(whole), name)
    lengths = integers(body.part_lengths, len(parts))
    listed = [*zip(parts, lengths, strict=True)]
    bundles = [body.bundles[at] for at in indexes]
    columns = bundles, integers(body.offsets), integers(body.lengths)
    places = map(PagePlace._make, zip(*columns, strict=True))
    found = [*map(_plain_summary, integers(body.table_counts))]
    counts = np.array([part_counts, object_counts])
    others = {*np.flatnonzero(counts.any(axis=0)).tolist()}
    others.update(at for at in body.retention if at < body.pages)
    part_ends, object_ends = [*accumulate(part_counts)], [*accumulate(whole)]
    for at in others:
        count = object_counts[at]
        found[at] = PageSummary(
            found[at].tables,
            body.retention.get(at, _NOTHING),
            dict(listed[part_ends[at] - part_counts[at] : part_ends[at]]) or _NOTHING,
            None if count < 0 else frozenset(objects[object_ends[at] - count : object_ends[at]]),
        )
    return Summaries(dict(zip(places, found, strict=True)), decode_states(body.states, name))


@lru_cache(maxsize=4096)
def _plain_summary(tables: int) -> PageSummary:
    """Return what most pages have: no retention of its own, and no RowSets. It is shared."""
    return PageSummary(tables, _NOTHING, _NOTHING, frozenset())


def read_summaries(store: ObjectStore) -> Summaries:
    """Return the stored summaries, or none if they are missing, damaged or of another version.

    Costs a GET. Raises StoreError.
    """
    try:
        data = store.get(SUMMARIES, limit=SIZE_LIMIT)
        return decode_summaries(data, store.locate(SUMMARIES))
    except (NotFoundError, CorruptionError, UnsupportedFormatError):
        return NO_SUMMARIES


def write_summaries(store: ObjectStore, summaries: Summaries) -> None:
    """Replace the stored summaries, unless they would take more than `SIZE_LIMIT`.

    Costs a PUT, or a DELETE without summaries. Raises StoreError; NotFoundError if the log was
    dropped.
    """
    data = b"" if summaries.is_empty else encode_summaries(summaries)
    if data and len(data) <= SIZE_LIMIT:
        store.put(SUMMARIES, data, sync=False)
    else:
        store.delete(SUMMARIES)


def _integers(numbers: list[int]) -> IntegerArray:
    return encode_integers(np.array(numbers or [0], np.int64))


def _ids(names: Iterable[str]) -> str:
    return encode_objects(np.frombuffer(bytes.fromhex("".join(names)), np.uint8))


def _names(text: str, count: int, name: str) -> list[str]:
    return object_ids(decode_objects(text, count, name))
