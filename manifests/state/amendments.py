"""What came to RowSets in segments since the segments were written. Pure.

Spec: docs/spec/checkpoint.md#segments
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import ReplaceColumn


@dataclass(frozen=True, slots=True)
class LaterAmendments:
    """The deleted rows and replaced columns of a RowSet since its segment was written.

    `vector` replaces the vector in the segment; None keeps that one. `replaced` are replacements of
    columns in their order. They are operations, because these also have the new statistics.
    """

    vector: DeletionVectorEntry | None = None
    replaced: tuple[ReplaceColumn, ...] = ()

    def objects(self) -> Iterator[str]:
        """Yield the ids of the objects of the replaced columns and of the deletion vector."""
        yield from (each.replacement.object for each in self.replaced)
        if self.vector is not None:
            yield self.vector.object

    def with_replacement(self, operation: ReplaceColumn) -> LaterAmendments:
        """Append a replacement, and leave out those whose columns it replaces completely."""
        new = set(operation.replacement.columns)
        kept = (op for op in self.replaced if not new.issuperset(op.replacement.columns))
        return LaterAmendments(self.vector, (*kept, operation))

    def with_vector(self, new: DeletionVectorEntry) -> LaterAmendments:
        """Return the amendments with another deletion vector."""
        return LaterAmendments(new, self.replaced)


NOTHING_LATER = LaterAmendments()
"""No amendments since a segment was written."""
