"""From the path that a user names to a database and the table in it.

    /data/trips            a lone table: the database is the directory itself
    /data/sales            a database
    /data/sales/orders     its table `orders`; the directory of that name need not exist

The last segment is looked up as a name in the log of the directory above, so renaming a table
moves no file. It is looked up once: whoever keeps a table open follows its id. Deeper paths are
refused: the nearest `_manifest` upward wins, and nothing lives below a table.
Spec: docs/spec/layout.md
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from colonnade.manifests.epochs.slots import check_unused, is_taken
from colonnade.manifests.errors import (
    AlreadyExistsError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import LocalStore, ObjectStore, open_store

StorageOptions = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Location:
    """A database's store, and the name of one table in it (None: the database as a whole).

    With `id`, and `created_epoch`, it is that very table, whatever has its name now.
    """

    store: ObjectStore
    table: str | None
    exists: bool
    id: TableId | None = None
    created_epoch: int = 0

    def find(self, snapshot: Snapshot) -> TableState | None:
        """The table meant, or None where there is none (yet, or any more).

        Raises InvalidInputError when the path names a database of several tables.
        """
        if self.id is not None:
            return snapshot.tables.get(self.id)
        if self.table is not None:
            return snapshot.find_table(self.table)
        if not snapshot.lone_table:
            raise InvalidInputError(
                f"{self.store.url} is a database, not a table; name one of its tables:"
                f" {_known(snapshot)}."
            )
        return next(iter(snapshot.tables.values()), None)

    def require(self, snapshot: Snapshot) -> TableState:
        """The table meant. Raises NotFoundError that lists what there is, or says what was."""
        table = self.find(snapshot)
        if table is not None:
            return table
        if self.id is not None:
            raise NotFoundError(
                f"Table {self.url} was dropped or replaced and is not there at epoch"
                f" {snapshot.epoch}; its earlier epochs can still be read, and a table that has its"
                " name now must be opened."
            )
        if self.table is None:
            raise NotFoundError(
                f"{self.store.url} is no Colonnade table: it holds none at epoch"
                f" {snapshot.epoch}; one that was dropped is opened by"
                " colonnade.open_database(path).table(name, epoch=...)."
            )
        raise NotFoundError(
            f"Table {self.table!r} does not exist in database {self.store.url} at epoch"
            f" {snapshot.epoch}, whose tables are: {_known(snapshot)}; one that was dropped is"
            f" opened by colonnade.open_database(path).table({self.table!r}, epoch=...)."
        )

    def follow(self, snapshot: Snapshot) -> Location:
        """The same table by its id from now on, and by the name that it has in `snapshot`.

        One that is followed already and is not there was dropped: it stays as it is. Raises
        NotFoundError where the name, looked up for the first time, is unknown.
        """
        table = self.require(snapshot) if self.id is None else self.find(snapshot)
        return self if table is None else self._pinned(table)

    def require_at(self, snapshot: Snapshot, head: Snapshot | None) -> TableState:
        """The table meant, as of an earlier state than `head`.

        That is the same table under whatever name it had; where it did not exist yet, or it is
        not known which one is meant, the one that had its name. Raises NotFoundError that lists
        what there was, or says that the table was dropped before.
        """
        now = None if head is None else self.find(head)
        known = self if now is None else self._pinned(now)
        if snapshot.epoch < known.created_epoch and known.find(snapshot) is None:
            known = replace(known, id=None)
        return known.require(snapshot)

    def _pinned(self, table: TableState) -> Location:
        name = None if self.table is None else table.name
        if (self.id, self.table) == (table.id, name):
            return self
        return replace(self, table=name, id=table.id, created_epoch=table.created_epoch)

    @property
    def url(self) -> str:
        """The path of the table, or of the database."""
        root = self.store.url.rstrip("/")
        return root if self.table is None else f"{root}/{self.table}"

    @property
    def new_table_name(self) -> str:
        """The name that a table created here gets: the last segment of the path."""
        return self.table or self.store.url.rstrip("/").rsplit("/", 1)[-1]


def locate(path: str | os.PathLike[str], storage_options: StorageOptions | None = None) -> Location:
    """Find the database that `path` belongs to; costs one to three GETs, more if there is none.

    Raises InvalidInputError for a path below a table, and for what is no path; NotFoundError for
    a file; CorruptionError for a database that has lost its epoch 0.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise InvalidInputError(f"{path!r} is no path: give a folder or a URL.")
    store = open_store(path, storage_options)
    if is_taken(store, 0):
        return Location(store, None, exists=True)
    # What the user gave, where it is a URL: the store's own text may leave out credentials.
    given = store.url if isinstance(store, LocalStore) else str(path)
    parent_url, _, name = given.rstrip("/").rpartition("/")
    parent = _parent(parent_url, storage_options)
    if parent is not None and is_taken(parent, 0):
        # Not the head: where that is damaged, earlier epochs can still be read.
        if Log(parent).read_first().lone_table:
            raise InvalidInputError(f"{store.url} lies inside the table {parent.url}.")
        return Location(parent, name, exists=True)
    outer = _nearest_database(parent_url, storage_options)
    if outer is not None:
        raise InvalidInputError(
            f"{store.url} lies too deep inside the database {outer.url}; its tables are"
            " addressed as <database>/<table>."
        )
    for place in (store, parent):
        if place is not None:
            check_unused(place)
    store.require_folder()
    return Location(store, None, exists=False)


def locate_existing(
    path: str | os.PathLike[str], storage_options: StorageOptions | None = None
) -> Location:
    """Like `locate`. Raises NotFoundError when there is no database at or above `path`."""
    location = locate(path, storage_options)
    if not location.exists:
        raise NotFoundError(f"{location.store.url} is no Colonnade database or table.")
    return location


def find_store(
    path: str | os.PathLike[str], storage_options: StorageOptions | None = None
) -> ObjectStore:
    """The store of the database at or above `path`, also of one that cannot be opened any more.

    One that has lost its epoch 0 is taken to be at `path`. Raises NotFoundError if there is none.
    """
    try:
        return locate_existing(path, storage_options).store
    except CorruptionError:
        return open_store(path, storage_options)


def refuse_existing(location: Location) -> None:
    """Raises AlreadyExistsError when a database is at the path already."""
    if location.exists:
        raise AlreadyExistsError(f"{location.store.url} is a Colonnade database already.")


def _parent(url: str, storage_options: StorageOptions | None) -> ObjectStore | None:
    """The store at `url`, or None above the root of a file system or bucket."""
    if not url or url.endswith(("/", ":")):
        return None
    return open_store(url, storage_options)


def _nearest_database(url: str, storage_options: StorageOptions | None) -> ObjectStore | None:
    while (store := _parent(url := url.rpartition("/")[0], storage_options)) is not None:
        if is_taken(store, 0):
            return store
    return None


def _known(snapshot: Snapshot) -> str:
    return ", ".join(sorted(snapshot.table_names().values())) or "none yet"
