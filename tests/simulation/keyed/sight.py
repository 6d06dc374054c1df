"""What a table really holds at the instant that an epoch appears, before a vacuum may remove it."""

from __future__ import annotations

import random

import pyarrow as pa

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.store import Disk, ProcessStore, Weather


class Sight:
    """A process that reads in good weather, and never passes its turn."""

    def __init__(self, disk: Disk, limits: Limits) -> None:
        self._store = ProcessStore(disk, Weather(random.Random(0), (), 0), lambda: None)
        self._limits = limits
        self._database: ArrowDatabase | None = None

    def changed(self, epoch: int, name: str) -> bool:
        """Whether the newest epoch changed a table."""
        table = self._at(epoch)._snapshot.tables
        return any(each.name == name and each.changed_epoch == epoch for each in table.values())

    def rows(self, epoch: int, name: str) -> pa.Table:
        """The rows of a table at the newest epoch."""
        try:
            return self._at(epoch).table(name).scan().to_arrow()
        except ColonnadeError as error:
            raise AssertionError(f"epoch {epoch} cannot be read: {error}") from error

    def _at(self, epoch: int) -> ArrowDatabase:
        if self._database is None:
            log = Log(self._store, limits=self._limits)
            self._database = ArrowDatabase(self._store, log, log.reader.read_head())
        if self._database._snapshot.epoch != epoch:
            self._database.refresh()
        assert self._database._snapshot.epoch == epoch
        return self._database
