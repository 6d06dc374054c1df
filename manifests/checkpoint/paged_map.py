"""A large map from text to JSON values, stored so that one entry costs one small read. Pure.

    a reference            -> pages: bundle, offset, length of each      (in a checkpoint's root)
    a bundle               -> sealed pages, one after another            (an immutable object)
    page i of 2^k pages    -> the entries whose key has a CRC32C with i as its first k bits

A changed entry rewrites its page into a new bundle. All other pages keep their place.
Spec: docs/spec/checkpoint.md#maps
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from colonnade.manifests.arrays.json_arrays import Integers, decode_integers, encode_integers
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import crc32c, decode_model, encode_model
from colonnade.manifests.model.map_ref import PAGE_LIMIT, Bundle, MapRef
from colonnade.manifests.model.schema import Model
from colonnade.manifests.once import once


class Page(Model):
    """The entries of one page."""

    format_version: Literal[1] = 1
    entries: dict[str, Any]


class PagePlace(NamedTuple):
    """The place of one page: `length` bytes at `offset` of the object."""

    object: str
    offset: int
    length: int


@dataclass(frozen=True)
class PageTable:
    """The pages of a map as arrays."""

    count: int
    bundles: tuple[Bundle, ...]
    bundle_indexes: Integers
    offsets: Integers
    lengths: Integers

    @property
    def page_count(self) -> int:
        """The number of pages, a power of two."""
        return len(self.lengths)

    @property
    def byte_count(self) -> int:
        """The bytes of all pages."""
        return int(self.lengths.sum())

    @property
    def objects(self) -> frozenset[str]:
        """The objects that hold pages."""
        return frozenset(bundle.object for bundle in self.bundles)

    @once
    def places(self) -> frozenset[PagePlace]:
        """The places of all pages that are not empty."""
        names, stored = [bundle.object for bundle in self.bundles], self.lengths > 0
        columns = (self.bundle_indexes, self.offsets, self.lengths)
        bundles, offsets, lengths = (each[stored].tolist() for each in columns)
        parts = zip([names[at] for at in bundles], offsets, lengths, strict=True)
        return frozenset(map(PagePlace._make, parts))

    def place(self, page: int) -> PagePlace | None:
        """Return the place of a page, or None for an empty page."""
        length = int(self.lengths[page])
        if not length:
            return None
        bundle = self.bundles[int(self.bundle_indexes[page])]
        return PagePlace(bundle.object, int(self.offsets[page]), length)

    def pages_at(self, places: Collection[PagePlace]) -> list[int]:
        """Return the pages at these places."""
        offsets = np.array([place.offset for place in places], np.int64)
        pages = np.flatnonzero(np.isin(self.offsets, offsets) & (self.lengths > 0))
        return [int(page) for page in pages if self.place(page) in places]

    def pages_in(self, bundle: str) -> list[tuple[int, int]]:
        """Return the offset and length of each page in an object."""
        numbers = [number for number, each in enumerate(self.bundles) if each.object == bundle]
        pages = np.isin(self.bundle_indexes, numbers) & (self.lengths > 0)
        return [*zip(self.offsets[pages].tolist(), self.lengths[pages].tolist(), strict=True)]

    def pages_beside(self, other: PageTable) -> list[int]:
        """Return the pages that are not empty, and not at the same place in another table."""
        stored = self.lengths > 0
        if self.page_count == other.page_count:
            numbers = {bundle.object: number for number, bundle in enumerate(other.bundles)}
            bundles = np.array([numbers.get(bundle.object, -1) for bundle in self.bundles] or [-1])
            stored &= (
                (bundles[self.bundle_indexes] != other.bundle_indexes)
                | (self.offsets != other.offsets)
                | (self.lengths != other.lengths)
            )
        return [int(page) for page in np.flatnonzero(stored)]

    def places_beside(self, other: PageTable) -> list[PagePlace]:
        """Return the places of the pages that are not at the same place in another table."""
        return [place for page in self.pages_beside(other) if (place := self.place(page))]


def empty_table() -> PageTable:
    """Return the pages of an empty map."""
    none = np.zeros(1, np.int64)
    return PageTable(0, (), none, none, none)


def page_of(key: str, page_count: int) -> int:
    """Return the page that contains a key. Requires: `page_count` is a power of two."""
    return (crc32c(key.encode()) * page_count) >> 32


def page_count_for(byte_count: int, page_bytes: int) -> int:
    """Return the number of pages of a map: a power of two.

    The average page takes at most `page_bytes`, unless the map has `PAGE_LIMIT` pages.
    """
    return min(PAGE_LIMIT, 1 << max(0, -(-byte_count // page_bytes) - 1).bit_length())


def encode_page(entries: dict[str, Any]) -> bytes:
    """Return the sealed bytes of a page. Requires: the values are JSON values."""
    return encode_model(Page(entries=entries))


def decode_page(data: bytes, name: str) -> dict[str, Any]:
    """Read the sealed bytes of a page. Raises CorruptionError, UnsupportedFormatError."""
    return decode_model(Page, data, name).entries


def encode_table(table: PageTable) -> MapRef:
    """Return the places of the pages of a map in the form that a root or record stores."""
    return MapRef(
        count=table.count,
        pages=table.page_count,
        bundles=table.bundles,
        bundle_indexes=encode_integers(table.bundle_indexes),
        offsets=encode_integers(table.offsets),
        lengths=encode_integers(table.lengths),
    )


def decode_table(ref: MapRef, name: str) -> PageTable:
    """Read the places of the pages of a map.

    Raises CorruptionError if a page lies outside its bundle.
    """
    if ref.pages & (ref.pages - 1):
        raise CorruptionError(f"{name} is malformed: a map has {ref.pages} pages.")
    bundle_indexes = decode_integers(ref.bundle_indexes, ref.pages, name)
    offsets = decode_integers(ref.offsets, ref.pages, name)
    lengths = decode_integers(ref.lengths, ref.pages, name)
    stored = lengths > 0
    ends = np.array([bundle.length for bundle in ref.bundles] or [0], np.int64)
    inside = (bundle_indexes >= 0) & (bundle_indexes < max(1, len(ref.bundles)))
    if (
        lengths.min() < 0
        or offsets.min() < 0
        or not inside.all()
        or (stored.any() and not ref.bundles)
        # The sum of an offset and a length may exceed 64 bits.
        or (lengths > ends[bundle_indexes] - offsets)[stored].any()
    ):
        raise CorruptionError(f"{name} is malformed: a page of a map lies outside its bundle.")
    return PageTable(ref.count, ref.bundles, bundle_indexes, offsets, lengths)


def plan_moves(table: PageTable, rewritten: Iterable[int], new_bytes: int) -> list[int]:
    """Return the unchanged pages to copy into the new bundle.

    Two kinds of bundles are copied: those with less than half of their bytes still in use, and
    small ones. A small bundle has at most twice the bytes gathered before it. So stored bytes stay
    below twice the live ones, and the number of bundles is logarithmic.
    """
    lengths = table.lengths.copy()
    lengths[[*rewritten]] = 0
    used = np.bincount(table.bundle_indexes, lengths, minlength=max(1, len(table.bundles)))
    moved: set[int] = set()
    gathered = new_bytes
    for index in sorted(range(len(table.bundles)), key=lambda i: (int(used[i]), i)):
        live = int(used[index])
        if 2 * live < table.bundles[index].length or live <= 2 * gathered:
            moved.add(index)
            gathered += live
    wanted = np.isin(table.bundle_indexes, np.array([*moved], np.int64)) & (lengths > 0)
    return [int(page) for page in np.flatnonzero(wanted)]
