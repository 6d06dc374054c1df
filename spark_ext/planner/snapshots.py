"""Cache the snapshots that the planner has read; a repeated request only looks for newer epochs.

Spark loads a table several times for one query, and plans each of its uses. The state of an epoch
never changes, so caching it is safe. The planner always checks whether a newer epoch exists.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.reading.last_look import LastLook
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore, StoreAddress, open_store
from colonnade.spark_ext.planner.transactions import TRANSACTIONS, is_state
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.table.kept_epochs import tagged_epoch

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


class Snapshots:
    """Finds tables by path and states by epoch. Thread-safe."""

    def __init__(self) -> None:
        self._heads: Recent[StoreAddress, tuple[Location, Snapshot]] = Recent(64)
        self._states: Recent[tuple[StoreAddress, str, int], Snapshot] = Recent(32)
        self._looks: Recent[StoreAddress, LastLook] = Recent(64)

    def log(self, store: ObjectStore) -> Log:
        """Return the log of a store. All logs of a store share when this process saw it last."""
        log = Log(store)
        known = self._looks.get(store.address)
        log.last_look = known or self._looks.put(store.address, log.last_look)
        return log

    def head(self, path: StoreAddress) -> tuple[Location, Snapshot]:
        """Return the location of a path and its newest state, or that of the transaction.

        Raises NotFoundError for a path that is not a database or table.
        """
        if TRANSACTIONS.current() is None:
            return self._committed(path)
        location = locate_existing(path)
        transaction = TRANSACTIONS.of(location)
        return self._committed(path) if transaction is None else (location, transaction.snapshot)

    def _committed(self, path: StoreAddress) -> tuple[Location, Snapshot]:
        known = self._heads.get(path)
        if known is not None:
            location, head = known
            try:
                head = self.log(location.store).refresh(head)
                return self._heads.put(path, (location, head))
            except NotFoundError:
                # It was removed or replaced, so the path is read again from the start.
                self._heads.drop(path)
        location = locate_existing(path)
        head = self.log(location.store).read_head(hint=location.hint)
        return self._heads.put(path, (location, head))

    def find(
        self,
        path: StoreAddress,
        epoch: int | None = None,
        timestamp_ms: int | None = None,
        tag: str | None = None,
    ) -> tuple[Location, Snapshot, TableState]:
        """Return the table at a path at an epoch, time or tag, or else at the newest epoch.

        A renamed table is found by its newest name. Raises NotFoundError if the table or the epoch
        does not exist, or if retention has removed the epoch.
        """
        if (epoch, timestamp_ms, tag) == (None, None, None):
            location, state = self.head(path)
            if is_state(state.epoch):
                return location, state, location.require(state)
            head = state
        else:
            location, head = self._committed(path)
            epoch = epoch if tag is None else tagged_epoch(head, tag)
            state = self.log(location.store).read_at(epoch, timestamp_ms, head)
        self._states.put((location.store.address, state.database, state.epoch), state)
        return location, state, location.require_at(state, head)

    def at(self, address: StoreAddress, database: str, epoch: int) -> Snapshot:
        """Return the state of a database at an epoch read before, or a state of a transaction.

        Raises NotFoundError if the epoch was removed, or the database replaced, since then.
        """
        if is_state(epoch):
            return TRANSACTIONS.state(epoch)
        key = (address, database, epoch)
        state = self._states.get(key)
        if state is None:
            state = Log(open_store(address)).read_at(epoch)
            if state.database != database:
                raise NotFoundError(
                    f"{address.url} was replaced after it had been loaded; load it again."
                )
            self._states.put(key, state)
        return state


SNAPSHOTS = Snapshots()
"""The cached snapshots of this process."""
