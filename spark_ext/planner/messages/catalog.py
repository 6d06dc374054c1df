"""Requests of the catalog about databases, tables and names."""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.spark_ext.planner.messages.base import Message, OneTimeRequest, Question
from colonnade.spark_ext.planner.messages.changes import Change
from colonnade.spark_ext.planner.messages.views import NamedView, RowsToWrite


class NamesUrl(Question):
    """Ask whether the text `path` is a URL and not a path on a local disk."""

    path: str


class ListDatabases(Question):
    """List the databases in the folder `warehouse`, sorted; none if the folder is missing."""

    warehouse: str


class DatabaseExists(Question):
    """Ask whether `path` is a database of several tables."""

    path: str


class CreateDatabase(OneTimeRequest):
    """Create an empty database at `path`."""

    path: str


class DropDatabase(OneTimeRequest):
    """Remove the database at `path` and everything in its folder; tables need `cascade`.

    The answer is no if the database stays because it has tables.
    """

    path: str
    cascade: bool


class ListTables(Question):
    """List the tables of the database at `path`, sorted."""

    path: str


class TableExists(Question):
    """Ask whether a table exists at `path`; the answer is no for a path that cannot be one.

    `options` may have options of its store, as those of a DataFrame. `query` is as in `Load`.
    """

    path: str
    options: Mapping[str, str] = {}
    query: int | None = None


class DropTable(OneTimeRequest):
    """Drop the table at `path`; the answer is no if it does not exist."""

    path: str


class RemoveTable(OneTimeRequest):
    """Drop the table at `path`, and remove the files of a lone table on a local disk.

    The answer is no if the path has no table.
    """

    path: str


class RenameTable(OneTimeRequest):
    """Rename the table at `path` to `name`, in the same database.

    Unless `any_case` is true, the name must differ from that of another table by more than case.
    """

    path: str
    name: str
    any_case: bool


class AlterTable(OneTimeRequest):
    """Apply `changes` to the table at `path`, in order and in one epoch."""

    path: str
    changes: tuple[Change, ...]


class DatabaseInItsCase(Question):
    """Return the name of a database in the folder `warehouse` as it is; `query` is as in `Load`."""

    warehouse: str
    name: str
    query: int | None = None


class TableInItsCase(Question):
    """Return the name of a table in the database at `path` as it is; `query` is as in `Load`."""

    path: str
    name: str
    query: int | None = None


class ColumnsForRows(Question):
    """Return the columns of the table at `path` with what it lacks for the rows of a statement.

    `view` is what the statement has read. `options` are those of the write.
    """

    path: str
    view: NamedView
    rows: RowsToWrite
    options: Mapping[str, str]


class Columns(Message):
    """A Spark schema as JSON."""

    columns: str


class MayWiden(Question):
    """Ask whether a column of the Spark type `own` can widen to take values of `value_type`."""

    own: str
    value_type: str
