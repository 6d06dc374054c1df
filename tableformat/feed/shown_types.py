"""Rows of a state with the types that a feed shows, though the state had others.

    epoch 5   n is an int
    epoch 6   n widens to long, and gets the value 7
    epoch 7   restores epoch 5

A feed of the three shows n as int. It tells 7, and refuses a value that no int can hold.
Spec: docs/spec/feed.md#the-change-of-a-span
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    type_text,
)
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.scan.other_columns import remedy_in_feed, with_nulls
from colonnade.tableformat.scan.selection import Selection, read_numbered, read_selected
from colonnade.tableformat.types.arrow_types import arrow_schema, arrow_type
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.same_values import same_values
from colonnade.tableformat.types.sound_arrays import validity
from colonnade.tableformat.types.storage_form import map_entries, relabel
from colonnade.tableformat.types.text_form import declared_length, fit_lengths


def has_types_of(view: View, shown: TableSchema) -> bool:
    """Return whether the columns of a view have the types that are shown."""
    return next(_other_types(view, shown), None) is None


def refuse_other_types(view: View, shown: TableSchema) -> None:
    """Raise InvalidInputError if a column of a view has another type than the one that is shown."""
    for own, wanted in _other_types(view, shown):
        raise InvalidInputError(
            f"Column {wanted.name!r} of table {view.table!r} is {type_text(own.type)} at epoch"
            f" {view.epoch}, and these changes show it as {type_text(wanted.type)};"
            f" {remedy_in_feed(view.epoch)}."
        )


def _other_types(view: View, shown: TableSchema) -> Iterator[tuple[SchemaField, SchemaField]]:
    """Yield the columns of a view that have other types than are shown, each with that one."""
    own = view.columns.select(shown.names)
    pairs = zip(own.fields, shown.fields, strict=True)
    return (pair for pair in pairs if _differ(*pair))


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
            values = _Fit(view).fit(batch.column(at), stored, wanted, wanted.name)
            batch = batch.set_column(at, wanted.name, values)
    return batch


def _differ(own: SchemaField, shown: SchemaField) -> bool:
    return own.type != shown.type and with_nulls(own).type != with_nulls(shown).type


@dataclass(frozen=True, slots=True)
class _Fit:
    """Gives values of a view the types that are shown."""

    view: View

    def fit(self, values: pa.Array, own: SchemaField, shown: SchemaField, path: str) -> pa.Array:
        """Return values, at any depth, in the user form of a field that may be NULL.

        `path` names the column or field in errors. Raises InvalidInputError for a value that the
        type does not hold. Values below NULL are not looked at.
        """
        target = arrow_type(with_nulls(shown))
        if values.null_count == len(values):
            return pa.nulls(len(values), target)
        if not _differ(own, shown):
            return relabel(values, target)
        if isinstance(own.type, str) or isinstance(shown.type, str):
            return self._primitive(values, own, shown, path)
        pairs = list(zip(own.children(), shown.children(), strict=True))
        if isinstance(shown.type, StructType):
            parts, buffers = values.flatten(), [validity(values)]
        else:
            entries = map_entries(values) if isinstance(shown.type, MapType) else values
            lengths = np.asarray(pc.fill_null(pc.list_value_length(entries), 0))
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
            parts, buffers = [entries.flatten()], [validity(values), pa.py_buffer(offsets)]
            if isinstance(shown.type, MapType):
                parts = parts[0].flatten()
        children = [
            self.fit(part, *pair, f"{path}.{pair[1].name}")
            for part, pair in zip(parts, pairs, strict=True)
        ]
        if isinstance(shown.type, MapType):
            fields = [target.key_field, target.item_field]
            children = [pa.StructArray.from_arrays(children, fields=fields)]
        return pa.Array.from_buffers(
            target, len(values), buffers, values.null_count, children=children
        )

    def _primitive(
        self, values: pa.Array, own: SchemaField, shown: SchemaField, path: str
    ) -> pa.Array:
        text = type_text(shown.type)
        length = declared_length(text)
        try:
            found = fit_lengths(values.cast(arrow_type(shown)), text, path)
            fits = length is not None or bool(np.all(same_values(found.cast(values.type), values)))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            fits = False
        if not fits or (length is not None and pc.max(pc.utf8_length(found)).as_py() > length):
            view = self.view
            raise InvalidInputError(
                f"Column {path!r} of table {view.table!r} is {type_text(own.type)} at epoch"
                f" {view.epoch}, and has a value there that {text}, the type in these changes, does"
                f" not hold; {remedy_in_feed(view.epoch)}."
            )
        return found
