"""What names the view that a request reads."""

from __future__ import annotations

from colonnade.manifests.clock import AgreedTime
from colonnade.spark_ext.planner.messages.base import Message
from colonnade.spark_ext.planner.messages.changes import Change


class RowsToWrite(Message):
    """Rows for which a statement gives its table what it lacks.

    They have the Spark schema `columns`, which are matched `by_name` or by their positions; or
    Spark asks for `changes`. What the table has already is left out. With `exact`, a type must
    become the one that Spark asks for.
    """

    columns: str | None = None
    by_name: bool = False
    changes: tuple[Change, ...] | None = None
    exact: bool = False


class NamedView(Message):
    """The name of a view (`manifests/state/view.py`), of which any planner makes the view again.

    It names database, table and epoch, where they are (`url` and the name of the store's
    `options`), and what the view shows of them:

    `schema_epoch` is another epoch whose columns the table has. `evolving` are rows whose columns
    it has. `now` is the time of the query in ms since 1970 UTC, which says what has expired; None
    if nothing can. `agreed` is the time of a statement that changes the table, from its scan to its
    commit; None if nothing can expire, or if the read names a state or a time. At `values_at`, a
    time too, all stored rows are read, without the values that have expired then. `rowsets` are the
    ids of the only RowSets to read. `whole` is the number of tasks, where each reads whole RowSets
    (`divide_by_rowset`).
    """

    url: str
    options: str = ""
    database: str
    table: str
    epoch: int
    schema_epoch: int | None = None
    now: int | None = None
    agreed: AgreedTime | None = None
    values_at: int | None = None
    evolving: RowsToWrite | None = None
    rowsets: tuple[int, ...] | None = None
    whole: int | None = None
