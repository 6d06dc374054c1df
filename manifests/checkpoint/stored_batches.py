"""The batches of a table with many applications, read from a checkpoint page by page.

Spec: docs/spec/checkpoint.md#batches
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from colonnade.manifests.checkpoint.paged_map import decode_table, encode_table
from colonnade.manifests.checkpoint.root import PagedBatches
from colonnade.manifests.checkpoint.stored_map import StoredMap, write_map
from colonnade.manifests.errors import ColonnadeError, CorruptionError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.map_ref import MapRef
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import Replay, TableState
from colonnade.manifests.store.object_store import ObjectStore

_ENTRY_BYTES = 16
"""The approximate bytes of an entry in a root, without the name of its application."""


class CheckpointBatches:
    """The batches of a table in one checkpoint. All states made from the checkpoint share them.

    `epoch` is the checkpoint's epoch. If a page of the checkpoint cannot be read, `replay` reads
    the batches from the log. `known` are batches that are already loaded.
    """

    def __init__(
        self,
        store: ObjectStore,
        replay: Replay,
        epoch: int,
        table: TableId,
        created_epoch: int,
        ref: MapRef,
        known: Mapping[str, int] | None = None,
        earlier: Sequence[tuple[TableId, int]] = (),
    ) -> None:
        self.ref = ref
        self._store = store
        self._replay = replay
        self._epoch = epoch
        self._table = table
        # The table, and before it those whose place it took, with the epochs that created them.
        self._owners = (*earlier, (table, created_epoch))
        self._known = known or {}
        self._all: Mapping[str, int] | None = None

    @once
    def stored(self) -> StoredMap:
        """The map of the batches. Raises CorruptionError if the root describes it wrongly."""
        return StoredMap(self._store, decode_table(self.ref, self._where()))

    def get(self, app: str) -> int | None:
        """Return the batch of an application. Costs a small GET the first time.

        Raises as `BatchMap`.
        """
        if self._all is None and app not in self._known:
            try:
                value = self.stored.get(app)
                return None if value is None else self._checked(app, value)
            except ColonnadeError as error:
                self.replay(error)
        return self._known.get(app) if self._all is None else self._all.get(app)

    def known(self, app: str) -> int | None:
        """Return the batch of an application if it is loaded, else None."""
        return self._known.get(app)

    def read_all(self) -> Mapping[str, int]:
        """Return all batches. Costs a GET for each object with batches. Raises as `BatchMap`."""
        if self._all is None:
            try:
                self._all = self.read_beside(None)
            except ColonnadeError as error:
                self.replay(error)
        assert self._all is not None
        return self._all

    def read_beside(self, before: CheckpointBatches | None) -> dict[str, int]:
        """Return the batches in pages that `before` does not share, from the checkpoint alone.

        Costs a GET for each object with such a page. Raises as `StoredMap`.
        """
        pages = None if before is None else before.stored.table
        return {app: self._checked(app, value) for app, value in self.stored.items(pages)}

    def replay(self, error: ColonnadeError) -> None:
        """Read the batches from the log, after an error of the checkpoint.

        The log may by now begin after the checkpoint. The caller then has a later state, and uses
        only batches that have not changed since the checkpoint.
        """
        state = self._replay(error, self._epoch)
        for owner, created_epoch in self._owners:
            table = state.tables.get(owner)
            if table is not None and table.created_epoch == created_epoch:
                self._all = dict(table.batches)
                return
        raise NotFoundError(
            f"Table {self._table} of {self._store.url} was dropped, and retention removed the"
            " state that has it; read the database again."
        ) from error

    def taken_over(self, table: TableId, created_epoch: int) -> CheckpointBatches:
        """Return the same batches for a table that takes the place of the present one."""
        return CheckpointBatches(
            self._store,
            self._replay,
            self._epoch,
            table,
            created_epoch,
            self.ref,
            self._known if self._all is None else self._all,
            self._owners,
        )

    def _checked(self, app: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
            raise CorruptionError(f"{self._where()} is malformed: the batch of {app!r} is invalid.")
        return value

    def _where(self) -> str:
        return f"{self._store.url} (batches of table {self._table})"


class StoredBatches(PagedBatches):
    """The batches of a checkpoint, and the batches that were committed since."""

    def __init__(self, source: CheckpointBatches, changes: Mapping[str, int] | None = None) -> None:
        self.source = source
        self.changes = changes or {}

    def __getitem__(self, app: str) -> int:
        found = self.changes.get(app)
        if found is None:
            found = self.source.get(app)
        if found is None:
            raise KeyError(app)
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over all applications. Reads all batches at once."""
        return iter({**self.source.read_all(), **self.changes})

    def __len__(self) -> int:
        return len(self.source.read_all().keys() | self.changes.keys())

    def __bool__(self) -> bool:
        # Only many batches are stored in a map.
        return True

    def known(self, app: str) -> int | None:
        found = self.changes.get(app)
        return self.source.known(app) if found is None else found

    def with_changes(self, changes: Mapping[str, int]) -> StoredBatches:
        """Return the batches of a later epoch that commits `changes`, by application."""
        return StoredBatches(self.source, {**self.changes, **changes})

    def taken_over(self, table: TableId, created_epoch: int) -> StoredBatches:
        return StoredBatches(self.source.taken_over(table, created_epoch), self.changes)

    def objects(self) -> frozenset[str]:
        return frozenset(bundle.object for bundle in self.source.ref.bundles)

    def described(self) -> MapRef:
        assert not self.changes
        return self.source.ref


def store_batches(
    store: ObjectStore,
    table: TableState,
    epoch: int,
    write: Callable[[bytes], str],
    page_bytes: int,
    replay: Replay,
) -> Mapping[str, int]:
    """Return the batches of a table for a checkpoint of `epoch`, and store changed pages.

    A few batches stay in the table's record. `write` stores an object and returns its id. Raises as
    `write_map`, and as `BatchMap` if an old page cannot be read.
    """
    batches = table.batches
    before, changes = None, batches
    if isinstance(batches, StoredBatches):
        if not batches.changes:
            return batches
        changes = batches.changes
        try:
            before = batches.source.stored.table
            written = write_map(store, before, changes, write, page_bytes)
        except ColonnadeError as error:
            # No part of an unreadable map is used again.
            batches.source.replay(error)
            changes = dict(batches)
            written = write_map(store, None, changes, write, page_bytes)
    elif sum(_ENTRY_BYTES + len(app) for app in batches) <= page_bytes:
        return batches
    else:
        written = write_map(store, None, changes, write, page_bytes)
    ref = encode_table(written)
    return StoredBatches(
        CheckpointBatches(store, replay, epoch, table.id, table.created_epoch, ref, changes)
    )


def check_batches(batches: Mapping[str, int]) -> None:
    """Check that all batches can be read from the map that has them, and not only from the log.

    Raises CorruptionError, StoreError.
    """
    if isinstance(batches, StoredBatches):
        try:
            batches.source.read_beside(None)
        except NotFoundError as error:
            raise CorruptionError(f"{error.message} It holds batches of a table.") from error


def are_stored(before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    """Return whether a checkpoint that was read back has the batches of its state.

    Reads the pages of the checkpoint that the state did not have. Raises as `StoredMap`.
    """
    if not isinstance(after, StoredBatches):
        return dict(before) == dict(after)
    if not isinstance(before, StoredBatches):
        return after.source.read_beside(None) == before
    found = after.source.read_beside(before.source)
    return all(found.get(app) == version for app, version in before.changes.items())
