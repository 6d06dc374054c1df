"""Rows that are older than a deletion of their key, from one state of the table to later ones.

Spec: docs/spec/keys.md#tombstones
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.tombstones import Integers, Mask, find_deletions
from colonnade.tableformat.statements.keyed.given import Given
from colonnade.tableformat.statements.keyed.merging import Merging


class Late:
    """Which rows of a merge are late; `given` are the columns that the rows were given values in.

    `late` is empty before the first call of `rows`.
    """

    def __init__(self, merging: Merging, given: Given) -> None:
        self._store, policy = merging.log.store, merging.policy
        wanted = policy.row_sequence if policy.remembers_deletions else None
        fields = merging.table.schema.fields
        self._sequence = next((each for each in fields if each.id == wanted), None)
        self._is_given = wanted in given
        self._seen: tuple[str, ...] = ()
        self.late: Mask = np.zeros(0, np.bool_)

    def rows(
        self,
        table: TableState,
        tombstones: Sequence[LiveRowSet],
        keys: KeySet,
        numbers: Integers,
        read: Callable[[Integers], pa.Table],
    ) -> Mask | None:
        """Return which rows are late at a state of the table; None if these are the same as before.

        `numbers` has the number of each row's key in `keys`. `read` returns some of the rows, with
        their sequence. Reads nothing if no tombstone has come. Raises CorruptionError, StoreError.
        """
        if len(self.late) != len(numbers):
            self.late = np.zeros(len(numbers), np.bool_)
        seen = tuple(each.entry.object for each in tombstones)
        if self._sequence is None or seen == self._seen:
            return None
        found = find_deletions(self._store, table, tombstones, keys, self._sequence)
        self._seen = seen
        late = np.zeros(len(numbers), np.bool_)
        rows = np.flatnonzero(np.isin(numbers, found.keys))
        if len(rows):
            late[rows] = found.late(numbers[rows], self._values(read, rows))
        if np.array_equal(late, self.late):
            return None
        self.late = late
        return late

    def _values(self, read: Callable[[Integers], pa.Table], rows: Integers) -> pa.Array:
        assert self._sequence is not None
        values = read(rows)[self._sequence.name].combine_chunks()
        # Rows that were not given the column are the oldest, whatever its default is.
        return values if self._is_given else pa.nulls(len(values), values.type)
