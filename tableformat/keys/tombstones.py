"""Deleted keys that a table remembers, compared with rows that may have arrived late.

A tombstone says that a key was deleted, and how new the deletion is: a value of the sequence
column. It is a row of a RowSet without live rows, which only this module reads.
Spec: docs/spec/keys.md#tombstones
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.find import stored_rows
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.merged_rows import ages
from colonnade.tableformat.predicate import BoundPredicate, Predicate, bind
from colonnade.tableformat.predicate.bound import (
    BoundAnd,
    BoundConstant,
    BoundIsNull,
    BoundNode,
    BoundOr,
    all_of,
    any_of,
)
from colonnade.tableformat.scan.selection import read_numbered
from colonnade.tableformat.types.arrow_types import arrow_type

Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Deletions:
    """Deletions of some keys: for each the number of its key, and its value of the sequence."""

    keys: Integers
    sequence: pa.Array

    def compare(self, keys: Integers, sequence: pa.Array) -> Integers:
        """Return for each row -1, 0 or 1: it is older than the newest deletion, as old, or newer.

        `keys` has the number of each row's key. A row whose key was not deleted is newer.
        """
        found = ages(pa.concat_arrays([sequence, self.sequence]))
        newest = np.full(1 + max(keys.max(initial=0), self.keys.max(initial=0)), -1, np.int64)
        np.maximum.at(newest, self.keys, found[len(keys) :])
        return np.asarray(np.sign(found[: len(keys)] - newest[keys]), np.int64)

    def late(self, keys: Integers, sequence: pa.Array) -> Mask:
        """Return which rows are older than a deletion of their key."""
        if not len(self.keys):
            return np.zeros(len(keys), np.bool_)
        return np.asarray(self.compare(keys, sequence) < 0, np.bool_)


def find_deletions(
    store: ObjectStore,
    table: TableState,
    rowsets: Iterable[LiveRowSet],
    keys: KeySet,
    sequence: SchemaField,
) -> Deletions:
    """Return the deletions of some keys that a table remembers in RowSets of tombstones.

    Reads the key columns where bounds and Bloom filters allow one of the keys, and the sequence of
    the tombstones that were found. Raises CorruptionError, StoreError.
    """
    numbers: list[Integers] = [np.zeros(0, np.int64)]
    values = [pa.array([], arrow_type(sequence))]
    (column,) = tombstone_schema(TableSchema(fields=(sequence,))).fields
    view = View.stored(table, rowsets)
    for rowset in view.rowsets:
        rows, places = stored_rows(store, view, rowset, keys)
        if len(rows):
            numbers.append(places)
            values += sequence_values(store, view, rowset, rows, column)
    return Deletions(np.concatenate(numbers), pa.concat_arrays(values))


def tombstone_schema(schema: TableSchema) -> TableSchema:
    """Return columns as tombstones have them: NULL wherever a tombstone was given no value.

    So a column that is newer than a tombstone is NULL in it, whatever rows have there.
    """
    plain = {"nullable": True, **dict.fromkeys(("initial", "default", "identity", "generated"))}
    return TableSchema(fields=tuple(each.model_copy(update=plain) for each in schema.fields))


def certain(where: Predicate, schema: TableSchema) -> BoundPredicate:
    """Return a condition on tombstones that is TRUE where the values which they have decide it.

    A tombstone tells nothing of a column in which it is NULL: the rows with its key may have had
    any value there. So its NULL meets neither IS NULL nor IS NOT NULL. Raises InvalidInputError
    when `where` does not fit the columns.
    """
    return BoundPredicate(_certain(bind(where, tombstone_schema(schema)).root))


def _certain(node: BoundNode) -> BoundNode:
    unknown = BoundConstant(None)
    match node:
        case BoundAnd(parts):
            return all_of(map(_certain, parts))
        case BoundOr(parts):
            return any_of(map(_certain, parts))
        case BoundIsNull():
            return any_of((node, unknown)) if node.negated else all_of((node, unknown))
        case _:
            return node


def sequence_values(
    store: ObjectStore, view: View, rowset: LiveRowSet, rows: Integers, column: SchemaField
) -> list[pa.Array]:
    """Return the values that rows of a RowSet, by their ascending numbers, have in a sequence."""
    schema = TableSchema(fields=(column,))
    found = read_numbered(store, view, rowset, rows, schema)
    return [batch.column(0) for _, batch in found]
