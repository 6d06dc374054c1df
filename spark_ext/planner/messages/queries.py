"""Requests of a query: describe a table, plan the tasks of a query, answer from the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from colonnade.spark_ext.planner.messages.base import Message, Question
from colonnade.spark_ext.planner.messages.clauses import (
    Constraint,
    Generated,
    Identity,
    LayoutField,
    OrderField,
    Tree,
)
from colonnade.spark_ext.planner.messages.views import NamedView


class Load(Question):
    """Describe the table at `path` at the epoch, tag or time in `options`, or its newest state.

    Besides the public options, `timestampMicros` is a time that Spark has already parsed.
    `query` is the number of the query that loads the table, if it has one (`Snapshots.head`).
    With `statics`, the reply describes the table of static values of the table.
    """

    path: str
    options: Mapping[str, str]
    statics: bool = False
    query: int | None = None


class LoadedTable(Message):
    """A table, and the `view` that later requests return, at the time of the query.

    `columns` is the Spark schema. `pinned` says whether the options named an epoch, a tag or a
    time, and `seen_at` is the option of this name.
    """

    path: str
    name: str
    view: NamedView
    seen_at: str | None
    pinned: bool
    columns: str
    defaults: Mapping[str, str]
    identities: Mapping[str, Identity]
    generated: tuple[Generated, ...]
    statics: tuple[str, ...]
    partition_key: tuple[str, ...]
    properties: Mapping[str, str]
    comment: str | None
    sort_key: tuple[OrderField, ...]
    partitioning: tuple[LayoutField, ...]
    constraints: tuple[Constraint, ...]


class CheckOptions(Question):
    """Parse the options of a read, and refuse wrong ones before any table is opened."""

    options: Mapping[str, str]


class StatedRead(Message):
    """What the options of a read name: an epoch, tag or time (`pinned`), and which others."""

    path: str
    pinned: bool
    schema_epoch: int | None
    seen_at: str | None


class Filters(Question):
    """Say which of `filters` can skip data."""

    view: NamedView
    filters: tuple[Tree, ...]


class UsedFilters(Message):
    """Whether each filter can skip data."""

    used: tuple[bool, ...]


class Top(Message):
    """An order by one column, and the number of the first rows that suffice."""

    column: str
    descending: bool
    nulls_first: bool
    count: int


class Scan(Question):
    """Plan a read of `columns` for about `parallelism` tasks at once.

    `filters` skip RowSets. Without filters, `limit` and `top` may skip RowSets. With `apart` a task
    reads rows of one RowSet only. With `in_order` the rows of each task are in the order of the
    sort key, if that is possible. With `grouped` a task reads rows of one partition only, if all
    RowSets have the table's layout; with `fair`, only if no task becomes long.
    """

    view: NamedView
    columns: tuple[str, ...]
    filters: tuple[Tree, ...]
    limit: int | None = None
    top: Top | None = None
    parallelism: int
    apart: bool = False
    in_order: bool = False
    grouped: bool = False
    fair: bool = False


class ColumnSummary(Message):
    """Bounds and the number of NULLs of a column, which only estimate."""

    min: str | None
    max: str | None
    nulls: int


class PlannedScan(Message):
    """The `tasks` of a scan as JSON, and what it reads: `rows`, stored `bytes`, `columns` by name.

    `statics` says once for all tasks where the values of static columns are. It is None if the
    columns have none. It is also None if each task names its own part of many values.

    The rows of each task are in the order `ordered_by`; `in_order` says whether that is the wanted
    one, and `merges` whether a task merges RowSets. If each task reads one partition,
    `partitioning` is the layout, and `partitions` has the partition values of each task.
    """

    tasks: tuple[str, ...]
    statics: str | None
    rows: int
    bytes: int
    rowsets: int
    columns: Mapping[str, ColumnSummary]
    ordered_by: tuple[OrderField, ...]
    in_order: bool
    merges: bool
    partitioning: tuple[LayoutField, ...]
    partitions: tuple[tuple[str | None, ...], ...]


class ListPartitions(Question):
    """Return the partitions of the table's current layout that have rows."""

    view: NamedView


class Partitions(Message):
    """The values of partitions, as bounds (`manifests/model/statistics.py`)."""

    partitions: tuple[tuple[str | None, ...], ...]


class AggregateCall(Message):
    """An aggregate of a whole table; a `count` without a column is count(*)."""

    function: Literal["count", "min", "max"]
    column: str | None


class Aggregate(Question):
    """Compute `functions` over the whole table from the log."""

    view: NamedView
    functions: tuple[AggregateCall, ...]


class Aggregated(Message):
    """The values of aggregates: counts, bounds as text, or None for NULL.

    `values` is None if one of them is not known exactly.
    """

    values: tuple[Any, ...] | None


class Metadata(Question):
    """Return the metadata table `name` of the table at `path`."""

    path: str
    name: str


class MetadataRows(Message):
    """A metadata table: columns in DDL, and rows of Spark's internal values."""

    columns: str
    rows: Any


class MetadataNames(Question):
    """Return the names of all metadata tables."""
