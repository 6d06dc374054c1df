"""Rows that share a key, merged into one row for each key. Pure.

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.keys.modes import Named, merged
from colonnade.tableformat.keys.policy import KeyPolicy
from colonnade.tableformat.keys.sequence import Arrivals
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.chosen_rows import chosen_rows


def merged_rows(
    rows: pa.RecordBatch,
    arrivals: Arrivals,
    schema: TableSchema,
    policy: KeyPolicy,
    given: Collection[int],
    named: Named,
) -> pa.RecordBatch:
    """Return one row for each key, in the order of the keys' numbers.

    `rows` has the columns of `schema`: first the rows of the table, then the new rows in order of
    arrival. `given` has the ids of the columns that the new rows bring. In any other column, a key
    keeps the value of its row in the table, or gets the value of its first new row. Raises the
    errors of `modes.merged`; `named` describes the key of a number.
    """
    starts, orders = arrivals.starts(), _Orders(rows, arrivals, schema)
    columns = []
    for column, values in zip(schema.fields, rows.columns, strict=True):
        if column.id in given:
            mode = policy.mode(column)
            order = orders.of(policy.sequences.get(column.id), sided=mode.takes_sides)
            columns.append(merged(mode, chosen_rows(values, order), starts, column, named))
        else:
            first = orders.of(None, sided=True)[starts]
            columns.append(chosen_rows(values, first))
    return pa.RecordBatch.from_arrays(columns, schema=_open(arrow_schema(schema)))


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
            order = arrivals.oldest_first if wanted[1] else arrivals.stored_first
            self._known[wanted] = order(values)
        return self._known[wanted]


def _open(schema: pa.Schema) -> pa.Schema:
    return pa.schema([each.with_nullable(True) for each in schema])
