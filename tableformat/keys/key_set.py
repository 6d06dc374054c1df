"""Identify rows by the values of some columns, and find which of them a table already has. Pure.

Of rows with the keys 7, 9 and 7, `key_numbers` says that row 0 has key 0, row 1 key 1, and row 2
key 0. A `KeySet` of the keys 7 and 9 finds in rows with the keys 8, 9 and 7

    find      -1, 1, 0     the key of each row, or -1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.candidates import Candidates, whole_numbers
from colonnade.tableformat.keys.parts import Words, key_hashes
from colonnade.tableformat.predicate import BoundPredicate, ColumnBuilder, bind, col, prune
from colonnade.tableformat.predicate.expressions import Predicate, conjunction
from colonnade.tableformat.predicate.literals import Kind, Literal, make_literal
from colonnade.tableformat.predicate.storage import domain_of
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.rowset.view.key_codes import KeyCodes, comparable
from colonnade.tableformat.types.arrow_types import type_name
from colonnade.tableformat.types.compute import pc

_LISTED_KEYS = 256
"""The most keys of one column that are compared with bounds one by one."""


@dataclass(frozen=True)
class KeySet:
    """The keys of some rows, all distinct. `columns` are the rows, and `known` their codes."""

    schema: TableSchema
    columns: tuple[pa.Array, ...]
    known: KeyCodes

    @property
    def values(self) -> tuple[pa.Array, ...]:
        """The distinct values of each column."""
        return self.known.values

    @property
    def codes(self) -> tuple[pa.Array, ...]:
        """The codes of the keys, as `KeyCodes` has them."""
        return self.known.codes

    @property
    def fields(self) -> tuple[SchemaField, ...]:
        """The key columns."""
        return self.schema.fields

    @property
    def count(self) -> int:
        """The number of distinct keys."""
        return len(pc.unique(self.codes[-1]))

    @property
    def is_listed(self) -> bool:
        """Whether keys are so few that bounds and Bloom filters judge each of them."""
        return all(len(each) <= _LISTED_KEYS for each in self.values)

    @classmethod
    def of(cls, rows: pa.Table, schema: TableSchema, *, repeated: bool = False) -> KeySet:
        """Return the keys of rows that have exactly the columns of `schema`.

        A key that is `repeated` has the number of its first row. Raises InvalidInputError when a
        key is NULL, and when it occurs in two rows unless keys may be repeated.
        """
        columns = [rows[field.name].combine_chunks() for field in schema.fields]
        columns = [comparable(c.chunk(0) if isinstance(c, pa.ChunkedArray) else c) for c in columns]
        for field, column in zip(schema.fields, columns, strict=True):
            refuse_null(field, column)
        known = KeyCodes.of(columns)
        if not repeated and all(len(each) < rows.num_rows for each in known.values):
            _check_distinct(known.codes[-1], columns, schema)
        return cls(schema, tuple(columns), known)

    def find(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """Return for each row of a batch the number of the row here that has its key, or -1."""
        found = (batch.column(batch.schema.get_field_index(each.name)) for each in self.fields)
        return self.known.find([comparable(column) for column in found])

    def candidates(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """Return the rows of a batch that may have one of the keys, in order, and few more rows."""
        field = self.fields[self._widest]
        column = batch.column(batch.schema.get_field_index(field.name))
        return self._candidates.rows(comparable(column))

    def predicate(self) -> Predicate:
        """Return a condition that every row with one of the keys meets, and few other rows."""
        return conjunction(
            _allowed(field, distinct)
            for field, distinct in zip(self.fields, self.values, strict=True)
        )

    def may_match(self, bounds: BoundsTable) -> NDArray[np.bool_]:
        """Return a mask of the RowSets or blocks whose bounds allow one of the keys."""
        if not len(self.values[0]):
            return np.zeros(len(bounds.rows), np.bool_)
        kept = prune(self._bound, bounds)
        column = bounds.columns.get(self.fields[self._widest].id)
        return kept if column is None else kept & self._candidates.may_match(column)

    @once
    def ordered(self) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.int64]] | None:
        """The keys in ascending order: whole numbers for each column, and the row of each key.

        None for keys of other values.
        """
        columns = [whole_numbers(column) for column in self.columns]
        if any(each is None for each in columns):
            return None
        rows = np.unique(self.codes[-1].to_numpy(zero_copy_only=False), return_index=True)[1]
        found = [each[rows] for each in columns if each is not None]
        order = np.lexsort(found[::-1]) if len(found) > 1 else np.argsort(found[0])
        return tuple(each[order] for each in found), rows[order]

    @once
    def hashes(self) -> Words:
        """A hash of each key, as `parts.key_hashes` makes it."""
        names = [field.name for field in self.fields]
        return key_hashes(pa.RecordBatch.from_arrays(list(self.columns), names=names))

    @once
    def _widest(self) -> int:
        """The place of the key column with the most distinct values."""
        return int(np.argmax([len(each) for each in self.values]))

    @once
    def _candidates(self) -> Candidates:
        return Candidates.of(self.values[self._widest])

    @once
    def _bound(self) -> BoundPredicate:
        """The condition, resolved once for all RowSets."""
        return bind(self.predicate(), self.schema)


def key_numbers(rows: pa.Table, schema: TableSchema) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each row's key, and the first row of each key.

    Keys are numbered in the order in which they first occur. `schema` has the key columns. Raises
    InvalidInputError that names a column which is NULL or NaN in a row.
    """
    codes: NDArray[np.int64] | None = None
    for field in schema.fields:
        check_values(field, rows[field.name])
        column = comparable(rows[field.name].combine_chunks())
        places = _codes(column)
        if codes is not None:
            # Codes count the distinct values so far, so the product is small.
            places = _codes(pa.array(codes * (int(places.max(initial=0)) + 1) + places))
        codes = places
    assert codes is not None  # a key has a column
    # A key is new where its number is above those of all earlier rows.
    return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))


def rows_by_number(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows in the order of their numbers, and rows of one number in their own order.

    Requires numbers from 0 on without gaps.
    """
    if len(numbers) != int(numbers.max(initial=-1)) + 1:
        return np.argsort(numbers, kind="stable")
    order = np.empty(len(numbers), np.int64)  # each number once, which needs no sort
    order[numbers] = np.arange(len(numbers))
    return order


def check_values(field: SchemaField, values: pa.Array | pa.ChunkedArray) -> None:
    """Refuse values that no key has. Raises InvalidInputError that names the column."""
    refuse_null(field, values)
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        raise InvalidInputError(
            f"Column {field.name!r} is a key and is NaN in a row; give every row a number."
        )


def key_schema(table: TableState) -> TableSchema:
    """Return the columns of the primary key of a table, in its order."""
    return TableSchema(fields=key_fields(table.primary_key, table.schema))


def key_columns(on: Sequence[str], schema: TableSchema) -> TableSchema:
    """Return the columns that a user gave as a key.

    Raises NotFoundError for an unknown column. Raises InvalidInputError without a column, for
    a column that is given twice, and for a type that does not compare by bytes.
    """
    names = check_names((on,) if isinstance(on, str) else on, "on")
    fields = [schema.field(name) for name in names]
    if not fields or len({field.id for field in fields}) < len(fields):
        raise InvalidInputError(f"A key is one or more columns, each once, not {list(names)}.")
    for field in fields:
        if not can_be_key(field):
            raise InvalidInputError(
                f"Column {field.name!r} of type {type_name(field.type)} cannot be a key; use a"
                " column of numbers without fractions, decimals, text, binary, dates or times."
            )
    return TableSchema(fields=tuple(fields))


def refuse_null(field: SchemaField, values: pa.Array | pa.ChunkedArray) -> None:
    """Raise InvalidInputError that names the column if a key has no value."""
    if values.null_count:
        raise InvalidInputError(
            f"Column {field.name!r} is a key and is NULL in {values.null_count} of the rows;"
            " give every row a key."
        )


def can_be_key(field: SchemaField) -> bool:
    """Return whether values of a column are equal exactly when their bytes are."""
    text = str(field.type)
    fractions = text in ("variant", "float", "double")
    return not (field.children() or fractions or " collate " in text)


def _codes(values: pa.Array) -> NDArray[np.int64]:
    """Return numbers of the distinct values, in the order of their first occurrence."""
    return np.asarray(pc.dictionary_encode(values).indices.to_numpy(), np.int64)


def _check_distinct(code: pa.Array, columns: list[pa.Array], schema: TableSchema) -> None:
    counts = pc.value_counts(code)
    if len(counts) == len(code):
        return
    twice = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0]
    row = pc.index(code, twice).as_py()
    key: dict[str, Any] = {
        f.name: c[row].as_py() for f, c in zip(schema.fields, columns, strict=True)
    }
    raise InvalidInputError(f"The key {key} is in more than one of the rows; give each key once.")


def key_range(field: SchemaField, values: pa.Array) -> Predicate:
    """Return a condition: a key column is from the least to the greatest of some values."""
    kind, values = _stored_kind(str(field.type)), ordered_values(field, values)
    low, high = pc.min_max(values).values()
    return _column(field).between(_literal(low.as_py(), kind), _literal(high.as_py(), kind))


def _allowed(field: SchemaField, distinct: pa.Array) -> Predicate:
    if len(distinct) > _LISTED_KEYS:
        return key_range(field, distinct)
    kind, distinct = _stored_kind(str(field.type)), ordered_values(field, distinct)
    return _column(field).isin([_literal(value, kind) for value in distinct.to_pylist()])


def _column(field: SchemaField) -> ColumnBuilder:
    return col(f"`{field.name.replace('`', '``')}`")


def ordered_values(field: SchemaField, values: pa.Array) -> pa.Array:
    """Return the values of a key column as Arrow and Python can compare them."""
    if _stored_kind(str(field.type)) is None:
        return values
    # Arrow cannot compare durations, and Python has neither nanoseconds nor the year 10000.
    return values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())


def _literal(value: object, kind: Kind | None) -> Literal:
    return make_literal(value) if kind is None else Literal(kind, value)  # type: ignore[arg-type]


def _stored_kind(type_name: str) -> Kind | None:
    """Return the literal kind of a date, time or interval type; None for other types."""
    if type_name in ("date", "timestamp", "timestamp_ntz"):
        return Kind(type_name)
    domain = domain_of(type_name)
    family = "" if domain is None else domain.family
    return Kind(family) if family in ("time", "months", "duration") else None
