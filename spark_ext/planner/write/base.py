"""The state that a write is planned on: the newest known one, if it has the table that was read."""

from __future__ import annotations

from colonnade.manifests.errors import ConflictError, NotFoundError
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress
from colonnade.spark_ext.options.write import SparkWriteOptions, parse_write_options
from colonnade.spark_ext.planner.clauses.columns_of_rows import with_columns
from colonnade.spark_ext.planner.clauses.constraints import require_checked
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.messages.writes import ColumnsOfAppend, ExpiringRows, MergeByKey
from colonnade.spark_ext.planner.state.snapshots import ANY_LOOK, SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import Location, locate, read_base
from colonnade.tableformat.write.column_changes import ColumnChanges


def base_of(
    path: StoreAddress, view: NamedView | None, query: int | None = None
) -> tuple[Location, Snapshot | None]:
    """Return the location of a path, and the base state of a write; None without a database.

    `view` is what the statement has read. Without it, `query` counts as in `Load`. Raises the
    errors of `require_view`, and those of `require_checked`.
    """
    if view is not None:
        location, head = require_view(path, view)
        if not TRANSACTIONS.is_own(location, view.epoch):
            require_checked(location, head, view)
            # The writer of a DataFrame may have loaded its table while another session was active.
            return location, head
        return location, SNAPSHOTS.at(location.store.address, view.database, view.epoch)
    try:
        return SNAPSHOTS.try_head(path, query)
    except NotFoundError:
        location = locate(path)
        return location, read_base(location, SNAPSHOTS.log(location.store))


def analyzed(
    request: ColumnsOfAppend | MergeByKey | ExpiringRows,
) -> tuple[SparkWriteOptions, Location, Snapshot, TableState]:
    """Return what a write that Spark analyzes has: options, location, base, and the table.

    The table has the columns that its rows bring, too. Raises the errors of `base_of`, and
    InvalidInputError for wrong options.
    """
    options = parse_write_options({**request.options, "path": request.path})
    location, base = base_of(place(options.path, options.storage), request.view)
    state, _ = evolved(location, base, request.view)
    assert base is not None  # the statement has read the table
    assert state is not None
    return options, location, base, location.require(state)


def require_view(path: StoreAddress, view: NamedView) -> tuple[Location, Snapshot]:
    """Return the location of `path` and its newest known state, if it has the table in `view`.

    Raises ConflictError if the table has been dropped, or if another table now has its name.
    """
    try:
        # The statement has just looked. The commit compares itself with all later epochs.
        location, head = SNAPSHOTS.head(path, ANY_LOOK)
        table = location.find(head)
    except NotFoundError:
        table = None
    if table is None or (head.database, table.id) != (view.database, view.table):
        raise ConflictError(
            f"Table {path.url} was dropped or replaced after the statement had read it; run it"
            " again."
        )
    return location, head


def evolved(
    location: Location, base: Snapshot | None, view: NamedView | None
) -> tuple[Snapshot | None, ColumnChanges]:
    """Return the state that a write is planned on, with what its rows need, and the changes."""
    if base is None or view is None or view.evolving is None:
        return base, ColumnChanges()
    return with_columns(location.store, base, location.require(base), view.evolving)
