"""Give a table a primary key, or drop it.

Spec: docs/spec/operations.md#primary-keys
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from colonnade.manifests.commit.change import Change, KeyGuard
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.properties import by_name
from colonnade.manifests.model.operations import DropRowSet, Operation
from colonnade.manifests.model.operations import SetPrimaryKey as SetKey
from colonnade.manifests.model.primary_key import key_fields, key_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.keys.key_parts import repeated_keys
from colonnade.tableformat.keys.static_parts import check_policies
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.not_null import SetNotNull
from colonnade.tableformat.table.design.primary_key import parse_primary_key, sorted_by

_SHOWN = 3
"""The most keys that a refusal shows."""


@public
class SetPrimaryKey(Alteration):
    """Give a table this primary key: no two rows may have the same values in these columns.

    Rows that are there are compared first. The columns become NOT NULL. Future rows are sorted by
    the key if the table has no sort key.
    """

    __slots__ = ("columns",)

    def __init__(self, *columns: str) -> None:
        self.columns = columns

    def __str__(self) -> str:
        return f"set primary key ({', '.join(self.columns)})"

    def _apply(self, draft: Draft) -> None:
        """Edit the draft. Raises InvalidInputError that names the column."""
        if not self.columns:
            raise InvalidInputError(
                "A primary key has at least one column; name one, or drop the key with"
                " DropPrimaryKey."
            )
        for field in parse_primary_key(draft.schema, self.columns):
            if field.nullable:
                SetNotNull(field.name)._apply(draft)
        key = parse_primary_key(draft.schema, self.columns)
        draft.primary_key = key_of(key)
        if not draft.sorted_by:
            draft.sort_key = sorted_by(key)


@public
class DropPrimaryKey(Alteration):
    """Let rows share the values of the columns of the primary key. These stay NOT NULL."""

    __slots__ = ()

    def __str__(self) -> str:
        return "drop primary key"

    def _apply(self, draft: Draft) -> None:
        """Edit the draft. Raises NotFoundError for a table without a primary key."""
        if not draft.key:
            raise NotFoundError(f"Table {draft.table.name!r} has no primary key to drop.")
        draft.primary_key = ()


def check_not_in_key(column: SchemaField, draft: Draft, done: str) -> None:
    """Raise InvalidInputError if a column is in the primary key.

    `done` says what was to happen to the column, such as "dropped".
    """
    if column.id in draft.key:
        raise InvalidInputError(
            f"Column {column.name!r} cannot be {done}: it is in the primary key; drop the key"
            " first, or set another one."
        )
    if column.id in draft.table.partition_key:
        raise InvalidInputError(
            f"Column {column.name!r} cannot be {done}: static values belong to it; write the rows"
            " to a new table with another partition key."
        )


def key_operations(draft: Draft) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
    """Return the operations that end the present key, and those that begin the new one.

    The present key ends before the columns change, because they may be dropped then. Raises
    InvalidInputError for a property about keys that does not fit.
    """
    table, new = draft.table, draft.primary_key
    if draft.key:
        key = key_fields(draft.key, draft.schema)
        partitions = key_fields(draft.table.partition_key, draft.schema)
        check_policies(by_name(draft.properties, draft.schema), draft.schema, key, partitions)
    if new is None or new == table.primary_key:
        return (), ()
    ended = (SetKey(table=table.id, columns=()),) if table.primary_key else ()
    return ended, (SetKey(table=table.id, columns=new),) if new else ()


def forgetting(change: Change, log: Log, table: TableState) -> Change:
    """Return a change of the key of a table that also drops the tombstones of its present key.

    It conflicts with a concurrent writer who adds tombstones. Reads the entries in segments with
    deleted rows. Raises CorruptionError, StoreError.
    """
    ids = log.rowsets.read_entries(table, which="tombstones").ids.tolist()
    dropped = DropRowSet(table=table.id, rowsets=id_ranges(ids), kind="delete")

    def meets(rowsets: Sequence[LiveRowSet]) -> list[LiveRowSet]:
        return [each for each in rowsets if each.has_tombstones]

    return replace(
        change,
        ops=(*change.ops, *([dropped] if ids else [])),
        keys=(*change.keys, KeyGuard(table.id, meets, frozenset())),
    )


def check_keys_differ(log: Log, table: TableState) -> None:
    """Refuse a new primary key that rows share. `table` is the table with that key.

    Reads the key columns of all RowSets. Raises InvalidInputError that shows keys and how many rows
    have each; CorruptionError, StoreError.
    """
    key = TableSchema(fields=key_fields(table.primary_key, table.schema))
    found = list(islice(repeated_keys(log.store, log.rowsets.view(table, None, None), key), _SHOWN))
    if found:
        shown = "; ".join(f"{each.text} ({each.rows} rows)" for each in found)
        raise InvalidInputError(
            f"Table {table.name!r} cannot get the primary key ({_names(key.fields)}), because rows"
            f" share keys: {shown}; delete or update these rows first."
        )


def _names(fields: Sequence[SchemaField]) -> str:
    return ", ".join(field.name for field in fields)
