"""Alterations of a table as Spark asks for them, as alterations of the table format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, TypeVar

from colonnade.manifests.model.column_names import split_list, split_names
from colonnade.spark_ext.planner.clauses.defaults import read_default
from colonnade.spark_ext.planner.clauses.new_columns import add_column, widen_column
from colonnade.spark_ext.planner.clauses.sort_keys import clustered_by
from colonnade.spark_ext.planner.clauses.static_columns import refuse_change
from colonnade.spark_ext.planner.messages import changes
from colonnade.spark_ext.planner.messages.base import Message
from colonnade.spark_ext.planner.messages.changes import Change
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
    SetPrimaryKey,
    SetSortKey,
)
from colonnade.tableformat.table.design.properties import PRIMARY_KEY, SORT_KEY


def alterations(asked: Sequence[Change]) -> list[Alteration]:
    """Return the alterations that the changes of one statement of Spark ask for, in order.

    Spark asks for `REPLACE COLUMNS` as drops of all columns, and then additions. No other statement
    has both. Raises the errors of `alteration`.
    """
    leading = takewhile(lambda change: isinstance(change, changes.DropColumn), asked)
    dropped = [change for change in leading if isinstance(change, changes.DropColumn)]
    added = [change for change in asked if isinstance(change, changes.AddColumn)]
    replaces = dropped and added and len(dropped) + len(added) == len(asked)
    paths = [*(change.column for change in dropped), *(change.column for change in added)]
    if not replaces or any(len(path) > 1 for path in paths):
        return [alteration(change) for change in asked]
    columns = tuple(add_column(change).column for change in added)
    return [ReplaceColumns(columns, tuple(change.column[0] for change in dropped))]


def alteration(change: Change) -> Alteration:
    """Return the alteration that a change of Spark asks for.

    Raises InvalidInputError that names the column or property that cannot be changed.
    """
    return ALTERATIONS[type(change)](change)


def _default(change: changes.SetDefault) -> Alteration:
    if change.default_value is None:
        return DropDefault(change.column)
    return SetDefault(change.column, read_default(".".join(change.column), change.default_value))


def _nullable(change: changes.SetNullable) -> Alteration:
    return DropNotNull(change.column) if change.nullable else SetNotNull(change.column)


def _properties(change: changes.SetProperties) -> Alteration:
    set_to, removed = dict(change.set), change.remove
    refuse_change((*set_to, *removed))
    if SORT_KEY in set_to or SORT_KEY in removed:
        # Spark's half sends each property as a change of its own.
        return SetSortKey(split_list(set_to.get(SORT_KEY, "")))
    if PRIMARY_KEY in set_to:
        return SetPrimaryKey(*split_names(set_to[PRIMARY_KEY]))
    if PRIMARY_KEY in removed:
        return DropPrimaryKey()
    return AlterProperties(set_to, removed)


_Asked = TypeVar("_Asked", bound=Message)
_Row = tuple[type[Message], Callable[[Any], Alteration]]


def _row(asked: type[_Asked], made: Callable[[_Asked], Alteration]) -> _Row:
    return asked, made


ALTERATIONS: Mapping[type[Message], Callable[[Any], Alteration]] = dict(
    (
        _row(changes.AddColumn, add_column),
        _row(changes.WidenColumn, widen_column),
        _row(changes.RenameColumn, lambda asked: RenameColumn(asked.column, asked.name)),
        _row(changes.DropColumn, lambda asked: DropColumn(asked.column, asked.if_exists)),
        _row(changes.CommentColumn, lambda asked: CommentColumn(asked.column, asked.comment)),
        _row(changes.SetDefault, _default),
        _row(changes.SetNullable, _nullable),
        _row(changes.MoveColumn, lambda asked: MoveColumn(asked.column, asked.after, asked.first)),
        _row(
            changes.AddConstraint,
            lambda asked: AddConstraint(asked.name, asked.condition, asked.columns),
        ),
        _row(changes.DropConstraint, lambda asked: DropConstraint(asked.name, asked.if_exists)),
        _row(changes.ClusterBy, lambda asked: SetSortKey(clustered_by(asked.columns))),
        _row(changes.CommentTable, lambda asked: CommentTable(asked.comment)),
        _row(changes.SetProperties, _properties),
    )
)
"""What each change of Spark asks for."""
