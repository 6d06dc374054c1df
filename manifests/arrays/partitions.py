"""The partitions of many RowSets as arrays. Each distinct partition is stored once.

Spec: docs/spec/partitions.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.model.entries import PartitionValues, RowSetEntry

PartitionKey = tuple[int, PartitionValues]
"""The number of a layout, and a value for each of its fields."""

NO_PARTITION: PartitionKey = (0, ())


@dataclass(frozen=True, slots=True, eq=False)
class Partitions:
    """The partitions of a list of RowSets: RowSet i has the partition `keys[index[i]]`."""

    keys: tuple[PartitionKey, ...]
    index: Integers

    def __len__(self) -> int:
        return len(self.index)

    def take(self, rows: Integers) -> Partitions:
        """Return the partitions of the RowSets at these indexes, without unused keys."""
        used, index = np.unique(self.index[rows], return_inverse=True)
        keys = tuple(self.keys[each] for each in used.tolist())
        return Partitions(keys, index.reshape(-1).astype(np.int64))

    def where(self, test: Callable[[PartitionKey], bool]) -> NDArray[np.bool_]:
        """Return for each RowSet whether its partition passes a test. Cost: one test a key."""
        return np.array([test(key) for key in self.keys], np.bool_)[self.index]


def partition_of(entry: RowSetEntry) -> PartitionKey:
    """Return the partition of a RowSet."""
    return entry.partition_layout_id, entry.partition or ()


def partitions_of(entries: Iterable[RowSetEntry]) -> Partitions:
    """Return the partitions of some RowSets."""
    return _numbered([partition_of(entry) for entry in entries])


def concat_partitions(parts: Sequence[Partitions]) -> Partitions:
    """Concatenate the partitions of several lists of RowSets."""
    keys = _numbered([key for part in parts for key in part.keys])
    starts = np.cumsum([0, *(len(part.keys) for part in parts)]).tolist()
    places = zip(starts, parts, strict=False)
    index = [keys.index[start + part.index] for start, part in places]
    return Partitions(keys.keys, np.concatenate([np.zeros(0, np.int64), *index]))


def _numbered(keys: Sequence[PartitionKey]) -> Partitions:
    numbers: dict[PartitionKey, int] = {}
    index = [numbers.setdefault(key, len(numbers)) for key in keys]
    return Partitions(tuple(numbers), np.array(index, np.int64))
