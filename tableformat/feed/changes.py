"""The change feed of a table between two epochs, as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.feed.steps import Step
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.feed.difference import Difference, difference
from colonnade.tableformat.feed.images import (
    AFTER,
    BEFORE,
    CHANGES,
    DELETE,
    INSERT,
    Image,
    images,
)
from colonnade.tableformat.feed.same_key import with_same_keys
from colonnade.tableformat.predicate import Predicate, bind, evaluate
from colonnade.tableformat.predicate.implied_predicate import implied
from colonnade.tableformat.types.arrow_types import arrow_schema

FEED_COLUMNS = (
    SchemaField(id=2_147_483_011, name="_change_type", type="string", nullable=False),
    SchemaField(id=2_147_483_012, name="_commit_version", type="long", nullable=False),
    SchemaField(id=2_147_483_013, name="_commit_timestamp", type="timestamp", nullable=False),
    SchemaField(id=2_147_483_014, name="_row_handler", type="long", nullable=False),
)
"""The columns that a feed has beside those of the table. The first three are as in Delta and Spark.

`_commit_version` is the epoch, and `_commit_timestamp` its date. `_row_handler` says where the row
is, or was: RowSet * 2**32 + row.
"""

VERSION, TIMESTAMP = FEED_COLUMNS[1:3]

_OWN = frozenset(each.id for each in FEED_COLUMNS)
_WITHOUT_UPDATES = {BEFORE: DELETE, AFTER: INSERT}


def known_columns(shown: TableState) -> TableSchema:
    """Return all columns that a condition on the changes of a table can name."""
    return TableSchema(fields=(*shown.schema.fields, *FEED_COLUMNS))


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed shows: columns of a table, its own columns, and the rows that meet `where`.

    `shown` is the table whose columns rows have. Its columns may be NULL at any depth, as
    `table_with_nulls` makes them. Rows that have expired at `now_ms` do not occur in
    it (ms since 1970 UTC; None: nothing has expired). Values that a job has filled in are changes
    if `fills`, and other static values if `statics`. Unless `updates`, an update is a deleted row
    and an inserted row.
    """

    reader: LogReader
    shown: TableState
    columns: TableSchema
    where: Predicate | None = None
    now_ms: int | None = None
    fills: bool = False
    statics: bool = False
    updates: bool = True

    @property
    def fields(self) -> TableSchema:
        """The columns of the result, in order."""
        return TableSchema(fields=(*self.columns.fields, *FEED_COLUMNS))

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the result."""
        return arrow_schema(self.fields)

    @property
    def _known(self) -> TableSchema:
        return known_columns(self.shown)

    def differences(self, steps: Iterable[Step], *, net: bool = False) -> Iterator[Difference]:
        """Yield what each epoch changed, one epoch after another, or once what all of them did.

        Leaves out epochs that the condition rules out. Rows with the same key are paired. Raises
        the errors of `difference` and `with_same_keys`.
        """
        spans = (steps,) if net else ((step,) for step in steps if self.kinds(step))
        for span in spans:
            found = difference(
                self.reader, span, self.shown, self.now_ms, fills=self.fills, statics=self.statics
            )
            if found is not None:
                yield with_same_keys(self.reader.store, found)

    def rows(self, found: Difference) -> Iterator[pa.RecordBatch]:
        """Yield the changes of a difference, with the number and date of its last epoch.

        Raises the errors of `images`.
        """
        last = found.last
        read, condition = self._read(), self.of_table()
        for image in images(self.reader.store, found, read, condition, self.kinds(last)):
            batch = self._shown(image, last)
            if batch.num_rows:
                yield batch

    def _read(self) -> TableSchema:
        """Return the columns to read: those of the result, and those of the condition."""
        if self.where is None:
            return self.columns
        ids = {each.id for each in self.columns.fields} | bind(self.where, self._known).column_ids
        others = (each for each in self.shown.schema.fields if each.id in ids)
        names = dict.fromkeys((*self.columns.names, *(each.name for each in others)))
        return self.shown.schema.select([*names])

    def of_table(self) -> Predicate | None:
        """Return what the condition says of the columns of the table."""
        ids = {each.id for each in self.shown.schema.fields}
        return None if self.where is None else implied(self.where, self._known, ids)

    def kinds(self, step: Step) -> list[str]:
        """Return the kinds of changes of an epoch whose rows may meet the condition."""
        return [each for each in CHANGES if self.where is None or self._may_show(each, step)]

    def name_of(self, change: str) -> str:
        """Return the text that `_change_type` has for a kind of change."""
        return change if self.updates else _WITHOUT_UPDATES.get(change, change)

    def _may_show(self, change: str, step: Step) -> bool:
        assert self.where is not None
        own = implied(self.where, self._known, _OWN - {FEED_COLUMNS[-1].id})
        rows = _own_columns(self.name_of(change), step, np.zeros(1, np.int64))
        met = evaluate(bind(own, self._known), rows).fill_null(False)
        return bool(met[0].as_py())

    def _shown(self, image: Image, step: Step) -> pa.RecordBatch:
        own = _own_columns(self.name_of(image.change), step, image.numbers)
        names = [*image.rows.schema.names, *own.schema.names]
        rows = pa.RecordBatch.from_arrays([*image.rows.columns, *own.columns], names=names)
        if self.where is not None:
            met = evaluate(bind(self.where, self._known), rows).fill_null(False)
            rows = rows.filter(met)
        return pa.RecordBatch.from_arrays(
            [rows.column(name) for name in self.schema.names], schema=self.schema
        )


def _own_columns(change: str, step: Step, numbers: Rows) -> pa.RecordBatch:
    """Return the columns of a feed for rows with one kind of change, at one epoch."""
    schema, count = arrow_schema(TableSchema(fields=FEED_COLUMNS)), len(numbers)
    time = pa.scalar(step.epoch.time_ms * 1000, pa.int64()).cast(schema.field(2).type)
    values = [pa.scalar(change), pa.scalar(step.number, pa.int64()), time]
    columns = [pa.repeat(each, count) for each in values]
    return pa.RecordBatch.from_arrays([*columns, pa.array(numbers)], schema=schema)
