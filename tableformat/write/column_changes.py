"""Changes of columns that a write makes in the epoch of its rows."""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.snapshot import Snapshot


class ColumnChanges(Model):
    """Changes of a table's columns that are committed in the epoch of new rows, before the rows.

    `text` describes them for the history.
    """

    operations: tuple[Operation, ...] = ()
    text: str = ""

    def parameters(self) -> dict[str, str]:
        """Return what the history says of the changes; an empty dictionary without changes."""
        return {"changes": self.text} if self.operations else {}

    def preview(self, log: Log, base: Snapshot) -> Snapshot:
        """Return the state that they would leave right after `base`. Raises as `Log.commit`."""
        if not self.operations:
            return base
        change = Change(new_transaction_id(), "alter_table", self.operations, fresh=True)
        return log.preview(change, base)
