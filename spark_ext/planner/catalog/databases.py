"""Answer the catalog's requests: list and change the databases of a warehouse and their tables.

A database of the catalog is a Colonnade database `<warehouse>/<name>`. Tables are named by their
path: `<database>/<table>`, or the path of a lone table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

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
from colonnade.spark_ext.options import storage_of
from colonnade.spark_ext.planner.catalog.alterations import alterations
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.table_design import refuse_other_case
from colonnade.tableformat.location import Location, locate, locate_existing
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.design import check_table_name
from colonnade.tableformat.table.table import ArrowTable

Args = Mapping[str, Any]


def names_url(args: Args) -> dict[str, Any]:
    """Say whether the text `path` is a URL and not a path on a local disk.

    Raises InvalidInputError for a text that begins like a URL but is not one.
    """
    return {"url": is_url(args["path"])}


def list_databases(args: Args) -> dict[str, Any]:
    """List the databases in the folder `warehouse`, sorted; none if the folder is missing."""
    store = open_store(place(args["warehouse"]))
    names = sorted(_folders(store))
    calls = [partial(_is_database, store.address / name) for name in names]
    found = zip(names, store.together(calls), strict=True)
    return {"databases": [name for name, is_database in found if is_database]}


def database_exists(args: Args) -> dict[str, Any]:
    """Say whether `path` is a database of several tables."""
    return {"exists": _is_database(place(args["path"]))}


def create_database(args: Args) -> dict[str, Any]:
    """Create an empty database at `path`."""
    check_table_name(os.path.basename(args["path"]))
    TRANSACTIONS.refuse(args["path"], "created")
    ArrowDatabase.create(place(args["path"]))
    return {}


def drop_database(args: Args) -> dict[str, Any]:
    """Remove the database at `path` and everything in its folder; tables need `cascade`.

    The reply's `dropped` is false if the database stays because it has tables.
    """
    store = open_store(place(args["path"]))
    TRANSACTIONS.refuse(args["path"], "dropped")
    return {"dropped": drop(Log(store), cascade=args["cascade"])}


def list_tables(args: Args) -> dict[str, Any]:
    """List the tables of the database at `path`, sorted."""
    location, snapshot = SNAPSHOTS.head(place(args["path"]))
    if location.table is not None:
        raise NotFoundError(f"{location.url} is a table, not a database; name its database.")
    return {"tables": sorted(snapshot.own_names().values())}


def table_exists(args: Args) -> dict[str, Any]:
    """Say whether a table exists at `path`; false for a path that cannot be one.

    The optional `options` may have options of its store, as those of a DataFrame. `query` is as
    in `load.load`.
    """
    where = place(args["path"], storage_of(args.get("options", {})))
    try:
        location, state = SNAPSHOTS.try_head(where, args.get("query"))
        return {"exists": state is not None and location.find(state) is not None}
    except InvalidInputError:
        return {"exists": False}


def drop_table(args: Args) -> dict[str, Any]:
    """Drop the table at `path`; the reply's `dropped` is false if it does not exist."""
    location = locate(place(args["path"]))
    table = location.find(_state(location)) if location.exists else None
    if table is None:
        return {"dropped": False}
    if (transaction := TRANSACTIONS.to_write(location)) is not None:
        transaction.drop(table.name)
    else:
        ArrowDatabase.open(location.store.address).drop_table(table.name)
    return {"dropped": True}


def rename_table(args: Args) -> dict[str, Any]:
    """Rename the table at `path` to `name`, in the same database.

    Unless `any_case` is true, the name of another table but for case is refused.
    """
    location = locate_existing(place(args["path"]))
    TRANSACTIONS.refuse(location.url, "renamed")
    state = _head(location)
    table = location.require(state)
    if not args["any_case"]:
        refuse_other_case(state, args["name"], renamed=table.name)
    ArrowDatabase.open(location.store.address).rename_table(table.name, args["name"])
    return {}


def alter_table(args: Args) -> dict[str, Any]:
    """Apply `changes` to the table at `path`, in order and in one epoch.

    Each change has a `kind` and the arguments of that kind, which `alterations.py` lists. A new
    constraint also has the `epoch` at which Spark has checked all rows.
    """
    TRANSACTIONS.refuse(args["path"], "altered")
    table = ArrowTable.open(place(args["path"]))
    changes = alterations(args["changes"])
    checked = [int(each["epoch"]) for each in args["changes"] if each["kind"] == "add_constraint"]
    if not checked:
        return {"epoch": table.alter(*changes)}
    return {"epoch": table._alter_checked(table._snapshot_at(min(checked)), *changes)}


def _head(location: Location) -> Snapshot:
    return Log(location.store).reader.read_head(look=location.look)


def _state(location: Location) -> Snapshot:
    """Return the newest state, or that of the session's transaction."""
    transaction = TRANSACTIONS.of(location)
    return _head(location) if transaction is None else transaction.snapshot


def _is_database(address: StoreAddress) -> bool:
    """Whether the place itself is a database of several tables, or a damaged database.

    A damaged database is listed, so that users can see and drop it.
    """
    if os.path.basename(address.url).startswith("_"):
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


OPS = {
    "names_url": names_url,
    "list_databases": list_databases,
    "database_exists": database_exists,
    "create_database": create_database,
    "drop_database": drop_database,
    "list_tables": list_tables,
    "table_exists": table_exists,
    "drop_table": drop_table,
    "rename_table": rename_table,
    "alter_table": alter_table,
}
