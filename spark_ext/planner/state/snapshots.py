"""Cache the snapshots that the planner has read; a repeated request only looks for newer epochs.

Spark loads a table several times for one query, and plans each of its uses. The state of an epoch
never changes, so caching it is safe. The planner checks whether a newer epoch exists, but once for
all requests of one query: a query reads what was committed before it began.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, NamedTuple, TypeVar

from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.epochs.agreement import Agreement
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.reading.early_segments import EarlySegments
from colonnade.manifests.reading.last_look import LastLook
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore, StoreAddress, open_store
from colonnade.manifests.store.checks import no_database
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.tableformat.location import Location, locate
from colonnade.tableformat.table.epochs.tags_and_pins import tagged_epoch
from colonnade.tableformat.table.epochs.time_travel import NOW, seen_ms

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """A cache of the `limit` values used last, by key. Thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[_Key, _Value] = OrderedDict()

    def get(self, key: _Key) -> _Value | None:
        """Return the value of a key, and mark it as used; None if the key is unknown."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: _Key, value: _Value) -> _Value:
        """Keep a value, drop the least recently used one above the limit, and return the value."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return value

    def drop(self, key: _Key) -> None:
        """Drop a key, if it is known."""
        with self._lock:
            self._values.pop(key, None)

    def items(self) -> list[tuple[_Key, _Value]]:
        """Return all keys with their values."""
        with self._lock:
            return [*self._values.items()]


ANY_LOOK = 0
"""The number of a request that reads no rows of the newest state.

It uses any look of a moment ago (`LastLook.covers`). On local disk no look counts for that, so the
request looks again.
"""


class _Head(NamedTuple):
    """The newest state of a path, as a look for a query found it after `changes` own changes."""

    location: Location
    snapshot: Snapshot
    query: int | None
    changes: int


class TableInState(NamedTuple):
    """A table in a state, and when it is read.

    `now` is the time of a query in ms since 1970 UTC, and `agreed` that of a statement that writes
    to the table. Both are None if nothing expires in the table. A query that names a state or a
    time has no `agreed`.
    """

    location: Location
    state: Snapshot
    table: TableState
    now: int | None = None
    agreed: AgreedTime | None = None


class Snapshots:
    """Finds tables by path and states by epoch. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # A table has several paths, such as those that begin with s3: and s3a:.
        self._places: Recent[StoreAddress, StoreAddress] = Recent(256)
        self._heads: Recent[StoreAddress, _Head] = Recent(64)
        # How many operations of this planner may have changed a log.
        self._changes = 0
        # When the queries began, by the clock of this machine.
        self._begins: Recent[int, int] = Recent(256)
        self._states: Recent[tuple[StoreAddress, str, int], Snapshot] = Recent(32)
        self._shared: Recent[StoreAddress, tuple[LastLook, EarlySegments, Agreement]] = Recent(64)

    def log(self, store: ObjectStore) -> Log:
        """Return the log of a store.

        All logs of a store share when this process saw it last, what its clock said, and the
        segments that it has read early.
        """
        log = Log(store)
        reader, known = log.reader, self._shared.get(store.address)
        own = reader.last_look, reader.follower.early, log.agreement
        shared = known or self._shared.put(store.address, own)
        reader.last_look, reader.follower.early, log.agreement = shared
        return log

    def changed(self) -> None:
        """Record that an operation of this planner may have changed a log: old looks are void."""
        with self._lock:
            self._changes += 1

    def committed(self, address: StoreAddress, after: Snapshot) -> None:
        """Record the state after an own commit, so that the next look reads no epoch up to it."""
        for place, known in self._heads.items():
            head = known.snapshot
            here = (known.location.store.address, head.database) == (address, after.database)
            if here and head.epoch < after.epoch:
                self._heads.put(place, known._replace(snapshot=after))

    def head(self, path: StoreAddress, query: int | None = None) -> tuple[Location, Snapshot]:
        """Return the location of a path and its newest state, or that of the transaction.

        `query` is the number of the query that asks, if it has one. Its first request looks for the
        newest state, and the later ones get the same state, unless this planner has changed a log
        since. The query `ANY_LOOK` gets what any other query has just found. Raises NotFoundError
        for a path that is not a database or table.
        """
        location, state = self.try_head(path, query)
        return location, _required(location, state)

    def try_head(
        self, path: StoreAddress, query: int | None = None
    ) -> tuple[Location, Snapshot | None]:
        """Return what `head` returns, but None as the state without a database at or above the
        path.

        Raises NotFoundError for a database that was dropped.
        """
        if TRANSACTIONS.current() is None:
            return self._committed(path, query)
        location = locate(path)
        transaction = TRANSACTIONS.of(location) if location.exists else None
        if transaction is None:
            return self._committed(path, query)
        return location, transaction.snapshot

    def newest(self, path: StoreAddress, query: int | None = None) -> tuple[Location, Snapshot]:
        """Return what `head` returns, but never the state of a transaction."""
        location, state = self._committed(path, query)
        return location, _required(location, state)

    def _committed(
        self, path: StoreAddress, query: int | None = None
    ) -> tuple[Location, Snapshot | None]:
        place, changes = self._places.get(path), self._changes
        known = None if place is None else self._heads.get(place)
        if place is not None and known is not None:
            log = self.log(known.location.store)
            served = query is not None and query == known.query
            if query == ANY_LOOK:
                served = log.reader.last_look.covers(known.snapshot)
            if served and changes == known.changes:
                return known.location, known.snapshot
            try:
                head = log.reader.refresh(known.snapshot)
                self._heads.put(place, _Head(known.location, head, query, changes))
                return known.location, head
            except NotFoundError:
                # It was removed or replaced, so the path is read again from the start.
                self._heads.drop(place)
        location = locate(path)
        if not location.exists:
            return location, None
        head = self.log(location.store).reader.read_head(opening=location.opening)
        place = location.address
        for each in (path, place):
            self._places.put(each, place)
        self._heads.put(place, _Head(location, head, query, changes))
        return location, head

    def find(
        self,
        path: StoreAddress,
        epoch: int | None = None,
        timestamp_ms: int | None = None,
        tag: str | None = None,
        query: int | None = None,
        seen_at: str | None = None,
    ) -> TableInState:
        """Return the table at a path at an epoch, time or tag, or else at the newest epoch.

        `query` is as in `head`, and counts for the newest epoch alone. The table is seen at the
        time of the query, which all its requests share, or else as `seen_ms` says. A renamed table
        is found by its newest name. Raises NotFoundError if the table or the epoch does not exist,
        or if retention has removed the epoch.
        """
        if (epoch, timestamp_ms, tag) == (None, None, None):
            location, state = self.head(path, query)
            head, pinned = state, False
        else:
            location, head = self.newest(path)
            epoch = epoch if tag is None else tagged_epoch(head, tag)
            state, pinned = self.log(location.store).reader.read_at(epoch, timestamp_ms, head), True
        if not is_state(state.epoch):
            self.keep(location.store.address, state)
        found = TableInState(location, state, location.require_at(state, head))
        if found.table.lifetimes is None:
            return found
        log = self.log(location.store)
        begun = self._begun_ms(log, query)
        now = max(begun, state.time_ms)
        if seen_at is None and not pinned:
            agreed = self._agreed(log, state, found.table, begun)
            now = agreed.earliest_ms if is_state(state.epoch) else now
            return found._replace(now=now, agreed=agreed)
        if seen_at != NOW:
            now = seen_ms(log.reader, state, pinned=pinned, seen_at=seen_at)
        return found._replace(now=now)

    def _begun_ms(self, log: Log, query: int | None) -> int:
        """Return when a query began, by this machine's clock; all its requests get the same."""
        known = self._begins.get(query) if query else None
        if known is not None:
            return known
        now = log.reader.now_ms()
        return self._begins.put(query, now) if query else now

    def statement_time(
        self, store: ObjectStore, state: Snapshot, table: TableState | None, view: NamedView | None
    ) -> AgreedTime:
        """Return the time of a statement on a state, which may be that of a transaction.

        If the statement has read its table in a `view`, this is the time of the view. Costs and
        raises as `Agreement.time`.
        """
        if view is not None and view.agreed is not None and not is_state(state.epoch):
            return view.agreed.not_before(state.time_ms)
        return self._agreed(self.log(store), state, table)

    @staticmethod
    def _agreed(
        log: Log, state: Snapshot, table: TableState | None, begun_ms: int | None = None
    ) -> AgreedTime:
        if is_state(state.epoch):
            return TRANSACTIONS.holding(state.epoch).agreed(table)
        return log.agreement.statement_time(state, table, begun_ms)

    def at(self, address: StoreAddress, database: str, epoch: int) -> Snapshot:
        """Return the state of a database at an epoch read before, or a state of a transaction.

        Raises NotFoundError if the epoch was removed, or the database replaced, since then.
        """
        if is_state(epoch):
            return TRANSACTIONS.state(epoch)
        state = self.kept(address, database, epoch)
        if state is None:
            state = Log(open_store(address)).reader.read_at(epoch)
            if state.database != database:
                raise NotFoundError(
                    f"{address.url} was replaced after it had been loaded; load it again."
                )
            self.keep(address, state)
        return state

    def keep(self, address: StoreAddress, state: Snapshot) -> None:
        """Keep a state for `kept`, until this planner has read many other states."""
        self._states.put((address, state.database, state.epoch), state)

    def kept(self, address: StoreAddress, database: str, epoch: int) -> Snapshot | None:
        """Return the state at an epoch that was read before, or None if it is not kept."""
        return self._states.get((address, database, epoch))

    def of_view(self, view: NamedView) -> tuple[Snapshot, TableState]:
        """Return the state of a database that a view is of, and the table in it. Raises as `at`."""
        state = self.at(place_of(view), view.database, view.epoch)
        return state, state.tables[TableId(view.table)]


def _required(location: Location, state: Snapshot | None) -> Snapshot:
    """Return a state. Raises NotFoundError if there is none."""
    if state is None:
        raise no_database(location.store.url)
    return state


SNAPSHOTS = Snapshots()
"""The cached snapshots of this process."""
