"""The features that a database must have enabled before an epoch may hold an operation. Pure.

Spec: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Iterator

from colonnade.manifests.model.column_default import COLUMN_DEFAULTS
from colonnade.manifests.model.constraints import CHECK_CONSTRAINTS
from colonnade.manifests.model.generated import GENERATED_COLUMNS
from colonnade.manifests.model.identity import IDENTITY_COLUMNS
from colonnade.manifests.model.operations import AddRowSet, Operation, ReplaceColumn
from colonnade.manifests.model.widening import WIDENED_COLUMNS
from colonnade.manifests.state.columns_fold import (
    generates_columns,
    states_defaults,
    states_widened,
)
from colonnade.manifests.state.constraints_fold import states_constraints
from colonnade.manifests.state.identity_fold import states_identity
from colonnade.manifests.state.replaced_columns import REPLACE_COLUMN
from colonnade.manifests.state.sort_order import SORT_ORDERS, states_sort_orders


def needed_features(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield each feature that an operation needs by itself, and what in it needs the feature.

    The fold itself checks two more features, because it needs the state for them: changes of fields
    inside a column, and partitions, whose error names the table.
    """
    if states_widened(operation):
        yield WIDENED_COLUMNS, "widens columns"
    if states_defaults(operation):
        yield COLUMN_DEFAULTS, "gives columns a default"
    if generates_columns(operation):
        yield GENERATED_COLUMNS, "generates columns"
    if states_constraints(operation):
        yield CHECK_CONSTRAINTS, "has constraints"
    if states_identity(operation):
        yield IDENTITY_COLUMNS, "has identity columns"
    if states_sort_orders(operation):
        yield SORT_ORDERS, "changes a sort key"
    if _replaces_columns(operation):
        yield REPLACE_COLUMN, "replaces columns"


def _replaces_columns(operation: Operation) -> bool:
    added = isinstance(operation, AddRowSet) and bool(operation.rowset.replacements)
    return added or isinstance(operation, ReplaceColumn)
