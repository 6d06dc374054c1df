"""Rows of a state with the types that a feed shows, though the state had others.

    epoch 5   n is an int
    epoch 6   n widens to long, and gets the value 7
    epoch 7   restores epoch 5

A feed of the three shows n as int. It tells 7, and refuses a value that no int can hold.
Spec: docs/spec/feed.md#the-change-of-a-span
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.scan.other_columns import remedy_in_feed
from colonnade.tableformat.scan.selection import Selection, read_numbered, read_selected
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.same_values import same_values
from colonnade.tableformat.types.text_form import declared_length, fit_lengths


def has_types_of(view: View, shown: TableSchema) -> bool:
    """Return whether the columns of a view have the types that are shown."""
    return not any(_differ(view.columns.field(each.name), each) for each in shown.fields)


def read_shown(
    store: ObjectStore, view: View, rowset: LiveRowSet, numbers: Rows, shown: TableSchema
) -> Iterator[tuple[Rows, pa.RecordBatch]]:
    """Yield rows of a RowSet with the columns `shown`, as `read_numbered` does.

    Raises InvalidInputError for a value that the type that is shown does not hold; CorruptionError,
    StoreError.
    """
    own = view.columns.select(shown.names)
    for rows, batch in read_numbered(store, view, rowset, numbers, own):
        yield rows, _batch(batch, own, shown, view)


def read_held(
    store: ObjectStore, selection: Selection, shown: TableSchema
) -> Iterator[pa.RecordBatch]:
    """Yield selected rows with the columns `shown`, by their ids, without rows that do not fit.

    Requires that the view has all of the columns. Raises CorruptionError, StoreError.
    """
    view = selection.view
    fields = {each.id: each for each in view.columns.fields}
    own = TableSchema(fields=tuple(fields[each.id] for each in shown.fields))
    for _, batch in read_selected(store, selection, own):
        yield from _held(batch, own, shown, view)


def _held(
    batch: pa.RecordBatch, own: TableSchema, shown: TableSchema, view: View
) -> Iterator[pa.RecordBatch]:
    try:
        found = _batch(batch, own, shown, view)
    except InvalidInputError:
        # Few rows do not fit, so most parts are large.
        half = len(batch) // 2
        for part in (batch.slice(0, half), batch.slice(half)) if half else ():
            yield from _held(part, own, shown, view)
    else:
        yield pa.RecordBatch.from_arrays(found.columns, schema=arrow_schema(shown))


def _batch(
    batch: pa.RecordBatch, own: TableSchema, shown: TableSchema, view: View
) -> pa.RecordBatch:
    for at, (stored, wanted) in enumerate(zip(own.fields, shown.fields, strict=True)):
        if _differ(stored, wanted):
            values = _as_shown(batch.column(at), stored, wanted, view)
            batch = batch.set_column(at, wanted.name, values)
    return batch


def _differ(own: SchemaField, shown: SchemaField) -> bool:
    # Fields inside a column may have lost NOT NULL alone.
    return isinstance(own.type, str) and own.type != shown.type


def _as_shown(values: pa.Array, own: SchemaField, shown: SchemaField, view: View) -> pa.Array:
    assert isinstance(shown.type, str)
    target = storage_type(shown)
    if values.null_count == len(values):
        return pa.nulls(len(values), target)
    length = declared_length(shown.type)
    try:
        found = fit_lengths(values.cast(target), shown.type, shown.name)
        fits = length is not None or bool(np.all(same_values(found.cast(values.type), values)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        fits = False
    if not fits or (length is not None and pc.max(pc.utf8_length(found)).as_py() > length):
        raise InvalidInputError(
            f"Column {shown.name!r} of table {view.table!r} is {own.type} at epoch {view.epoch},"
            f" and has a value there that {shown.type}, the type in these changes, does not hold;"
            f" {remedy_in_feed(view.epoch)}."
        )
    return found
