"""A database that was opened: its store, its log, and the newest state that was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore

if TYPE_CHECKING:
    from colonnade.tableformat.table.report import notebook
else:
    notebook = later("colonnade.tableformat.table.report.notebook")

D = TypeVar("D", bound="OpenDatabase")


class OpenDatabase:
    """A database, as of the newest state that was read."""

    def __init__(self, store: ObjectStore, log: Log, snapshot: Snapshot) -> None:
        self._store = store
        self._log = log
        self._snapshot = snapshot

    @property
    def path(self) -> str:
        """The location of the database."""
        return self._store.url

    @property
    def epoch(self) -> int:
        """The newest epoch that was read so far."""
        return self._snapshot.epoch

    def refresh(self: D) -> D:
        """Look for newer epochs, and return this database; costs one GET when there are none."""
        self._refresh()
        return self

    def _refresh(self) -> Snapshot:
        """Look for newer epochs, and return the newest state."""
        self._snapshot = self._log.reader.refresh(self._snapshot)
        return self._snapshot

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, epoch={self._snapshot.epoch})"

    def _repr_html_(self) -> str:
        return notebook.database_html(self, self)
