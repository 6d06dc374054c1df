"""The features that a change needs, and the operation that enables them before it. Pure.

Spec: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.nested_fields import NESTED_FIELDS, changes_inside
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    EnableFeatures,
    Operation,
    SetPartitionLayout,
)
from colonnade.manifests.state.needed_features import needed_features
from colonnade.manifests.state.partition_layout import PARTITIONS
from colonnade.manifests.state.replaced_columns import REPLACE_COLUMN
from colonnade.manifests.state.snapshot import Snapshot


def with_needed_features(change: Change, base: Snapshot) -> Change:
    """Return the change, with an operation before it that enables the features that it needs."""
    enabled = base.reader_features & base.writer_features
    missing = tuple(sorted({*_needed(change, base)} - enabled))
    if not missing:
        return change
    enable = EnableFeatures(reader=missing, writer=missing)
    return replace(change, ops=(enable, *change.ops))


def _needed(change: Change, base: Snapshot) -> Iterator[str]:
    """Yield the features that the fold requires for a change which was planned on a state."""
    if change.fill is not None:
        yield REPLACE_COLUMN
    for operation in change.ops:
        for feature, _ in needed_features(operation):
            yield feature
        if _states_partitions(operation):
            yield PARTITIONS
        if isinstance(operation, AlterSchema) and _changes_fields_inside(operation, base):
            yield NESTED_FIELDS


def _states_partitions(operation: Operation) -> bool:
    match operation:
        case CreateTable(partition_fields=fields) | SetPartitionLayout(fields=fields):
            return bool(fields)
    return False


def _changes_fields_inside(operation: AlterSchema, base: Snapshot) -> bool:
    table = base.tables.get(TableId(operation.table))
    return table is not None and changes_inside(table.schema.fields, operation.table_schema.fields)
