"""Answer the catalog's requests: list and change the databases of a warehouse and their tables.

A database of the catalog is a Colonnade database `<warehouse>/<name>`. Tables are named by their
path: `<database>/<table>`, or the path of a lone table.
"""

from __future__ import annotations

import os
from functools import partial

from colonnade.manifests.errors import (
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.log.dropping import drop_database as drop
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore, ObjectStore, StoreAddress, is_url, open_store
from colonnade.manifests.store.bucket.store import BucketStore
from colonnade.spark_ext.options.user_options import storage_of
from colonnade.spark_ext.planner.catalog.alterations import alterations
from colonnade.spark_ext.planner.messages.base import Answer, Done, Names, operation
from colonnade.spark_ext.planner.messages.catalog import (
    AlterTable,
    CreateDatabase,
    DatabaseExists,
    DropDatabase,
    DropTable,
    ListDatabases,
    ListTables,
    NamesUrl,
    RenameTable,
    TableExists,
)
from colonnade.spark_ext.planner.messages.changes import AddConstraint
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.table_design import refuse_other_case
from colonnade.tableformat.location import Location, locate, locate_existing
from colonnade.tableformat.table.alteration.commit import commit_alterations
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.design.new_table import check_table_name, is_internal
from colonnade.tableformat.table.table import ArrowTable


@operation
def names_url(request: NamesUrl) -> Answer:
    """Raise InvalidInputError for a text that begins like a URL but is not one."""
    return Answer(yes=is_url(request.path))


@operation
def list_databases(request: ListDatabases) -> Names:
    """Raise InvalidInputError for a store that cannot be a warehouse."""
    return Names(names=tuple(databases_in(request.warehouse)))


def databases_in(warehouse: str) -> list[str]:
    """Return the names of the databases in a folder, sorted. Raises as `list_databases`."""
    store = open_store(place(warehouse))
    names = sorted(_folders(store))
    calls = [partial(_is_database, store.address / name) for name in names]
    found = zip(names, store.together(calls), strict=True)
    return [name for name, is_database in found if is_database]


@operation
def database_exists(request: DatabaseExists) -> Answer:
    """Say yes for a damaged database, too."""
    return Answer(yes=_is_database(place(request.path)))


@operation
def create_database(request: CreateDatabase) -> Done:
    """Raise the errors of `ArrowDatabase.create`, and InvalidInputError within a transaction."""
    check_table_name(os.path.basename(request.path))
    TRANSACTIONS.refuse(request.path, "created")
    ArrowDatabase.create(place(request.path))
    return Done()


@operation
def drop_database(request: DropDatabase) -> Answer:
    """Raise InvalidInputError within a transaction."""
    store = open_store(place(request.path))
    TRANSACTIONS.refuse(request.path, "dropped")
    return Answer(yes=drop(Log(store), cascade=request.cascade))


@operation
def list_tables(request: ListTables) -> Names:
    """Raise NotFoundError if there is no database."""
    location, snapshot = SNAPSHOTS.head(place(request.path))
    if location.table is not None:
        raise NotFoundError(f"{location.url} is a table, not a database; name its database.")
    return Names(names=tuple(sorted(snapshot.own_names().values())))


@operation
def table_exists(request: TableExists) -> Answer:
    """Find a table in the session's transaction, too."""
    where = place(request.path, storage_of(request.options))
    try:
        location, state = SNAPSHOTS.try_head(where, request.query)
        return Answer(yes=state is not None and location.find(state) is not None)
    except InvalidInputError:
        return Answer(yes=False)


@operation
def drop_table(request: DropTable) -> Answer:
    """Drop a table in the session's transaction, if there is one."""
    return Answer(yes=drop_at(request.path))


def drop_at(path: str) -> bool:
    """Drop the table at a path; return False if there is none."""
    location = locate(place(path))
    table = location.find(_state(location)) if location.exists else None
    if table is None:
        return False
    if (transaction := TRANSACTIONS.to_write(location)) is not None:
        transaction.drop(table.name)
    else:
        ArrowDatabase.open(location.store.address).drop_table(table.name)
    return True


@operation
def rename_table(request: RenameTable) -> Done:
    """Raise AlreadyExistsError for the name of another table."""
    location = locate_existing(place(request.path))
    TRANSACTIONS.refuse(location.url, "renamed")
    state = _head(location)
    table = location.require(state)
    if not request.any_case:
        refuse_other_case(state, request.name, renamed=table.name)
    ArrowDatabase.open(location.store.address).rename_table(table.name, request.name)
    return Done()


@operation
def alter_table(request: AlterTable) -> Done:
    """Raise the errors of `ArrowTable.alter`, and InvalidInputError within a transaction."""
    TRANSACTIONS.refuse(request.path, "altered")
    table = ArrowTable.open(place(request.path))
    changes = alterations(request.changes)
    checked = [each.epoch for each in request.changes if isinstance(each, AddConstraint)]
    if checked:
        state = table._open.snapshot_at(min(checked))
        commit_alterations(table._log, table._snapshot, table._state, changes, state)
    else:
        table.alter(*changes)
    return Done()


def _head(location: Location) -> Snapshot:
    return Log(location.store).reader.read_head(opening=location.opening)


def _state(location: Location) -> Snapshot:
    """Return the newest state, or that of the session's transaction."""
    transaction = TRANSACTIONS.of(location)
    return _head(location) if transaction is None else transaction.snapshot


def _is_database(address: StoreAddress) -> bool:
    """Whether the place itself is a database of several tables, or a damaged database.

    A damaged database is listed, so that users can see and drop it.
    """
    if is_internal(os.path.basename(address.url)):
        return False
    try:
        location = locate(address)
        return location.exists and location.table is None and not _head(location).lone_table
    except (NotFoundError, InvalidInputError):
        # It is being dropped, and creating it again finishes the drop; or a key cannot be a place.
        return False
    except (CorruptionError, UnsupportedFormatError):
        return True


def _folders(store: ObjectStore) -> list[str]:
    """Return the names of the folders in a warehouse. Raises InvalidInputError for other stores."""
    if isinstance(store, BucketStore):
        return list(store.folders())
    if not isinstance(store, LocalStore):
        raise InvalidInputError(f"{store.url} cannot be a warehouse; give a folder or a bucket.")
    names = os.listdir(store.url) if os.path.isdir(store.url) else []
    return [name for name in names if os.path.isdir(f"{store.url}/{name}")]
