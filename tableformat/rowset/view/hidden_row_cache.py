"""Hidden rows of RowSets that this process has found, so that the next scan need not find them.

Small ranges that were deleted cut many blocks, and each scan would decode the key columns of all of
these blocks. Neither a RowSet nor a region ever changes, so the rows are kept.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from pyroaring import FrozenBitMap

from colonnade.manifests.model.regions import Region
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.write_options import MIB

LIMIT_BYTES = 16 * MIB
"""The most memory of all kept rows of a process."""

_ENTRY_BYTES = 500
"""What an entry takes besides its rows and regions."""

_REGION_BYTES = 400

Ranges = Sequence[tuple[int, int]] | None

Regions = tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    store: weakref.ref[ObjectStore]
    regions: Regions
    rows: FrozenBitMap
    nbytes: int


class HiddenRowCache:
    """The rows inside the regions that views hide, up to a number of bytes. For any thread.

    Of each RowSet, the rows of the regions are kept that were asked for last.
    """

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], _CacheEntry] = OrderedDict()
        self.byte_count = 0

    def get(
        self, store: ObjectStore, rowset: LiveRowSet, regions: Regions, ranges: Ranges
    ) -> FrozenBitMap | None:
        """Return the rows of a RowSet that regions hide in some ranges, if they are kept."""
        name = _name(store, rowset, ranges)
        with self._lock:
            found = self._kept.get(name)
        if found is None or found.store() is not store or found.regions != regions:
            return None
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
        return found.rows

    def keep(
        self,
        store: ObjectStore,
        rowset: LiveRowSet,
        regions: Regions,
        ranges: Ranges,
        rows: FrozenBitMap,
    ) -> None:
        """Keep hidden rows of a RowSet; those that were not used for longest make room for them."""
        name = _name(store, rowset, ranges)
        nbytes = _ENTRY_BYTES + _REGION_BYTES * len(regions) + len(rows.serialize())
        if nbytes > self._limit:
            return
        with self._lock:
            self._drop(name)
            self._kept[name] = _CacheEntry(weakref.ref(store), regions, rows, nbytes)
            self.byte_count += nbytes
            while self.byte_count > self._limit:
                self._drop(next(iter(self._kept)))

    def _drop(self, name: tuple[object, ...]) -> None:
        kept = self._kept.pop(name, None)
        self.byte_count -= 0 if kept is None else kept.nbytes


def _name(store: ObjectStore, rowset: LiveRowSet, ranges: Ranges) -> tuple[object, ...]:
    """Return the store, the RowSet, its replaced columns, and the ranges of its rows."""
    return (
        id(store),
        rowset.entry.object,
        tuple(each.object for each in rowset.replacements),
        None if ranges is None else tuple(ranges),
    )
