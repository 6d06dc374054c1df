"""The features that a change needs, and the operation that enables them before it. Pure.

Spec: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.column_default import COLUMN_DEFAULTS
from colonnade.manifests.model.constraints import CHECK_CONSTRAINTS
from colonnade.manifests.model.generated import GENERATED_COLUMNS
from colonnade.manifests.model.identity import IDENTITY_COLUMNS
from colonnade.manifests.model.lifetimes import LIFETIMES
from colonnade.manifests.model.nested_fields import NESTED_FIELDS, changes_inside
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    EnableFeatures,
    Operation,
    SetPartitionLayout,
)
from colonnade.manifests.model.primary_key import PRIMARY_KEY
from colonnade.manifests.model.range_tombstones import RANGE_TOMBSTONES
from colonnade.manifests.model.tombstones import TOMBSTONES, adds_tombstones
from colonnade.manifests.model.widening import WIDENED_COLUMNS
from colonnade.manifests.state.columns_fold import (
    generates_columns,
    states_defaults,
    states_widened,
)
from colonnade.manifests.state.constraints_fold import states_constraints
from colonnade.manifests.state.identity_fold import states_identity
from colonnade.manifests.state.lifetimes_fold import states_lifetimes
from colonnade.manifests.state.partition_layout import PARTITIONS
from colonnade.manifests.state.primary_key_fold import states_key
from colonnade.manifests.state.range_tombstones_fold import states_range_tombstones
from colonnade.manifests.state.replaced_columns import REPLACE_COLUMN, replaces_columns
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.state.sort_order import SORT_ORDERS, states_sort_orders

Need = Callable[[Change, Snapshot], bool]
"""Whether a change, which was planned on a state, needs a feature."""


def _has(test: Callable[[Operation], bool]) -> Need:
    """A need that one operation of the change tells."""
    return lambda change, base: any(map(test, change.ops))


def _partitions(operation: Operation) -> bool:
    match operation:
        case CreateTable(partition_fields=fields) | SetPartitionLayout(fields=fields):
            return bool(fields)
    return False


def _replaces_columns(change: Change, base: Snapshot) -> bool:
    return change.fill is not None or any(map(replaces_columns, change.ops))


def _changes_fields_inside(change: Change, base: Snapshot) -> bool:
    return any(
        isinstance(op, AlterSchema)
        and (table := base.tables.get(TableId(op.table))) is not None
        and changes_inside(table.schema.fields, op.table_schema.fields)
        for op in change.ops
    )


NEEDED_BY: dict[str, Need] = {
    CHECK_CONSTRAINTS: _has(states_constraints),
    IDENTITY_COLUMNS: _has(states_identity),
    LIFETIMES: _has(states_lifetimes),
    NESTED_FIELDS: _changes_fields_inside,
    PARTITIONS: _has(_partitions),
    PRIMARY_KEY: _has(states_key),
    RANGE_TOMBSTONES: _has(states_range_tombstones),
    REPLACE_COLUMN: _replaces_columns,
    SORT_ORDERS: _has(states_sort_orders),
    TOMBSTONES: _has(adds_tombstones),
    WIDENED_COLUMNS: _has(states_widened),
    COLUMN_DEFAULTS: _has(states_defaults),
    GENERATED_COLUMNS: _has(generates_columns),
}
"""Which changes need a feature. Readers and writers of the database must then know it."""


def with_needed_features(change: Change, base: Snapshot) -> Change:
    """Return the change, with an operation before it that enables the features that it needs."""
    needed = {name for name, need in NEEDED_BY.items() if need(change, base)}
    missing = tuple(sorted(needed - (base.reader_features & base.writer_features)))
    if not missing:
        return change
    enable = EnableFeatures(reader=missing, writer=missing)
    return replace(change, ops=(enable, *change.ops))
