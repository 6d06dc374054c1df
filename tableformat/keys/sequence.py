"""The order in which the rows of one key count for a column. Pure.

A sequence column says how new a row is. NULL is the oldest, and of equal rows the one that arrived
later is the newer one. The row of the table arrived before all rows of the batch.
Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.keys.key_numbers import rows_by_number
from colonnade.tableformat.keys.ranks import ranks


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The rows that meet in some keys, in the order in which they arrived.

    `keys` has the number of each row's key, from 0 on without gaps. The first `stored` rows are
    those of the table, at most one for each key.
    """

    keys: NDArray[np.int64]
    stored: int

    def starts(self) -> NDArray[np.int64]:
        """Return where each key begins once the rows are in any order that this class gives."""
        counts = np.bincount(self.keys)
        return np.asarray(np.cumsum(counts) - counts, np.int64)

    def oldest_first(self, sequence: pa.Array | None) -> NDArray[np.int64]:
        """Return the rows by key, and the rows of a key from the oldest to the newest.

        `sequence` has a value for each row, or is None where rows count in order of arrival.
        """
        if sequence is None:
            return rows_by_number(self.keys)
        return np.asarray(np.lexsort((ages(sequence), self.keys)), np.int64)

    def stored_first(self, sequence: pa.Array | None) -> NDArray[np.int64]:
        """Return the rows by key, the row of the table first, and then the oldest to the newest."""
        if sequence is None:
            return rows_by_number(self.keys)
        arrived = np.arange(len(self.keys)) >= self.stored
        return np.asarray(np.lexsort((ages(sequence), arrived, self.keys)), np.int64)


def ages(sequence: pa.Array) -> NDArray[np.int64]:
    """Return numbers that order rows from the oldest to the newest. NULL, the oldest, has 0."""
    valid = np.asarray(sequence.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    return np.where(valid, ranks(sequence), 0)
