"""Parts of several messages: conditions, columns, layouts, and what a statement says."""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.spark_ext.planner.messages.base import Message


class Tree(Message):
    """An expression of Spark: an operation `op` on `args`, a `column`, or a value of a `type`.

    Those that it is not are None. A `value` is the text of Spark's internal value (days,
    microseconds, base64), or None for NULL.
    """

    op: str | None = None
    args: tuple[Tree, ...] | None = None
    column: tuple[str, ...] | None = None
    type: str | None = None
    value: str | None = None


class Default(Message):
    """The default of a column: SQL text, and its value now; None for a value without a literal."""

    sql: str
    now: Tree | None


class OrderField(Message):
    """A field of a sort key or of an order of rows."""

    column: str
    descending: bool


class LayoutField(Message):
    """A field of a partition layout, such as bucket(16, id). `column` is the path of a column."""

    transform: str
    column: tuple[str, ...]
    argument: int | None = None


class Layout(Message):
    """Partitions and sort key of a new table; `cluster_by` has the paths of the key's columns."""

    partitioning: tuple[LayoutField, ...] = ()
    cluster_by: tuple[tuple[str, ...], ...] = ()


class Constraint(Message):
    """A CHECK constraint, and the columns that the condition of a new one reads."""

    name: str
    condition: str
    columns: tuple[str, ...] = ()


class Identity(Message):
    """What an identity column states. Numbers are texts, because they have 64 bits."""

    start: str
    step: str
    always: bool


class Generated(Message):
    """A generated column, the columns that it reads, and the time zone of its expression."""

    column: str
    sql: str
    reads: tuple[str, ...]
    time_zone: str


class UserColumns(Message):
    """The columns that a user gave the rows of an append, where the rows merge by their keys.

    `columns` is None where they are not known. `checked` says whether Spark has the constraints.
    `keys` are the columns that a MERGE compares, which is an append of its rows; None for an
    append.
    """

    columns: tuple[str, ...] | None
    checked: bool = True
    keys: tuple[str, ...] | None = None


class Clause(Message):
    """A clause of a MERGE, for the history: what it does, and if and how."""

    action: str
    predicate: str | None = None
    set: str | None = None


class HistoryText(Message):
    """What a statement says, for the history: its condition, and its assignments or clauses."""

    where: str | None = None
    on: str | None = None
    set: str | None = None
    matched: tuple[Clause, ...] = ()
    not_matched: tuple[Clause, ...] = ()
    not_matched_by_source: tuple[Clause, ...] = ()


class Design(Message):
    """A table that a statement creates, from the columns of its Spark `schema`.

    The sort key is either the `cluster_by` of its layout or the property `sortKey`. With `replace`,
    it may replace an existing table. Unless `any_case`, its name must differ from that of another
    table by more than case.
    """

    columns: str
    layout: Layout
    constraints: tuple[Constraint, ...] = ()
    properties: Mapping[str, str]
    comment: str | None = None
    defaults: Mapping[str, Default] = {}
    identities: Mapping[str, Identity] = {}
    generated: tuple[Generated, ...] = ()
    replace: bool = False
    any_case: bool = False
