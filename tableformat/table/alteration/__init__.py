"""Alter a table: the changes that a user can ask for, and the operations of the log for them.

Each kind of change is a class with the method `apply`. It edits a draft of the table, and the plan
makes operations of the draft:

    draft.py         the draft of a table, and what every alteration is
    paths.py         a column, or a field inside one, by the names that lead to it
    columns.py       add, drop and move columns and fields
    attributes.py    rename a column or field, comment on it, allow NULL in it
    default.py       set and remove the default of a column
    widen.py         change the type of a column or field to a wider one
    replace.py       replace all columns by a list of columns
    sort_key.py      the columns that rows are sorted by
    primary_key.py   the columns by which all rows differ, after a look at the rows
    ranges.py        columns of deleted ranges, whose rows are still stored
    not_null.py      forbid NULL in a column or field, after a look at the rows
    stored_values.py    what existing values must be for a change
    whole_table.py   properties, the comment and the partitions of a table
    constraints.py   add and drop constraints
    plan.py          all changes of one call as operations, in order
    commit.py        one epoch for them
    constrained_rows.py    the rows that a new constraint must hold for

Files know columns by id, so no change touches a file. Existing rows get a new column's values when
they are read (`rowset/adapt.py`). A renamed column keeps its id, and the id of a dropped column is
never used again.
Spec: docs/spec/operations.md#altering-tables
"""

from colonnade.tableformat.table.alteration.attributes import (
    CommentColumn,
    DropNotNull,
    RenameColumn,
)
from colonnade.tableformat.table.alteration.columns import AddColumn, DropColumn, MoveColumn
from colonnade.tableformat.table.alteration.commit import (
    commit_alterations,
    commit_drop,
    commit_rename,
)
from colonnade.tableformat.table.alteration.constraints import AddConstraint, DropConstraint
from colonnade.tableformat.table.alteration.default import DropDefault, SetDefault
from colonnade.tableformat.table.alteration.draft import Alteration
from colonnade.tableformat.table.alteration.not_null import SetNotNull
from colonnade.tableformat.table.alteration.paths import FieldPath
from colonnade.tableformat.table.alteration.plan import plan_alterations
from colonnade.tableformat.table.alteration.primary_key import DropPrimaryKey, SetPrimaryKey
from colonnade.tableformat.table.alteration.replace import ReplaceColumns
from colonnade.tableformat.table.alteration.sort_key import SetSortKey
from colonnade.tableformat.table.alteration.whole_table import (
    AlterProperties,
    CommentTable,
    SetPartitioning,
)
from colonnade.tableformat.table.alteration.widen import WidenColumn

__all__ = [
    "AddColumn",
    "AddConstraint",
    "AlterProperties",
    "Alteration",
    "CommentColumn",
    "CommentTable",
    "DropColumn",
    "DropConstraint",
    "DropDefault",
    "DropNotNull",
    "DropPrimaryKey",
    "FieldPath",
    "MoveColumn",
    "RenameColumn",
    "ReplaceColumns",
    "SetDefault",
    "SetNotNull",
    "SetPartitioning",
    "SetPrimaryKey",
    "SetSortKey",
    "WidenColumn",
    "commit_alterations",
    "commit_drop",
    "commit_rename",
    "plan_alterations",
]
