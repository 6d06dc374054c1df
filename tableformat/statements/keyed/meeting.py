"""The rows of a batch beside the rows of the table that they meet, and what they become together.

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.origins import NEW, Rows, origins_of
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.generated import generated_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.find import MatchingRows
from colonnade.tableformat.keys.key_numbers import rows_by_number
from colonnade.tableformat.keys.merged_rows import merged_rows
from colonnade.tableformat.keys.modes import REPLACE
from colonnade.tableformat.keys.policy import KeyPolicy
from colonnade.tableformat.keys.sequence import Arrivals
from colonnade.tableformat.scan.selection import read_numbered
from colonnade.tableformat.statements.keyed.batch import KeyedBatch
from colonnade.tableformat.types.chosen_rows import chosen_table_rows
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conform import CONFORMED_ROWS, PART_LIMIT, conform
from colonnade.tableformat.write.constraints import shown_values
from colonnade.tableformat.write.identity import open_schema


@dataclass(slots=True)
class Meeting:
    """Rows of the table, then rows of a batch, and the number of each row's key.

    The first `stored` rows are those of the table. They are left out where nothing depends on them.
    Keys below `matched` are in the table, and all further ones are new. The rows are merged once.
    `origins` has the row of the table that each key replaces, or `NEW`.
    """

    table: TableState
    batch: KeyedBatch
    policy: KeyPolicy
    key: TableSchema
    rows: pa.Table
    keys: NDArray[np.int64]
    stored: int
    matched: int
    origins: Rows

    def updated(self) -> Iterator[pa.RecordBatch]:
        """Yield what the rows of the table become. Raises InvalidInputError."""
        return self._merged(0, self.matched)

    def inserted(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows with new keys. Raises InvalidInputError."""
        return self._merged(self.matched, self.key_count)

    @property
    def key_count(self) -> int:
        """The number of keys, each of which becomes one row."""
        return int(self.keys.max(initial=-1)) + 1

    def _merged(self, first: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the merged rows of some keys, in the types of the table, a part at a time.

        Generated columns are NULL. Identity columns may be NULL.
        """
        if first == end:
            return
        order = rows_by_number(self.keys)
        starts = np.searchsorted(self.keys[order], np.arange(first, end + 1))
        ends = np.append(0, np.cumsum(_row_bytes(self.rows)[order]))[starts]
        for low, high in _parts(starts, ends):
            # Ascending: first rows of the table, and then new rows in the order of arrival.
            part = np.sort(order[starts[low] : starts[high]])
            yield self._merged_part(part, first + low)

    def _merged_part(self, part: NDArray[np.int64], first: int) -> pa.RecordBatch:
        """Merge some rows, whose keys have the numbers from `first` on."""
        arrivals = Arrivals(self.keys[part] - first, int(np.searchsorted(part, self.stored)))
        rows = self._rows_of(part)
        merged = merged_rows(
            rows,
            arrivals,
            self.batch.schema,
            self.policy,
            self.batch.given,
            lambda number: shown_values(
                rows, int(np.flatnonzero(arrivals.keys == number)[-1]), self._key_names
            ),
        )
        return self._ready(merged)

    def _rows_of(self, part: NDArray[np.int64]) -> pa.RecordBatch:
        """Return some of the rows. Values may be huge, so nothing keeps all rows once they left."""
        if len(part) < self.rows.num_rows:
            return self._one_batch(chosen_table_rows(self.rows, part))
        rows, self.rows = self.rows, self.rows.schema.empty_table()
        return self._one_batch(rows)

    def _one_batch(self, rows: pa.Table) -> pa.RecordBatch:
        columns = []
        for name, column in zip(rows.column_names, rows.columns, strict=True):
            try:
                columns.append(column.combine_chunks())
            except pa.ArrowInvalid as error:
                last = rows.select(self._key_names).slice(rows.num_rows - 1)  # a row of the batch
                one = last.combine_chunks().to_batches()[0]
                raise InvalidInputError(
                    f"The values in column {name!r} of table {self.table.name!r} that rows with the"
                    f" key {shown_values(one, 0, self._key_names)} are merged from take more than"
                    " 2 GiB together; write smaller values."
                ) from error
        return pa.RecordBatch.from_arrays(columns, schema=rows.schema)

    @property
    def _key_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.key.fields)

    def _ready(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        for field in generated_fields(self.table.schema):
            at = rows.schema.get_field_index(field.name)
            nothing = pa.nulls(rows.num_rows, rows.schema.field(at).type)
            rows = rows.set_column(at, rows.schema.field(at), nothing)
        return conform(rows, open_schema(self.table.schema))


def meet(
    store: ObjectStore,
    table: TableState,
    key: TableSchema,
    batch: KeyedBatch,
    numbers: NDArray[np.int64],
    found: Sequence[MatchingRows],
    policy: KeyPolicy,
) -> Meeting:
    """Bring the rows of a batch together with the rows of the table that were found for their keys.

    `numbers` has the number of the key of each row of the batch. Reads the columns that the result
    depends on. Raises CorruptionError, StoreError.
    """
    matched = np.concatenate([np.zeros(0, np.int64), *(each.keys for each in found)])
    count = int(numbers.max(initial=-1)) + 1
    renumbered = np.empty(count, np.int64)
    is_new = np.ones(count, np.bool_)
    is_new[matched] = False
    renumbered[matched] = np.arange(len(matched))
    renumbered[is_new] = np.arange(len(matched), count)
    rows, keys, stored = batch.rows, renumbered[numbers], 0
    needed = [each for each in batch.schema.fields if _depends(each, batch, policy)]
    if needed and len(matched):
        schema = pa.schema([each.with_nullable(True) for each in rows.schema])
        there = pa.Table.from_batches(_stored(store, needed, found, schema), schema)
        rows = pa.concat_tables([there, pa.Table.from_arrays(rows.columns, schema=schema)])
        stored = len(matched)
        keys = np.concatenate([np.arange(len(matched)), keys])
    origins = np.full(count, NEW, np.int64)
    origins[: len(matched)] = np.concatenate(
        [np.zeros(0, np.int64), *(origins_of(each.rowset.id, each.rows) for each in found)]
    )
    return Meeting(table, batch, policy, key, rows, keys, stored, len(matched), origins)


def _depends(column: SchemaField, batch: KeyedBatch, policy: KeyPolicy) -> bool:
    """Return whether a merged row depends on what the row of the table has in a column."""
    if column.generated is not None:
        return False
    merges = policy.mode(column) != REPLACE or column.id in policy.sequences
    return column.id not in batch.given or merges


def _stored(
    store: ObjectStore,
    columns: Sequence[SchemaField],
    found: Iterable[MatchingRows],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the table that were found, in order, with NULL in all other columns."""
    wanted = TableSchema(fields=tuple(columns))
    for each in found:
        for _, batch in read_numbered(store, each.view, each.rowset, each.rows, wanted):
            there = dict(zip(batch.schema.names, batch.columns, strict=True))
            arrays = [
                there[field.name] if field.name in there else pa.nulls(batch.num_rows, field.type)
                for field in schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _row_bytes(rows: pa.Table) -> NDArray[np.int64]:
    """Return about how many bytes each row takes: exactly for texts, the mean for other columns."""
    texts = [each for each in rows.columns if _is_text(each.type)]
    others = rows.nbytes - sum(each.nbytes for each in texts)
    found = np.full(rows.num_rows, others // max(rows.num_rows, 1), np.int64)
    for column in texts:
        found += pc.fill_null(pc.binary_length(column), 0).to_numpy()
    return found


def _is_text(found: pa.DataType) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_binary(found))


def _parts(starts: NDArray[np.int64], bytes_before: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Divide keys into stretches of few rows and bytes, at least one key each.

    The rows of a key begin at `starts`, after so many bytes.
    """
    low, last = 0, len(starts) - 1
    while low < last:
        limits = (
            (starts, starts[low] + CONFORMED_ROWS),
            (bytes_before, bytes_before[low] + PART_LIMIT),
        )
        fitting = (int(np.searchsorted(*each, side="right")) - 1 for each in limits)
        high = max(low + 1, min(fitting))
        yield low, high
        low = high
