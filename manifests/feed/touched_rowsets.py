"""The RowSets of a table that a span of epochs adds, drops or amends. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from colonnade.manifests.commit.rebase.targets import ids_of
from colonnade.manifests.feed.steps import Step
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    DropRowSet,
    ReplaceColumn,
)


@dataclass(slots=True)
class Touched:
    """What the epochs of a span name: ids of RowSets, and replaced columns by RowSet.

    Range tombstones name no RowSet. Grows by `add`.
    """

    rowsets: set[int] = field(default_factory=set)
    replaced: dict[int, list[ReplaceColumn]] = field(default_factory=dict)

    def add(self, step: Step) -> None:
        """Add what one more epoch names."""
        for operation, first in step.operations():
            match operation:
                case AddRowSet():
                    self.rowsets.add(first)
                case AddRowSets():
                    self.rowsets.update(range(first, first + operation.segment.rowset_count))
                case Compaction():
                    self.rowsets.update(each.rowset for each in operation.inputs)
                    self.rowsets.update(range(first, first + len(operation.outputs)))
                case DropRowSet():
                    self.rowsets.update(ids_of(operation.rowsets))
                case AddDeletionVector():
                    self.rowsets.add(operation.rowset)
                case ReplaceColumn():
                    self.rowsets.add(operation.rowset)
                    self.replaced.setdefault(operation.rowset, []).append(operation)
