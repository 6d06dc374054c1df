"""The objects that operations name or remove, and what it means that one is missing. Pure.

Spec: docs/spec/vacuum.md#references
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from colonnade.manifests.errors import ConflictError, CorruptionError, MissingObjectError
from colonnade.manifests.model.entries import DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    Operation,
    ReplaceColumn,
    ReplaceRows,
    Vacuum,
)


def named_objects(operations: Iterable[Operation]) -> Iterator[str]:
    """Yield the ids of the objects that operations name, without those that a segment names."""
    for operation in operations:
        match operation:
            case AddRowSet():
                yield from rowset_objects(operation.rowset, operation.vector)
            case AddRowSets():
                yield operation.segment.object
            case AddDeletionVector():
                yield operation.vector.object
            case ReplaceRows():
                yield operation.origin.object
            case ReplaceColumn():
                yield operation.replacement.object
                if operation.changed is not None:
                    yield operation.changed.object
            case Compaction():
                for source in operation.inputs:
                    if source.vector is not None:
                        yield source.vector.object
                for output in operation.outputs:
                    yield from rowset_objects(output.rowset, output.vector)
                if operation.origin is not None:
                    yield operation.origin.object
            case Vacuum():
                yield from (anchor.root for anchor in operation.anchors)
                if operation.anchor_list is not None:
                    yield operation.anchor_list.object


def removed_objects(operations: Iterable[Operation]) -> set[str]:
    """Return the ids of the objects that vacuum operations remove."""
    return {name for op in operations if isinstance(op, Vacuum) for name in op.victims}


def check_missing(error: CorruptionError, later: Epoch) -> None:
    """Refuse to go on without an object that a vacuum has removed, after a state that needs it.

    Only a statement that is not committed can still name such an object, so nothing is damaged.
    Raises ConflictError if `error` is about an object that the epoch removes.
    """
    if isinstance(error, MissingObjectError) and error.object in removed_objects(later.ops):
        raise ConflictError(
            f"Files that a statement wrote were removed by the vacuum of epoch {later.epoch} before"
            " it was committed; run it again, and give it a lease if it takes longer than the"
            " retention."
        ) from error


def rowset_objects(entry: RowSetEntry, vector: DeletionVectorEntry | None) -> Iterator[str]:
    """Yield the ids of all objects of a RowSet: its own, its replaced columns', its vector's."""
    yield entry.object
    yield from (each.object for each in entry.replacements or ())
    if vector is not None:
        yield vector.object
