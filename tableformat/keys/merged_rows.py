"""Rows that share a key, merged into one row for each key. Pure.

The existing row of a key arrived before its incoming rows. A sequence column says how new a row
is. NULL is the oldest, and of equal rows the one that arrived later is the newer one. In a table
in which `fare` adds up, and `driver` has the sequence `at`:

    id   at   driver   fare
     1    5   Ada        10     the existing row
     1    9   Eve         1     an incoming row
     1    3   Old         1     an incoming row that is late
     1    9   Eve        12     the merged row

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.keys.key_set import rows_by_number
from colonnade.tableformat.keys.modes import Named, merged
from colonnade.tableformat.keys.policy import KeyPolicy
from colonnade.tableformat.keys.ranks import ranks
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.chosen_rows import chosen_rows


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The rows of some keys, in the order in which they arrived.

    `keys` has the number of each row's key, from 0 on without gaps. The first rows, `existing` of
    them, are those of the table, at most one for each key.
    """

    keys: NDArray[np.int64]
    existing: int

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

    def existing_first(self, sequence: pa.Array | None) -> NDArray[np.int64]:
        """Return the rows by key: the existing row first, then from the oldest to the newest."""
        if sequence is None:
            return rows_by_number(self.keys)
        arrived = np.arange(len(self.keys)) >= self.existing
        return np.asarray(np.lexsort((ages(sequence), arrived, self.keys)), np.int64)


def merged_rows(
    rows: pa.RecordBatch,
    arrivals: Arrivals,
    schema: TableSchema,
    policy: KeyPolicy,
    columns: Collection[int],
    named: Named,
) -> pa.RecordBatch:
    """Return one row for each key, in the order of the keys' numbers.

    `rows` has the columns of `schema`: first the existing rows, then the incoming rows in order of
    arrival. `columns` has the ids of those in which the incoming rows have values. In any other
    column, a key keeps the value of its existing row, or gets that of its first incoming row.
    Raises the errors of `modes.merged`; `named` describes the key of a number.
    """
    starts, orders = arrivals.starts(), _Orders(rows, arrivals, schema)
    arrays = []
    for column, values in zip(schema.fields, rows.columns, strict=True):
        if column.id in columns:
            mode = policy.mode(column)
            order = orders.of(policy.sequences.get(column.id), sided=mode.takes_sides)
            arrays.append(merged(mode, chosen_rows(values, order), starts, column, named))
        else:
            first = orders.of(None, sided=True)[starts]
            arrays.append(chosen_rows(values, first))
    return pa.RecordBatch.from_arrays(arrays, schema=_open(arrow_schema(schema)))


class _Orders:
    """The order of rows for a column, computed once for each sequence column."""

    def __init__(self, rows: pa.RecordBatch, arrivals: Arrivals, schema: TableSchema) -> None:
        self._rows, self._arrivals = rows, arrivals
        self._places = {column.id: at for at, column in enumerate(schema.fields)}
        self._known: dict[tuple[int | None, bool], NDArray[np.int64]] = {}

    def of(self, sequence: int | None, *, sided: bool) -> NDArray[np.int64]:
        wanted = (sequence, sided or sequence is None)
        if wanted not in self._known:
            values = None if sequence is None else self._rows.column(self._places[sequence])
            arrivals = self._arrivals
            order = arrivals.oldest_first if wanted[1] else arrivals.existing_first
            self._known[wanted] = order(values)
        return self._known[wanted]


def ages(sequence: pa.Array) -> NDArray[np.int64]:
    """Return numbers that order rows from the oldest to the newest. NULL, the oldest, has 0."""
    valid = np.asarray(sequence.is_valid().to_numpy(zero_copy_only=False), np.bool_)
    return np.where(valid, ranks(sequence), 0)


def _open(schema: pa.Schema) -> pa.Schema:
    return pa.schema([each.with_nullable(True) for each in schema])
