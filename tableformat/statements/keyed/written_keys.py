"""The keys of written rows, which a statement compares with one state of its table after another.

The keys of a large write do not fit into memory, so each comparison would read them again, part by
part. A busy table gets new RowSets meanwhile, and the statement would never reach its slot. Hashes
of all keys are held instead: they tell which new RowSets may have which parts of the keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import LiveRowSet, TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.kept_keys import read_key_hashes
from colonnade.tableformat.keys.key_numbers import check_values
from colonnade.tableformat.keys.key_set import key_range, ordered_values
from colonnade.tableformat.keys.parts import Words, key_hashes, part_count
from colonnade.tableformat.predicate import BoundPredicate, bind, prune
from colonnade.tableformat.predicate.expressions import conjunction
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.keyed.new_keys import NewKeys, new_keys
from colonnade.tableformat.types.compute import pc


class WrittenKeys:
    """The keys of written RowSets of a table. `key` has the key columns of a state of the table.

    One part is held. Of more parts, eight bytes a row are held, and the keys are read again when
    they are needed: once for each part. Methods raise InvalidInputError for NaN in a key column,
    CorruptionError, StoreError.
    """

    def __init__(
        self,
        store: ObjectStore,
        table: TableState,
        key: TableSchema,
        written: Sequence[RowSetEntry],
    ) -> None:
        self._store, self._table, self._key, self._written = store, table, key, written
        self._view = View.stored(table)
        self._parts = part_count(sum(entry.rows for entry in written))

    def __iter__(self) -> Iterator[NewKeys]:
        """Yield all keys, part by part."""
        return iter([self._held]) if self._parts == 1 else self._read(range(self._parts))

    def beside(
        self, rowsets: Sequence[LiveRowSet]
    ) -> Iterator[tuple[NewKeys, Sequence[LiveRowSet]]]:
        """Yield the parts of which some RowSets may have keys, each with these RowSets.

        Reads all keys of the RowSets if the written keys are more than one part.
        """
        if self._parts == 1:
            yield self._held, rowsets
            return
        near = defaultdict[int, list[LiveRowSet]](list)
        for rowset in rowsets:
            for part in self._parts_of(rowset):
                near[part].append(rowset)
        yield from zip(self._read(near), near.values(), strict=True)

    def keep(self, bounds: BoundsTable) -> NDArray[np.bool_]:
        """Return a mask of the RowSets or blocks whose bounds allow one of the keys."""
        return self._held.keys.keep(bounds) if self._parts == 1 else prune(self._range, bounds)

    @property
    def surely_differ(self) -> bool:
        """Whether one look at many keys tells that all of them differ; False if they are few."""
        hashes = self._hashes if self._parts > 1 else None
        return hashes is not None and not bool((hashes[1:] == hashes[:-1]).any())

    def _parts_of(self, rowset: LiveRowSet) -> list[int]:
        reader = RowSetReader(self._store, self._view, rowset)
        asked = read_key_hashes(reader, self._key.fields).hashes
        at = np.minimum(np.searchsorted(self._hashes, asked), len(self._hashes) - 1)
        found = asked[self._hashes[at] == asked]
        return sorted(set((found % np.uint64(self._parts)).tolist()))

    def _read(self, parts: Sequence[int] | dict[int, list[LiveRowSet]]) -> Iterator[NewKeys]:
        return new_keys(self._store, self._table, self._key, self._written, list(parts))

    @once
    def _held(self) -> NewKeys:
        """All keys, which are one part."""
        [only] = self._read([0])
        return only

    @property
    def _hashes(self) -> Words:
        """The hashes of all keys, in order."""
        return self._summary[0]

    @property
    def _range(self) -> BoundPredicate:
        """A condition that all keys meet."""
        return self._summary[1]

    @once
    def _summary(self) -> tuple[Words, BoundPredicate]:
        hashes: list[Words] = []
        ends: list[list[pa.Scalar]] = [[] for _ in self._key.fields]
        for entry in self._written:
            reader = RowSetReader(self._store, self._view, as_written(entry))
            for _, batch in reader.read(self._key.fields):
                for field, column, seen in zip(self._key.fields, batch.columns, ends, strict=True):
                    check_values(field, column)
                    seen += pc.min_max(ordered_values(field, column)).values()
                hashes.append(key_hashes(batch))
        found = np.concatenate(hashes)
        found.sort()
        ranges = (
            key_range(field, pa.array(seen))
            for field, seen in zip(self._key.fields, ends, strict=True)
        )
        return found, bind(conjunction(ranges), self._key)
