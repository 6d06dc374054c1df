"""Read and write maps in pages. Every page is checked before it is used.

Spec: docs/spec/checkpoint.md#maps
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from colonnade.manifests.checkpoint.paged_map import (
    PagePlace,
    PageTable,
    decode_page,
    empty_table,
    encode_page,
    page_count_for,
    page_of,
    plan_moves,
)
from colonnade.manifests.checkpoint.stored_object import read_checkpoint_pages
from colonnade.manifests.model.map_ref import Bundle
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.store.object_store import ObjectStore

_HELD_PAGES = 64
"""The most pages that a reader keeps in memory."""


class StoredMap:
    """Reads entries of a map. Can be shared between threads.

    Every method raises NotFoundError, CorruptionError, UnsupportedFormatError or StoreError if a
    page cannot be read.
    """

    def __init__(self, store: ObjectStore, table: PageTable) -> None:
        self.store = store
        self.table = table
        self._held: dict[int, dict[str, Any]] = {}

    def __len__(self) -> int:
        return self.table.count

    def get(self, key: str) -> Any | None:
        """Return the value of a key, or None. Costs a small GET, unless its page is in memory."""
        return self._page(page_of(key, self.table.page_count)).get(key)

    def items(self, before: PageTable | None = None) -> Iterator[tuple[str, Any]]:
        """Yield all entries, in no order. Costs a GET for each bundle.

        Leaves out the pages that are at the same place in `before`, an earlier state of the map.
        """
        pages = self.table.pages_beside(before or empty_table())
        for page, data in self.read_pages(pages):
            yield from decode_page(data, self._name(page)).items()

    def read_pages(self, pages: list[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the sealed bytes of pages that are not empty. Costs a GET for each bundle."""
        by_object: defaultdict[str, list[tuple[int, PagePlace]]] = defaultdict(list)
        for page in pages:
            place = self.table.place(page)
            if place is not None:
                by_object[place.object].append((page, place))
        for name, found in by_object.items():
            ranges = [(place.offset, place.length) for _, place in found]
            data = read_checkpoint_pages(self.store, name, ranges)
            yield from zip([page for page, _ in found], data, strict=True)

    def page(self, page: int) -> dict[str, Any]:
        """Return a copy of the entries of a page."""
        return dict(self._page(page))

    def _page(self, page: int) -> dict[str, Any]:
        held = self._held.get(page)
        if held is not None:
            return held
        place = self.table.place(page)
        if place is None:
            return {}
        ranges = [(place.offset, place.length)]
        [data] = read_checkpoint_pages(self.store, place.object, ranges)
        found = decode_page(data, self._name(page))
        if len(self._held) >= _HELD_PAGES:
            self._held = {}
        self._held[page] = found
        return found

    def _name(self, page: int) -> str:
        place = self.table.place(page)
        where = self.store.locate(checkpoint_name(place.object)) if place else self.store.url
        return f"{where} (page {page} of a map)"


def write_map(
    store: ObjectStore,
    before: PageTable | None,
    changes: Mapping[str, Any],
    write: Callable[[bytes], str],
    page_bytes: int,
) -> PageTable:
    """Store a map after changes. The value None removes an entry.

    `write` stores an object and returns its id. Costs a GET for each bundle with a rewritten or
    moved page, and one PUT; nothing without changes. Raises as `StoredMap` and `write`.
    """
    old = StoredMap(store, before or empty_table())
    if not changes and before is not None:
        return before
    entries, more = _changed_pages(old, changes)
    pages = {page: encode_page(each) if each else b"" for page, each in entries.items()}
    total = int(old.table.lengths.sum()) + sum(
        len(data) - int(old.table.lengths[page]) for page, data in pages.items()
    )
    count = old.table.page_count
    wanted = page_count_for(total, page_bytes)
    if wanted > count or 4 * wanted < count:
        return _write_anew(old, changes, wanted, write)
    moved = plan_moves(old.table, pages, sum(map(len, pages.values())))
    pages.update(old.read_pages(moved))
    return _write_pages(old.table, pages, len(old) + more, write)


def _changed_pages(
    old: StoredMap, changes: Mapping[str, Any]
) -> tuple[dict[int, dict[str, Any]], int]:
    """Return the new entries of changed pages, and by how many entries the map grows."""
    by_page: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for key, value in changes.items():
        by_page[page_of(key, old.table.page_count)][key] = value
    entries: dict[int, dict[str, Any]] = {page: {} for page in by_page}
    for page, data in old.read_pages(sorted(by_page)):
        entries[page] = decode_page(data, old.store.url)
    before = sum(map(len, entries.values()))
    for page, changed in by_page.items():
        after = {**entries[page], **changed}
        entries[page] = {key: value for key, value in after.items() if value is not None}
    return entries, sum(map(len, entries.values())) - before


def _write_anew(
    old: StoredMap, changes: Mapping[str, Any], count: int, write: Callable[[bytes], str]
) -> PageTable:
    """Store the whole map with another number of pages."""
    everything = {**dict(old.items()), **changes}
    entries: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for key, value in everything.items():
        if value is not None:
            entries[page_of(key, count)][key] = value
    none = np.zeros(count, np.int64)
    pages = {page: encode_page(each) for page, each in entries.items()}
    total = sum(map(len, entries.values()))
    return _write_pages(PageTable(0, (), none, none, none), pages, total, write)


def _write_pages(
    old: PageTable, pages: Mapping[int, bytes], count: int, write: Callable[[bytes], str]
) -> PageTable:
    """Store pages in one new bundle, and leave out bundles without used pages."""
    indexes, offsets, lengths = (
        each.copy() for each in (old.bundle_indexes, old.offsets, old.lengths)
    )
    bundles, at, parts = [*old.bundles], 0, []
    for page, data in sorted(pages.items()):
        indexes[page], offsets[page], lengths[page] = len(bundles), at, len(data)
        parts.append(data)
        at += len(data)
    if at:
        bundles.append(Bundle(object=write(b"".join(parts)), length=at))
    stored = lengths > 0
    kept = np.unique(indexes[stored])
    numbers = np.zeros_like(indexes)
    numbers[stored] = np.searchsorted(kept, indexes[stored])
    return PageTable(count, tuple(bundles[index] for index in kept), numbers, offsets, lengths)
