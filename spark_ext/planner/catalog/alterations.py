"""Alterations of a table as Spark asks for them, as alterations of the table format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.column_names import split_list, split_names
from colonnade.spark_ext.planner.clauses.asked_columns import add_column, dotted, widen_column
from colonnade.spark_ext.planner.clauses.defaults import read_default
from colonnade.spark_ext.planner.clauses.partitions import layout_texts
from colonnade.spark_ext.planner.clauses.sort_keys import clustered_by
from colonnade.spark_ext.planner.clauses.static_columns import refuse_change
from colonnade.tableformat.table.alteration import (
    AddConstraint,
    Alteration,
    AlterProperties,
    CommentColumn,
    CommentTable,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPrimaryKey,
    MoveColumn,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetPrimaryKey,
    SetSortKey,
)
from colonnade.tableformat.table.properties import PRIMARY_KEY, SORT_KEY

Args = Mapping[str, Any]


def alterations(changes: Sequence[Args]) -> list[Alteration]:
    """Return the alterations that the changes of one statement of Spark ask for, in order.

    Spark asks for `REPLACE COLUMNS` as drops of all columns, and then additions. No other statement
    has both. Raises the errors of `alteration`.
    """
    dropped = list(takewhile(lambda change: change["kind"] == "drop_column", changes))
    added = [change for change in changes if change["kind"] == "add_column"]
    replaces = dropped and added and len(dropped) + len(added) == len(changes)
    if not replaces or any(len(change["column"]) > 1 for change in changes):
        return [alteration(change) for change in changes]
    columns = tuple(add_column(change).column for change in added)
    return [ReplaceColumns(columns, tuple(dotted(change) for change in dropped))]


def alteration(change: Args) -> Alteration:
    """Return the alteration that a change of Spark asks for.

    `kind` is a key of `_ALTERATIONS`; the other arguments are those of the kind. Raises
    InvalidInputError, which names the column, for a kind that no table can carry out.
    """
    kind = change["kind"]
    if kind not in _ALTERATIONS:
        raise InvalidInputError(_REFUSALS[kind].format(**{**change, "column": dotted(change)}))
    return _ALTERATIONS[kind](change)


def _set_default(change: Args) -> Alteration:
    path = tuple(change["column"])
    return SetDefault(path, read_default(".".join(path), change["default"]))


def _properties(change: Args) -> Alteration:
    set_to, removed = dict(change["set"]), tuple(change["remove"])
    refuse_change((*set_to, *removed))
    if SORT_KEY in set_to or SORT_KEY in removed:
        # Spark's half sends each property as a change of its own.
        return SetSortKey(split_list(set_to.get(SORT_KEY, "")))
    if PRIMARY_KEY in set_to:
        return SetPrimaryKey(*split_names(set_to[PRIMARY_KEY]))
    if PRIMARY_KEY in removed:
        return DropPrimaryKey()
    return AlterProperties(set_to, removed)


_ALTERATIONS: dict[str, Callable[[Args], Alteration]] = {
    "add_column": add_column,
    "rename_column": lambda change: RenameColumn(tuple(change["column"]), change["name"]),
    "drop_column": lambda change: DropColumn(tuple(change["column"]), change["if_exists"]),
    "comment_column": lambda change: CommentColumn(tuple(change["column"]), change["comment"]),
    "widen_column": widen_column,
    "set_default": _set_default,
    "drop_default": lambda change: DropDefault(tuple(change["column"])),
    "set_not_null": lambda change: SetNotNull(tuple(change["column"])),
    "drop_not_null": lambda change: DropNotNull(tuple(change["column"])),
    "move_column": lambda change: MoveColumn(
        tuple(change["column"]), change["after"], change["first"]
    ),
    "add_constraint": lambda change: AddConstraint(
        change["name"], change["condition"], tuple(change["columns"])
    ),
    "drop_constraint": lambda change: DropConstraint(change["name"], change["if_exists"]),
    "properties": _properties,
    "cluster_by": lambda change: SetSortKey(clustered_by(change["columns"])),
    "comment": lambda change: CommentTable(change["comment"]),
    "partitioning": lambda change: SetPartitioning(layout_texts(change["fields"])),
}

_REFUSALS = {
    "location": "The location of a table cannot be changed: it is where the table's files are.",
    "other": "Colonnade tables have no {what}.",
}
