"""The tables of a large database, read from a checkpoint on demand.

Spec: docs/spec/checkpoint.md#tables
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from colonnade.manifests.checkpoint.paged_map import PagePlace, encode_table
from colonnade.manifests.checkpoint.root import StoredMaps, decode_table_record
from colonnade.manifests.checkpoint.stored_batches import CheckpointBatches, StoredBatches
from colonnade.manifests.checkpoint.stored_map import StoredMap
from colonnade.manifests.errors import ColonnadeError, CorruptionError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.map_ref import MapRef
from colonnade.manifests.once import once
from colonnade.manifests.state.folds.statics import whole_table
from colonnade.manifests.state.snapshot import BatchMap, Replay, TableMap, TableState
from colonnade.manifests.store.object_store import ObjectStore


def read_batches(
    store: ObjectStore, replay: Replay, epoch: int, table: TableId, created_epoch: int, ref: MapRef
) -> BatchMap:
    """Return the batches of a table that are in a map of a checkpoint. Reads nothing yet."""
    return StoredBatches(CheckpointBatches(store, replay, epoch, table, created_epoch, ref))


class CheckpointTables:
    """The tables of one checkpoint. All states made from the checkpoint share them.

    `epoch` is the checkpoint's epoch. `held` are the tables that the checkpoint's writer had in
    memory.
    """

    def __init__(
        self,
        records: StoredMap,
        names: StoredMap,
        replay: Replay,
        epoch: int,
        held: Iterable[TableState] = (),
    ) -> None:
        self.records = records
        self.names = names
        self.replay = replay
        self._read_batches = partial(read_batches, records.store, replay, epoch)
        self._decoded: dict[str, TableState] = {table.id: table for table in held}
        self._ids: dict[str, TableId] = {table.name: table.id for table in held}

    @property
    def objects(self) -> frozenset[str]:
        """The objects that store the tables."""
        return self.records.table.objects | self.names.table.objects

    def held(self) -> list[TableState]:
        """Return the tables that are already loaded."""
        return list(self._decoded.values())

    def find(self, name: str) -> TableId | None:
        """Return the id of the table with a name. Costs a small GET, unless the table is loaded."""
        found = self._ids.get(name)
        if found is None and (value := self.names.get(name)) is not None:
            found = TableId(str(value))
        return found

    def described(self) -> StoredMaps:
        """Return the places of the maps of tables and of names, for the root of a checkpoint."""
        return StoredMaps(
            records=encode_table(self.records.table), names=encode_table(self.names.table)
        )

    def __contains__(self, table: str) -> bool:
        return table in self._decoded or self.records.get(table) is not None

    def get(self, table: str) -> TableState | None:
        """Return a table by its id, or None. Costs a small GET the first time."""
        found = self._decoded.get(table)
        if found is not None:
            return found
        value = self.records.get(table)
        return None if value is None else self._decode(table, value)

    def read_all(self) -> None:
        """Read all tables. Costs a GET for each object that stores tables."""
        for table, value in self.records.items():
            if table not in self._decoded:
                self._decode(table, value)

    def read_beside(self, before: CheckpointTables) -> Iterator[TableState]:
        """Yield the tables in pages that `before` does not share.

        Also reads such pages of names, only to check that they are readable. Costs a GET for each
        object with such a page. Raises as `StoredMap`.
        """
        yield from self.tables_beside(before)
        for _ in self.names.items(before.names.table):
            pass

    def tables_beside(self, before: CheckpointTables) -> Iterator[TableState]:
        """Yield the tables in pages that `before` does not share.

        Costs a GET for each object with such a page. Raises as `StoredMap`.
        """
        for table, value in self.records.items(before.records.table):
            yield self._decode(table, value)

    @once
    def places(self) -> frozenset[PagePlace]:
        """The places of all pages of the tables and of their names."""
        return self.records.table.places | self.names.table.places

    def places_beside(
        self, before: CheckpointTables, places: frozenset[PagePlace]
    ) -> frozenset[PagePlace]:
        """Return `places`, from those of another checkpoint: cheap if few pages differ."""
        pairs = (
            (before.records.table, self.records.table),
            (before.names.table, self.names.table),
        )
        gone = {place for old, new in pairs for place in old.places_beside(new)}
        come = {place for old, new in pairs for place in new.places_beside(old)}
        return (places - gone) | come

    def decode(self, table: str, value: Any) -> TableState:
        """Read a table from its record. Raises CorruptionError, UnsupportedFormatError."""
        name = f"{self.records.store.url} (table {table} of a checkpoint)"
        state = decode_table_record(value, name, self._read_batches)
        if state.id != table:
            raise CorruptionError(f"{name} holds table {state.id} instead.")
        return state

    def _decode(self, table: str, value: Any) -> TableState:
        state = whole_table(self.decode(table, value), self.get)
        self._ids[state.name] = state.id
        return self._decoded.setdefault(table, state)


class StoredTables(TableMap):
    """The tables of a checkpoint, and the tables that later epochs changed.

    `epoch` is the state's epoch. If a part of the checkpoint cannot be read, the tables as of this
    epoch are read from the log.
    """

    def __init__(
        self,
        stored: CheckpointTables,
        epoch: int,
        changed: Mapping[TableId, TableState | None] | None = None,
    ) -> None:
        self.stored = stored
        self._epoch = epoch
        self._changed = dict(changed or {})
        self._replayed: Mapping[TableId, TableState] | None = None

    def __getitem__(self, table: TableId) -> TableState:
        if table in self._changed:
            found = self._changed[table]
        elif self._replayed is not None:
            found = self._replayed.get(table)
        else:
            try:
                found = self.stored.get(table)
            except ColonnadeError as error:
                found = self._replay(error).get(table)
        if found is None:
            raise KeyError(table)
        return found

    def __contains__(self, table: object) -> bool:
        if table in self._changed:
            return self._changed[TableId(str(table))] is not None
        if self._replayed is None:
            try:
                return isinstance(table, str) and table in self.stored
            except ColonnadeError as error:
                self._replay(error)
        return self._replayed is not None and table in self._replayed

    def __iter__(self) -> Iterator[TableId]:
        """Iterate over all ids. Reads all tables at once."""
        names = self.names()
        if self._replayed is None:
            try:
                self.stored.read_all()
            except ColonnadeError as error:
                self._replay(error)
        return iter(names)

    def __len__(self) -> int:
        return len(self.names())

    def find(self, name: str) -> TableState | None:
        """Return the table with this exact name, or None. Costs two small GETs the first time."""
        for table in self._changed.values():
            if table is not None and table.name == name:
                return table
        if self._replayed is None:
            try:
                found = self.stored.find(name)
            except ColonnadeError as error:
                self._replay(error)
            else:
                unchanged = found is not None and found not in self._changed
                return self.get(found) if found is not None and unchanged else None
        left = (t for key, t in (self._replayed or {}).items() if key not in self._changed)
        return next((table for table in left if table.name == name), None)

    def names(self) -> Mapping[TableId, str]:
        """Return the names of all tables, by id. Costs a GET for each object with names."""
        if self._replayed is None:
            try:
                found = {TableId(str(key)): name for name, key in self.stored.names.items()}
            except ColonnadeError as error:
                self._replay(error)
        if self._replayed is not None:
            found = {key: table.name for key, table in self._replayed.items()}
        for key, table in self._changed.items():
            found.pop(key, None)
            if table is not None:
                found[key] = table.name
        return found

    def replayed(self, error: ColonnadeError) -> Mapping[TableId, TableState]:
        """Return all tables of this epoch, read from the log after an error of the checkpoint."""
        return {
            key: table
            for key, table in {**self._replay(error), **self._changed}.items()
            if table is not None
        }

    def held(self) -> Mapping[TableId, TableState | None]:
        return self._changed

    def stored_objects(self) -> frozenset[str]:
        """Return the checkpoint's objects, which store the tables that have not changed since."""
        return self.stored.objects

    def with_changes(
        self, changes: Mapping[TableId, TableState | None], epoch: int
    ) -> StoredTables:
        return StoredTables(self.stored, epoch, {**self._changed, **changes})

    def _replay(self, error: ColonnadeError) -> Mapping[TableId, TableState]:
        state = self.stored.replay(error, self._epoch)
        if state.epoch > self._epoch:
            raise NotFoundError(
                f"The state at epoch {self._epoch} of {self.stored.records.store.url} was removed"
                f" by retention; the oldest readable epoch is {state.epoch}."
            ) from error
        self._replayed = state.tables
        return self._replayed
