"""Snapshots that the planner has seen, so that asking again costs one look for newer epochs.

Spark loads a table several times for one query and plans each of its uses. States are values and
an epoch never changes, so keeping them is safe; whether there is a newer one is always asked.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.transactions import TRANSACTIONS, is_state
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.table.kept_epochs import tagged_epoch

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """The values used last, by key, at most `limit` of them. Thread safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._values: OrderedDict[_Key, _Value] = OrderedDict()

    def get(self, key: _Key) -> _Value | None:
        """The value of a key, which counts as used."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: _Key, value: _Value) -> _Value:
        """Keep a value, and drop the one unused for longest."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        return value

    def drop(self, key: _Key) -> None:
        """Forget a key, whether it is known or not."""
        with self._lock:
            self._values.pop(key, None)


class Snapshots:
    """Finds tables by path and states by epoch. Thread safe."""

    def __init__(self) -> None:
        self._heads: Recent[str, tuple[Location, Snapshot]] = Recent(64)
        self._states: Recent[tuple[str, str, int], Snapshot] = Recent(32)

    def head(self, path: str) -> tuple[Location, Snapshot]:
        """Where a path leads, and the newest state there, as the session's transaction left it.

        Raises NotFoundError for a path that is no database or table.
        """
        if TRANSACTIONS.current() is None:
            return self._committed(path)
        location = locate_existing(path)
        transaction = TRANSACTIONS.of(location)
        return self._committed(path) if transaction is None else (location, transaction.snapshot)

    def _committed(self, path: str) -> tuple[Location, Snapshot]:
        known = self._heads.get(path)
        if known is not None:
            location, head = known
            try:
                head = Log(location.store).refresh(head)
                return self._heads.put(path, (location, head))
            except NotFoundError:
                # Removed or replaced: whatever is there now is found as if for the first time.
                self._heads.drop(path)
        location = locate_existing(path)
        return self._heads.put(path, (location, Log(location.store).read_head()))

    def find(
        self,
        path: str,
        epoch: int | None = None,
        timestamp_ms: int | None = None,
        tag: str | None = None,
    ) -> tuple[Location, Snapshot, TableState]:
        """The table at a path and its state at an epoch, time or tag; the newest without.

        A table that was renamed is found by the name that it has now. Raises NotFoundError for
        what does not exist, or is removed by retention.
        """
        if (epoch, timestamp_ms, tag) == (None, None, None):
            location, state = self.head(path)
            if is_state(state.epoch):
                return location, state, location.require(state)
            head = state
        else:
            location, head = self._committed(path)
            epoch = epoch if tag is None else tagged_epoch(head, tag)
            state = Log(location.store).read_at(epoch, timestamp_ms, head)
        self._states.put((location.store.url, state.database, state.epoch), state)
        return location, state, location.require_at(state, head)

    def at(self, url: str, database: str, epoch: int) -> Snapshot:
        """The state of a database at an epoch that was seen before, or one of a transaction.

        Raises NotFoundError where it was removed or replaced since.
        """
        if is_state(epoch):
            return TRANSACTIONS.state(epoch)
        key = (url, database, epoch)
        state = self._states.get(key)
        if state is None:
            state = Log(open_store(url)).read_at(epoch)
            if state.database != database:
                raise NotFoundError(
                    f"{url} was replaced by another table since it was loaded; load it again."
                )
            self._states.put(key, state)
        return state


SNAPSHOTS = Snapshots()
"""Those of this process."""
