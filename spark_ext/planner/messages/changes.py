"""The changes of an ALTER TABLE, one by one. A `column` is the path of a column or of a field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from colonnade.spark_ext.planner.messages.base import Message
from colonnade.spark_ext.planner.messages.clauses import Default

Path = tuple[str, ...]


class AddColumn(Message):
    """Add a column of a Spark type as JSON; `after` another one or `first`, else at the end."""

    kind: Literal["add_column"] = "add_column"
    column: Path
    type: str
    nullable: bool
    comment: str | None = None
    default_value: Default | None = None
    after: str | None = None
    first: bool = False


class RenameColumn(Message):
    """Rename a column."""

    kind: Literal["rename_column"] = "rename_column"
    column: Path
    name: str


class DropColumn(Message):
    """Drop a column."""

    kind: Literal["drop_column"] = "drop_column"
    column: Path
    if_exists: bool


class CommentColumn(Message):
    """Comment a column; None removes its comment."""

    kind: Literal["comment_column"] = "comment_column"
    column: Path
    comment: str | None


class WidenColumn(Message):
    """Give a column a wider Spark type."""

    kind: Literal["widen_column"] = "widen_column"
    column: Path
    type: str


class SetDefault(Message):
    """Set the default of a column; None drops it."""

    kind: Literal["set_default"] = "set_default"
    column: Path
    default_value: Default | None


class SetNullable(Message):
    """Say whether a column may have NULL."""

    kind: Literal["set_nullable"] = "set_nullable"
    column: Path
    nullable: bool


class MoveColumn(Message):
    """Move a column `after` another one, or to be the `first`."""

    kind: Literal["move_column"] = "move_column"
    column: Path
    after: str | None
    first: bool


class AddConstraint(Message):
    """Add a CHECK constraint, which all rows met at an `epoch`, and the columns that it reads."""

    kind: Literal["add_constraint"] = "add_constraint"
    name: str
    condition: str
    columns: tuple[str, ...]
    epoch: int


class DropConstraint(Message):
    """Drop a constraint."""

    kind: Literal["drop_constraint"] = "drop_constraint"
    name: str
    if_exists: bool


class SetProperties(Message):
    """Set properties, and remove others."""

    kind: Literal["set_properties"] = "set_properties"
    set: Mapping[str, str]
    remove: tuple[str, ...]


class ClusterBy(Message):
    """Sort new rows by the columns at these paths."""

    kind: Literal["cluster_by"] = "cluster_by"
    columns: tuple[Path, ...]


class CommentTable(Message):
    """Comment a table; None removes its comment."""

    kind: Literal["comment_table"] = "comment_table"
    comment: str | None


Change = Annotated[
    AddColumn
    | RenameColumn
    | DropColumn
    | CommentColumn
    | WidenColumn
    | SetDefault
    | SetNullable
    | MoveColumn
    | AddConstraint
    | DropConstraint
    | SetProperties
    | ClusterBy
    | CommentTable,
    Field(discriminator="kind"),
]
"""One change; `kind` says which."""
