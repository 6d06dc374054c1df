"""Resolve the path that a user names to a database and a table in it.

    /data/trips            a lone table: the database is the directory itself
    /data/sales            a database
    /data/sales/orders     its table `orders`; the directory of that name need not exist

The last part of the path is looked up as a name in the log of the directory above. So renaming a
table moves no file. It is looked up once; an open table follows its id. Deeper paths are refused:
the nearest `_manifest` upward decides, and no database may be inside a table.

Spec: docs/spec/layout.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeVar

from colonnade.manifests.epochs.opening_reads import OpeningReads
from colonnade.manifests.epochs.slots import check_unused, is_taken
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.removed_folder import put_back
from colonnade.manifests.log.removed_objects import used_place_error
from colonnade.manifests.model.columns.statics import SUFFIX
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore, StoreAddress, StorePath, open_store
from colonnade.manifests.store.checks import no_database

T = TypeVar("T")

StorageOptions = Mapping[str, object]
"""Options of a store, as its fsspec library names them."""


@dataclass(frozen=True, slots=True)
class Location:
    """A database's store, and the name of one table in it (None: the database as a whole).

    With `id` and `created_epoch` it identifies one table, whatever table has the name now.
    `opening` is what `locate` has read of the log behind a network, for the first `read_head` of a
    caller.
    """

    store: ObjectStore
    table: str | None
    exists: bool
    id: TableId | None = None
    created_epoch: int = 0
    opening: OpeningReads | None = field(default=None, compare=False, repr=False)

    def find(self, snapshot: Snapshot) -> TableState | None:
        """Return the table, or None when it does not exist (yet, or any more).

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
        return next((t for t in snapshot.tables.values() if t.statics_of is None), None)

    def require(self, snapshot: Snapshot) -> TableState:
        """Return the table. Raises NotFoundError that lists the tables, or says it was dropped."""
        table = self.find(snapshot)
        if table is not None:
            return table
        if self.id is not None:
            raise NotFoundError(
                f"Table {self.url} was dropped or replaced and does not exist at epoch"
                f" {snapshot.epoch}; its earlier epochs can still be read, and a table that has its"
                " name now must be opened."
            )
        if self.table is None:
            raise NotFoundError(
                f"{self.store.url} is not a Colonnade table: it has none at epoch"
                f" {snapshot.epoch}; a dropped table is opened by"
                " colonnade.open_database(path).table(name, epoch=...)."
            )
        raise NotFoundError(
            f"Table {self.table!r} does not exist in database {self.store.url} at epoch"
            f" {snapshot.epoch}, whose tables are: {_known(snapshot)}; a dropped table is"
            f" opened by colonnade.open_database(path).table({self.table!r}, epoch=...)."
        )

    def follow(self, snapshot: Snapshot) -> Location:
        """Return a location that follows the table by its id, with its name in `snapshot`.

        A table that is already followed and no longer exists was dropped: its location is returned
        unchanged. Raises NotFoundError when the name is looked up for the first time and is
        unknown.
        """
        table = self.require(snapshot) if self.id is None else self.find(snapshot)
        return self if table is None else self._pinned(table)

    def require_absent(self, snapshot: Snapshot | None) -> None:
        """Raise AlreadyExistsError when the table exists. None means that the database does not."""
        if snapshot is not None and self.find(snapshot) is not None:
            raise AlreadyExistsError(
                f"{self.url} is a Colonnade table already; open it, or choose another name."
            )

    def require_at(self, snapshot: Snapshot, head: Snapshot | None) -> TableState:
        """Return the table at `snapshot`, an earlier state than `head`.

        This is the same table, under whatever name it had. If it did not exist yet, or the head
        does not identify it, this is the table that had its name. Raises NotFoundError that names
        the first version of the table, lists what existed, or says that it was dropped before.
        """
        now = None if head is None else self.find(head)
        known = self if now is None else self._pinned(now)
        if snapshot.epoch >= known.created_epoch or known.find(snapshot) is not None:
            return known.require(snapshot)
        earlier = replace(known, id=None).find(snapshot)
        if earlier is None:
            raise NotFoundError(
                f"Table {known.url} did not exist yet at epoch {snapshot.epoch}; it was created in"
                f" epoch {known.created_epoch}."
            )
        return earlier

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
    def address(self) -> StoreAddress:
        """The address of the table, or of the database; it leads back to this location."""
        root = self.store.address
        return root if self.table is None else root / self.table

    @property
    def new_table_name(self) -> str:
        """The name that a table created here gets: the last part of the path."""
        return self.table or self.store.url.rstrip("/").rsplit("/", 1)[-1]


def locate(path: StorePath, storage_options: StorageOptions | None = None) -> Location:
    """Find the database that `path` belongs to.

    On local disk it costs one or two GETs, and more if there is none. Behind a network, it costs
    the opening reads of the path and of the folder above it, side by side. If there is none, all
    folders above these follow. A live database that a killed drop has moved away from the path, or
    from the folder above it, is moved back.
    Raises InvalidInputError for a path inside a table, unless it may be that of its static values,
    and for a value that is not a path. Raises NotFoundError for a file. Raises CorruptionError for
    a database that has lost its epoch 0.
    """
    store = open_store(path, storage_options)
    place = store.address
    above = place.parent
    parent = None if above is None else open_store(above)
    found, opening = _look_near(store, parent)
    if found is True:
        return Location(store, None, exists=True, opening=opening)
    if parent is not None and found is not None:
        name = place.url.rpartition("/")[2]
        if found.lone_table and not name.endswith(SUFFIX):
            raise InvalidInputError(
                f"{store.url} is inside the table {parent.url}; use another path."
            )
        return Location(parent, name, exists=True, opening=opening)
    outer = _first_database([*_stores_above(above)])
    if outer is not None:
        raise InvalidInputError(
            f"{store.url} is too deep inside the database {outer.url}; its tables are"
            " addressed as <database>/<table>."
        )
    here = [store] if parent is None else [store, parent]
    if any([put_back(each) for each in here]):
        return locate(path, storage_options)
    store.together([partial(check_unused, each) for each in here])
    store.require_folder()
    return Location(store, None, exists=False)


def locate_existing(path: StorePath, storage_options: StorageOptions | None = None) -> Location:
    """Find the database that `path` belongs to. Costs and raises as `locate`.

    Raises NotFoundError, too, when no database is at the path or above it.
    """
    location = locate(path, storage_options)
    if not location.exists:
        raise no_database(location.store.url)
    return location


def find_store(path: StorePath, storage_options: StorageOptions | None = None) -> ObjectStore:
    """Return the store of the database at or above `path`, even if it cannot be opened any more.

    A database that has lost its epoch 0 is assumed to be at `path`. Raises NotFoundError when there
    is none.
    """
    try:
        return locate_existing(path, storage_options).store
    except CorruptionError:
        return open_store(path, storage_options)


def read_base(location: Location, log: Log) -> Snapshot | None:
    """Return the newest state of the database of a table that may have to be created.

    Returns None if there is no database at the table's path, or only the remains of one whose drop
    was killed. Creating the database then removes them. Raises NotFoundError if the database above
    the path was dropped, AlreadyExistsError for a dropped one at a place that keeps its log,
    CorruptionError, UnsupportedFormatError and StoreError.
    """
    if not location.exists:
        return None
    try:
        return log.reader.read_head(opening=location.opening)
    except NotFoundError:
        if location.table is not None or not log.reader.is_dropped():
            raise
    if location.store.keeps_logs:
        raise used_place_error(location.store)
    return None


def refuse_existing(location: Location) -> None:
    """Raise AlreadyExistsError when there is already a database at or above the path.

    A database whose log has ended may be created again, except where the store keeps the log.
    """
    if not location.exists:
        return
    dropped = False
    with suppress(CorruptionError, UnsupportedFormatError):
        dropped = location.table is None and Log(location.store).reader.is_dropped()
    if dropped and location.store.keeps_logs:
        raise used_place_error(location.store)
    if not dropped:
        raise AlreadyExistsError(
            f"{location.store.url} is a Colonnade database already; open it, or choose another"
            " path."
        )


def _stores_above(below: StoreAddress | None) -> Iterator[ObjectStore]:
    """Yield the stores of the folders above an address, nearest first."""
    while below is not None and (below := below.parent) is not None:
        yield open_store(below)


def _look_near(
    store: ObjectStore, parent: ObjectStore | None
) -> tuple[Literal[True] | Snapshot | None, OpeningReads | None]:
    """Return True if a path has a database, else the first state of the database above it, if any.

    The second value has the opening reads of that database, if there were any. Reads epoch 0 and
    not the head: with a damaged head, earlier epochs can still be read. Raises StoreError; for the
    database above, also CorruptionError.
    """
    if store.parallel == 1:
        taken = is_taken(store, 0)
        return taken or (None if parent is None else Log(parent).reader.try_read_first()), None
    looks = [partial(OpeningReads, store)]
    if parent is not None:
        # Either the path has the log, or the log above most often has a checkpoint, which its hint
        # names. So its other first slots would rarely serve.
        looks.append(partial(OpeningReads, parent, 1))
    near, *above = store.together(looks)
    if near.is_taken():
        return True, near
    if parent is None:
        return None, None
    [opening] = above
    return Log(parent).reader.try_read_first(opening), opening


def _first_database(stores: Sequence[ObjectStore]) -> ObjectStore | None:
    """Return the first store that has an epoch 0.

    Behind a network, all stores are looked at side by side. A store that must not be read, such as
    the folder above a bucket's only readable prefix, matters only if no earlier one has an epoch 0.
    Raises StoreError.
    """
    if not stores or stores[0].parallel == 1:
        return next((store for store in stores if is_taken(store, 0)), None)
    looks = [partial(_outcome, partial(is_taken, store, 0)) for store in stores]
    for store, found in zip(stores, stores[0].together(looks), strict=True):
        if isinstance(found, ColonnadeError):
            raise found
        if found:
            return store
    return None


def _outcome(look: Callable[[], T]) -> T | ColonnadeError:
    """Return the result of a look, or the error that it raised."""
    try:
        return look()
    except ColonnadeError as error:
        return error


def _known(snapshot: Snapshot) -> str:
    return ", ".join(sorted(snapshot.own_names().values())) or "none yet"
