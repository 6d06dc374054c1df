"""Which rows the log says that an epoch moved, told at the instant that the epoch appears."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropRowSet, ReplaceRows
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.state.view import View
from colonnade.tableformat.rowset.reader import RowSetReader
from tests.row_changes import Place, row_changes
from tests.simulation.store import Disk, ProcessStore, Weather

Identity = tuple[int, int]
"""The columns of a row that no statement changes: `id` and `copy`."""


class ReplacedRows:
    """Compares moved rows in good weather. `moved` counts them.

    `state` is the newest one that was read, and `before` the one before it.
    """

    def __init__(self, disk: Disk, limits: Limits) -> None:
        store = ProcessStore(disk, Weather(random.Random(0), (), 0), lambda: None)
        self.log = Log(store, limits=limits)
        self.before: Snapshot | None = None
        self.state: Snapshot | None = None
        self.moved = 0

    def check(self, epoch: Epoch, names: Mapping[str, str], keyed: Collection[str]) -> None:
        """A moved row is the same row before and after, and none of these seems to be new.

        Rows of `keyed` tables may get other ids. Only the form of what the log says is compared.
        """
        try:
            before, self.before, self.state = self.state, self.state, self._next()
            if before is None or before.epoch != epoch.epoch - 1:
                return
            for op in epoch.ops:
                if isinstance(op, ReplaceRows):
                    self._check(before, epoch, op.table, names.get(op.table, "") in keyed)
        except ColonnadeError as error:
            raise AssertionError(f"epoch {epoch.epoch} cannot be read: {error}") from error

    def _next(self) -> Snapshot:
        return (
            self.log.reader.read_head()
            if self.state is None
            else self.log.reader.refresh(self.state)
        )

    def _check(self, before: Snapshot, epoch: Epoch, table: str, keyed: bool) -> None:
        assert self.state is not None
        found = row_changes(self.log, before, epoch, self.state, table)
        self.moved += len(found.moved)
        if keyed:
            return
        old = self._identities(before, table, found.moved)
        new = self._identities(self.state, table, (*found.moved.values(), *found.inserted))
        wrong = [each for each, to in found.moved.items() if old[each] != new[to]]
        assert not wrong, f"epoch {epoch.epoch} moved rows {wrong} to places of other rows"
        if not any(isinstance(op, DropRowSet) and op.kind is None for op in epoch.ops):
            gone = self._identities(before, table, found.deleted)
            again = {new[each] for each in found.inserted} & {*gone.values()}
            assert not again or "overwrite" in str(epoch.parameters) + epoch.operation, (
                f"epoch {epoch.epoch} moved rows {again} and does not say so"
            )

    def _identities(
        self, state: Snapshot, table: str, places: Iterable[Place]
    ) -> dict[Place, Identity]:
        known = state.tables[TableId(table)]
        wanted = {*places}
        rowsets = {rowset for rowset, _ in wanted}
        fields = [known.schema.field(name) for name in ("id", "copy")]
        found: dict[Place, Identity] = {}
        for rowset in self.log.rowsets.read(known, which="all"):
            if rowset.id not in rowsets:
                continue
            reader = RowSetReader(self.log.store, View.written(known.prefix), rowset)
            for first, batch in reader.read(fields):
                pairs = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                for row, identity in enumerate(pairs, first):
                    if (rowset.id, row) in wanted:
                        found[rowset.id, row] = identity
        return found
