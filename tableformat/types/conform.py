"""Convert data from outside to the exact types of a table, or refuse it.

All data that is written passes through here once. So the layers below may rely on exact types, on
NOT NULL, on lengths and on valid text.
Spec: docs/spec/types.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.text_policy import TextPolicy
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conversion import convert, given_fields, match_fields
from colonnade.tableformat.types.default_values import default_values
from colonnade.tableformat.types.plain_size import largest_part
from colonnade.tableformat.types.text_form import has_lengths
from colonnade.tableformat.types.valid_text import (
    holds_text,
    refuse_invalid_text,
    replace_invalid_text,
)
from colonnade.tableformat.types.value_checks import check_values, is_constrained

CONFORMED_ROWS = 65_536
"""The most rows of a large batch that are converted at a time, so that memory stays bounded."""

PART_LIMIT = 2**29
"""The most bytes of text, or list elements, that one array of a column holds while it is converted.

Plain Arrow arrays hold at most four times as many. Padding a char may double the text.
"""


_MOST = 2**31 - 1
"""The most bytes of text, or list elements, that a plain Arrow array can hold."""


def conform(
    data: pa.RecordBatch | pa.Table,
    schema: TableSchema,
    text: TextPolicy = "refuse",
    *,
    complete: bool = False,
    first_row: int = 0,
) -> pa.RecordBatch:
    """Return the same rows with exactly the Arrow schema of `schema`.

    Columns are matched by name, exactly or else ignoring case. They may come in any order and any
    physical form. A char is padded with spaces. A missing column gets its default, or NULL if it is
    nullable. If the rows must be `complete`, only generated columns may be missing. A generated
    column that is missing has NULL, until it is filled. `text` says what happens to text that is
    not valid UTF-8. `first_row` is the row of the input that the data begins with; errors use it.

    A batch that already conforms is returned unchanged. A table of several chunks is copied into
    one. Requires at most 2 GiB of text in each column; `conform_batches` divides larger data.

    Raises InvalidInputError that names the column when:
    - a column is missing, unknown or present twice
    - the default of a missing column is an expression that only Spark evaluates
    - its type cannot be converted, or a value cannot be kept exactly
    - a NOT NULL column contains NULL
    - text is not valid UTF-8 (the error names the row, too)
    """
    checks = _checks_of(schema)
    batch = _one_batch(data) if isinstance(data, pa.Table) else data
    if not batch.schema.equals(checks.arrow, check_metadata=True) or checks.has_lengths:
        names = batch.schema.names
        wanted = given_fields(names, schema.fields, complete=complete)
        order = match_fields(names, [field.name for field in wanted], "The data")
        indexes = {field.name: at for field, at in zip(wanted, order, strict=True)}
        columns = []
        for field in schema.fields:
            index = indexes.get(field.name)
            given = default_values(field, batch.num_rows) if index is None else batch.column(index)
            columns.append(convert(given, field, field.name))
        batch = pa.RecordBatch.from_arrays(columns, schema=checks.arrow)
    if text == "replace":
        batch = _with_valid_text(batch, checks.texts)
    else:
        for index, field in checks.texts:
            refuse_invalid_text(batch.column(index), field, first_row)
    for index, field in checks.constrained:
        check_values(batch.column(index), field, field.name)
    return batch


def conform_batches(
    batches: Iterable[pa.RecordBatch],
    schema: TableSchema,
    text: TextPolicy = "refuse",
    *,
    part_limit: int = PART_LIMIT,
    complete: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Conform batches, and divide large ones so that memory stays bounded.

    In a piece of more than one row, no column has more than `part_limit` bytes of text or list
    elements. Raises the errors of `conform`.
    """
    first_row = 0
    for batch in batches:
        # An empty batch is checked like any other.
        for start in range(0, max(1, batch.num_rows), CONFORMED_ROWS):
            for piece in _divided(batch.slice(start, CONFORMED_ROWS), part_limit):
                yield conform(piece, schema, text, complete=complete, first_row=first_row)
                first_row += piece.num_rows


def _part(name: str, column: pa.Array) -> int:
    try:
        return largest_part(column)
    except ValueError as error:
        raise InvalidInputError(
            f"Column {name!r} is not a valid Arrow array: {error}; build it again."
        ) from error


def _divided(batch: pa.RecordBatch, part_limit: int) -> Iterator[pa.RecordBatch]:
    names = batch.schema.names
    sizes = [_part(*each) for each in zip(names, batch.columns, strict=True)]
    if all(size <= part_limit for size in sizes):
        yield batch
        return
    if batch.num_rows == 1:
        for name, size in zip(names, sizes, strict=True):
            if size > _MOST:
                raise InvalidInputError(
                    f"Column {name!r} has a value of {size} bytes, or elements; one value may take"
                    " at most 2 GiB, and 2³¹ elements."
                )
        yield batch
        return
    half = batch.num_rows // 2
    yield from _divided(batch.slice(0, half), part_limit)
    yield from _divided(batch.slice(half), part_limit)


_IndexedFields = tuple[tuple[int, SchemaField], ...]
"""Some columns of a schema, each with its index."""


class _Checks(NamedTuple):
    """The checks of a batch, which are the same for every batch of a schema."""

    arrow: pa.Schema
    has_lengths: bool
    texts: _IndexedFields
    constrained: _IndexedFields


@lru_cache(maxsize=256)
def _checks_of(schema: TableSchema) -> _Checks:
    fields = tuple(enumerate(schema.fields))
    return _Checks(
        arrow_schema(schema),
        any(map(has_lengths, schema.fields)),
        tuple(each for each in fields if holds_text(each[1])),
        tuple(each for each in fields if is_constrained(each[1])),
    )


def _with_valid_text(batch: pa.RecordBatch, texts: _IndexedFields) -> pa.RecordBatch:
    """Replace bytes that are not valid UTF-8 by U+FFFD, then pad char columns again."""
    for index, field in texts:
        old = batch.column(index)
        new = replace_invalid_text(old, field, field.name)
        if new is not old:
            fitted = convert(new, field, field.name) if has_lengths(field) else new
            batch = batch.set_column(index, batch.schema.field(index), fitted)
    return batch


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns.append(column.combine_chunks())
        except pa.ArrowException as error:
            raise InvalidInputError(
                f"Column {name!r} does not fit into one batch; pass the table in smaller slices."
            ) from error
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
