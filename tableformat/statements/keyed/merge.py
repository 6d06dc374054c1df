"""Match incoming rows with existing rows by key, merge the rows of each key, and write them.

A batch with the keys 9, 3 and 9 for a table that has a row with the key 3:

    rows      existing 3, incoming 9, 3, 9
    keys      0, 1, 0, 1                       existing keys come first
    merged    updated 3, inserted 9            one row for each key
    origins   the row with the key 3, `NEW`    the rows that they replace

`MergedRowSets` are the RowSets in which merged rows are, while a statement waits for its slot.
Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, RowOrigins, Rows, origins_of
from colonnade.manifests.commit.change import AddedRows, DeletedRows, ResolvedRows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.generated import generated_fields
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_parts import KeyPart
from colonnade.tableformat.keys.key_set import KeySet, key_schema, rows_by_number
from colonnade.tableformat.keys.merged_rows import Arrivals, merged_rows
from colonnade.tableformat.progress import step
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.scan.selection import read_numbered
from colonnade.tableformat.statements.keyed.incoming import IncomingRows, Integers
from colonnade.tableformat.statements.statement import RowCounts, write_batches
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.chosen_rows import chosen_table_rows
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conform import CONFORMED_ROWS, PART_LIMIT, conform
from colonnade.tableformat.write.constraints import shown_values
from colonnade.tableformat.write.identity import draws_of, identified, open_schema
from colonnade.tableformat.write.run import dated, stamped
from colonnade.tableformat.write.settings import WriteSettings


@dataclass(slots=True)
class MatchedRows:
    """Existing rows, then incoming rows, and the number of each row's key.

    The first rows, `existing` of them, are those of the table. They are left out where nothing
    depends on them. Keys below `matched` are in the table, and all further ones are new. The rows
    are merged once. `origins` has the row of the table that each key replaces, or `NEW`.
    """

    table: TableState
    incoming: IncomingRows
    rows: pa.Table
    keys: Integers
    existing: int
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

    def _merged_part(self, part: Integers, first: int) -> pa.RecordBatch:
        """Merge some rows, whose keys have the numbers from `first` on."""
        arrivals = Arrivals(self.keys[part] - first, int(np.searchsorted(part, self.existing)))
        rows = self._rows_of(part)
        merged = merged_rows(
            rows,
            arrivals,
            self.incoming.schema,
            self.incoming.policy,
            self.incoming.columns,
            lambda number: shown_values(
                rows, int(np.flatnonzero(arrivals.keys == number)[-1]), self._key_names
            ),
        )
        return self._ready(merged)

    def _rows_of(self, part: Integers) -> pa.RecordBatch:
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
                last = rows.select(self._key_names).slice(rows.num_rows - 1)  # an incoming row
                one = last.combine_chunks().to_batches()[0]
                raise InvalidInputError(
                    f"The values in column {name!r} of table {self.table.name!r} that rows with the"
                    f" key {shown_values(one, 0, self._key_names)} are merged from take more than"
                    " 2 GiB together; write smaller values."
                ) from error
        return pa.RecordBatch.from_arrays(columns, schema=rows.schema)

    @property
    def _key_names(self) -> tuple[str, ...]:
        return key_schema(self.table).names

    def _ready(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        for field in generated_fields(self.table.schema):
            at = rows.schema.get_field_index(field.name)
            nothing = pa.nulls(rows.num_rows, rows.schema.field(at).type)
            rows = rows.set_column(at, rows.schema.field(at), nothing)
        return conform(rows, open_schema(self.table.schema))


def match(
    store: ObjectStore,
    table: TableState,
    incoming: IncomingRows,
    rows: pa.Table,
    numbers: Integers,
    found: Sequence[MatchingRows],
) -> MatchedRows:
    """Match incoming rows with the existing rows that were found for their keys.

    `numbers` has the number of the key of each of the `rows`. Reads the columns that the result
    depends on. Raises CorruptionError, StoreError.
    """
    matched = np.concatenate([np.zeros(0, np.int64), *(each.keys for each in found)])
    count = int(numbers.max(initial=-1)) + 1
    renumbered = np.empty(count, np.int64)
    is_new = np.ones(count, np.bool_)
    is_new[matched] = False
    renumbered[matched] = np.arange(len(matched))
    renumbered[is_new] = np.arange(len(matched), count)
    keys, existing = renumbered[numbers], 0
    needed = [each for each in incoming.schema.fields if _depends(each, incoming)]
    if needed and len(matched):
        schema = pa.schema([each.with_nullable(True) for each in rows.schema])
        there = pa.Table.from_batches(_existing(store, needed, found, schema), schema)
        rows = pa.concat_tables([there, pa.Table.from_arrays(rows.columns, schema=schema)])
        existing = len(matched)
        keys = np.concatenate([np.arange(len(matched)), keys])
    origins = np.full(count, NEW, np.int64)
    origins[: len(matched)] = np.concatenate(
        [np.zeros(0, np.int64), *(origins_of(each.rowset.id, each.rows) for each in found)]
    )
    return MatchedRows(table, incoming, rows, keys, existing, len(matched), origins)


def _depends(column: SchemaField, incoming: IncomingRows) -> bool:
    """Return whether a merged row depends on what the row of the table has in a column."""
    if column.generated is not None:
        return False
    return column.id not in incoming.columns or incoming.policy.needs_existing(column)


def _existing(
    store: ObjectStore,
    columns: Sequence[SchemaField],
    found: Iterable[MatchingRows],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield the existing rows that were found, in order, with NULL in all other columns."""
    wanted = TableSchema(fields=tuple(columns))
    for each in found:
        for _, batch in read_numbered(store, each.view, each.rowset, each.rows, wanted):
            there = dict(zip(batch.schema.names, batch.columns, strict=True))
            arrays = [
                there[field.name] if field.name in there else pa.nulls(batch.num_rows, field.type)
                for field in schema
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _row_bytes(rows: pa.Table) -> Integers:
    """Return about how many bytes each row takes: exactly for texts, the mean for other columns."""
    texts = [each for each in rows.columns if _is_text(each.type)]
    others = rows.nbytes - sum(each.nbytes for each in texts)
    found = np.full(rows.num_rows, others // max(rows.num_rows, 1), np.int64)
    for column in texts:
        found += pc.fill_null(pc.binary_length(column), 0).to_numpy()
    return found


def _is_text(found: pa.DataType) -> bool:
    return bool(pa.types.is_string(found) or pa.types.is_binary(found))


def _parts(starts: Integers, bytes_before: Integers) -> Iterator[tuple[int, int]]:
    """Divide keys into stretches of few rows and bytes, at least one key each.

    The rows of a key begin at `starts`, with `bytes_before` bytes before them.
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


class MergedRowSets:
    """The RowSets of one merge, and which of their rows do not count.

    They are those that tasks have written before, if any, and those of the merged rows. What was
    written for a key stays as long as the row of the table with this key stays.
    """

    def __init__(
        self,
        log: StatementLog,
        table: TableState,
        incoming: IncomingRows,
        job_id: str,
        settings: WriteSettings | None = None,
    ) -> None:
        self._log, self._table, self._incoming = log, table, incoming
        self._job_id, self._settings = job_id, settings
        self.begin_again()

    def begin_again(self) -> None:
        """Leave out all merged rows, and none of the rows of the tasks."""
        self._merged: list[RowSetEntry] = []
        self._origins: dict[str, RowOrigins] = {}
        self._left_out: defaultdict[str, BitMap] = defaultdict(BitMap)

    def write(self, matched: MatchedRows) -> None:
        """Write merged rows. Raises the errors of `write_batches`."""
        rows, sources = self._identified(matched), RowSources()
        sources.add(matched.origins)
        with step("upsert", self._table.name, "rows", matched.key_count) as advance:
            self._merged += write_batches(
                self._log.plain, self._table, self._job_id, rows, self._settings, advance, sources
            )
        self._origins.update(sources.found)

    def withdraw(self, keys: KeySet) -> None:
        """Leave out the merged rows of some keys."""
        view = View.stored(self._table, map(as_written, self._merged))
        for found in find_rows(self._log.store, view, keys):
            self._left_out[found.rowset.entry.object] |= BitMap(found.rows)

    def withdraw_all(self) -> None:
        """Leave out all merged rows."""
        self._merged.clear()

    def leave_out(self, part: KeyPart, rows: Integers) -> None:
        """Leave out incoming rows, where tasks have written them."""
        if self._incoming.written:
            rowsets, numbers = part.places[0][rows], part.places[1][rows]
            for at in np.unique(rowsets).tolist():
                entry = self._incoming.written[at]
                self._left_out[entry.object] |= BitMap(numbers[rowsets == at])

    def left_out(self, entry: RowSetEntry) -> FrozenBitMap:
        """Return the rows of a RowSet that are left out."""
        return FrozenBitMap(self._left_out.get(entry.object, ()))

    def result(
        self,
        replaced: Sequence[DeletedRows],
        inserted: int,
        expired: int,
        origins: Mapping[str, RowOrigins],
    ) -> ResolvedRows:
        """Return what the statement adds and replaces; `inserted` of its rows have new keys.

        Of the replaced rows, `expired` had expired, so that the rows with their keys are new.
        `origins` says which rows the rows of the tasks replace, by the objects of their RowSets.
        """
        written, known = [*self._incoming.written, *self._merged], {**self._origins, **origins}
        added = (
            AddedRows(
                dated(stamped(each, self._table), self._table, self._log.present_ms),
                self.left_out(each),
                known.get(each.object, RowOrigins(each.rows)),
            )
            for each in written
        )
        counts = RowCounts(
            rows_updated=sum(len(each.rows or ()) for each in replaced) - expired,
            rows_inserted=inserted,
            rowsets_touched=len(replaced),
            bytes_written=sum(each.bytes for each in written),
        )
        kept = tuple(each for each in added if len(each.deleted) < each.rowset.rows)
        return ResolvedRows(kept, tuple(replaced), counts.metrics())

    def _identified(self, matched: MatchedRows) -> Iterator[pa.RecordBatch]:
        """Yield all merged rows. Only new rows get values in identity columns."""
        schema = self._table.schema
        exact = arrow_schema(schema)
        for batch in matched.updated():
            yield pa.RecordBatch.from_arrays(batch.columns, schema=exact)
        if self._incoming.written or not identity_columns(schema):
            # Tasks have drawn values for the rows that they wrote.
            for batch in matched.inserted():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=exact)
            return
        draws = draws_of(self._log.plain, self._table, self._job_id)
        yield from identified(matched.inserted(), self._table.name, schema, draws)
