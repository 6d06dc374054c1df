"""Rows that a writer encodes, with what several encodings ask of them; each is computed once."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.once import once
from colonnade.tableformat.rowset.block_statistics import Statistics, measure
from colonnade.tableformat.rowset.column import Order, StoredColumn
from colonnade.tableformat.rowset.encodings import dictionary, narrowed
from colonnade.tableformat.rowset.encodings.encoding import Encoded
from colonnade.tableformat.rowset.encodings.integers import (
    as_integers,
    bounds_of,
    is_stored_as_integer,
)


@dataclass(frozen=True)
class Rows:
    """At least one row of a column, in its storage type, which take `size` bytes as an array."""

    array: pa.Array
    column: StoredColumn
    size: int

    @once
    def integers(self) -> pa.Array | None:
        """The rows as integers; None if their type is not stored as such."""
        return as_integers(self.array) if is_stored_as_integer(self.column.type) else None

    @once
    def statistics(self) -> Statistics:
        """The statistics of the rows, as the index states them."""
        nulls, order = self.array.null_count, self.column.order
        if nulls == len(self.array):
            return Statistics(nulls, exact=order is not Order.NONE)
        if pa.types.is_nested(self.column.type):
            return Statistics(nulls, exact=False)
        if self.integers is not None:
            return Statistics(nulls, 0, *bounds_of(self.integers))
        # Statistics of floats need every row: a dictionary holds a NaN once, but NaNs count.
        found = None if order is Order.FLOAT else self.indexed
        if found is None or found.stream is None:
            return measure(self.array, order, nulls)
        return measure(found.stream.dictionary, order, nulls)

    @once
    def narrowed(self) -> Encoded | None:
        """The rows as narrowed integers; None for another type, and where it gains nothing."""
        low, high = self.statistics.low, self.statistics.high
        if self.integers is None or not isinstance(low, int) or not isinstance(high, int):
            return None
        return narrowed.encode(self.integers, low, high, self.column.type)

    @once
    def indexed(self) -> Encoded | None:
        """The rows as a dictionary; None where that does not take clearly fewer bytes."""
        array, kind = self.array, self.column.type
        if self.integers is not None:
            found = self.narrowed
            rival = array if found is None or found.stream is None else found.stream
            width = rival.type.bit_width
            # A dictionary index must be narrower than the value.
            share = dictionary.DISTINCT_NUMBERS if width > 16 else dictionary.DISTINCT_SHORTS
            return dictionary.encode(array, share, rival.nbytes) if width > 8 else None
        # One row repeats nothing, and may be huge.
        if len(array) == 1 or pa.types.is_boolean(kind) or pa.types.is_nested(kind):
            return None
        floats = self.column.order is Order.FLOAT
        share = dictionary.DISTINCT_NUMBERS if floats else dictionary.DISTINCT_TEXTS
        return dictionary.encode(array, share, self.size)
