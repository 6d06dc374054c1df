"""What came to a RowSet after it was written, as one value. Pure.

The log stores the two parts of an amendment apart: replaced columns inside the entry of the RowSet,
and the deletion vector beside it. `LiveRowSet.of` joins them, and `LiveRowSet.stored_entry` gives
the entry as the log stores it.
Spec: docs/spec/operations.md#replaced-columns
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field, InstanceOf

from colonnade.manifests.model.entries import ColumnReplacement, DeletionVectorEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.model.regions import Mask, PlannedRegions
from colonnade.manifests.model.schema import SchemaField


@dataclass(frozen=True, slots=True)
class StaticRows:
    """Where the static values of a table are: the rows of its table of static values.

    `prefix` is that of the names of its objects. `key` has the columns of the partition key.
    `rowsets` are its live RowSets (`LiveRowSet`, which contains this).
    """

    prefix: str
    key: tuple[SchemaField, ...]
    rowsets: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Amendments:
    """The deleted rows and the replaced columns of one RowSet.

    No column is in two of the `replacements`. Readers read a replaced column from its replacement.

    Rows inside a region of `hidden` count as deleted, and values of `masks` as NULL. Both follow
    from the state and the time of a reader (`arrays/hidden_rows.py`), and are never in the log.
    Neither are `statics`, which readers need for static columns. A plan says once for all its
    RowSets what they are.
    """

    vector: DeletionVectorEntry | None = None
    replacements: tuple[ColumnReplacement, ...] = ()
    hidden: PlannedRegions = ()
    masks: tuple[Mask, ...] = ()
    statics: Annotated[InstanceOf[StaticRows] | None, Field(exclude=True)] = None

    def __bool__(self) -> bool:
        """Return whether the RowSet has deleted rows or replaced columns."""
        return self.vector is not None or bool(self.replacements or self.hidden or self.masks)

    @property
    def deleted_count(self) -> int:
        """The number of deleted rows."""
        return self.vector.cardinality if self.vector else 0

    @property
    def byte_count(self) -> int:
        """The stored bytes of the replaced columns."""
        return sum(each.bytes for each in self.replacements)

    @property
    def inline_length(self) -> int:
        """The length of the text that the log itself holds."""
        held = len(self.vector.data or "") if self.vector else 0
        return held + sum(len(each.data or "") for each in self.replacements)

    def objects(self) -> Iterator[str]:
        """Yield the ids of the objects of the replaced columns and of the deletion vector."""
        yield from (each.object for each in self.replacements)
        if self.vector is not None:
            yield self.vector.object

    def holders(self, columns: Collection[int]) -> tuple[str, ...]:
        """Return the objects of the replacements that hold any of these columns."""
        return tuple(
            each.object for each in self.replacements if not set(columns).isdisjoint(each.columns)
        )

    def with_replacement(self, new: ColumnReplacement) -> Amendments:
        """Return the amendments after one more replacement of columns."""
        kept = []
        for each in self.replacements:
            left = tuple(column for column in each.columns if column not in new.columns)
            if left:
                same = left == each.columns
                kept.append(each if same else each.model_copy(update={"columns": left}))
        return replace(self, replacements=(*kept, new))

    def with_vector(self, new: DeletionVectorEntry) -> Amendments:
        """Return the amendments with another deletion vector."""
        return replace(self, vector=new)


UNAMENDED = Amendments()
"""The amendments of a RowSet that has not changed since it was written."""


@dataclass(frozen=True, slots=True)
class LaterAmendments:
    """The amendments of a RowSet in a segment since the segment was written.

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
