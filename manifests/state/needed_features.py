"""The features that a database must have enabled before an epoch may hold an operation. Pure.

Spec: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Callable

from colonnade.manifests.model.column_default import COLUMN_DEFAULTS
from colonnade.manifests.model.constraints import CHECK_CONSTRAINTS
from colonnade.manifests.model.generated import GENERATED_COLUMNS
from colonnade.manifests.model.identity import IDENTITY_COLUMNS
from colonnade.manifests.model.lifetimes import LIFETIMES
from colonnade.manifests.model.operations import (
    AddCheck,
    AddRowSet,
    AddTombstone,
    AlterSchema,
    CreateTable,
    DrawIdentity,
    DropCheck,
    ForgetTombstones,
    Operation,
    ReplaceColumn,
    Restore,
    SetLifetimes,
    SetPrimaryKey,
    SetSortOrder,
)
from colonnade.manifests.model.primary_key import PRIMARY_KEY
from colonnade.manifests.model.range_tombstones import RANGE_TOMBSTONES
from colonnade.manifests.model.statics import STATIC_COLUMNS
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
from colonnade.manifests.state.primary_key_fold import states_key
from colonnade.manifests.state.range_tombstones_fold import states_range_tombstones
from colonnade.manifests.state.replaced_columns import REPLACE_COLUMN
from colonnade.manifests.state.sort_order import SORT_ORDERS, states_sort_orders
from colonnade.manifests.state.statics_fold import states_statics


def needed_features(operation: Operation) -> tuple[tuple[str, str], ...]:
    """Return each feature that an operation needs by itself, and what in it needs the feature.

    The fold itself checks two more features, because it needs the state for them: changes of fields
    inside a column, and partitions, whose error names the table.
    """
    # Most operations of a log add rows or record batches: the first two answers are for them.
    if isinstance(operation, AddRowSet):
        buries = _BURIES if adds_tombstones(operation) else ()
        return buries + (_REPLACES if operation.rowset.replacements else ())
    if type(operation) not in _SOME_NEED:
        return ()
    return tuple((feature, what) for needs, feature, what in _NEEDS if needs(operation))


_REPLACES = ((REPLACE_COLUMN, "replaces columns"),)
_BURIES = ((TOMBSTONES, "has tombstones"),)
_SOME_NEED = frozenset(
    (
        *(AddCheck, AddTombstone, AlterSchema, CreateTable, DrawIdentity, DropCheck),
        *(ForgetTombstones, ReplaceColumn, Restore, SetLifetimes, SetPrimaryKey, SetSortOrder),
    )
)
_NEEDS: tuple[tuple[Callable[[Operation], bool], str, str], ...] = (
    (states_widened, WIDENED_COLUMNS, "widens columns"),
    (states_defaults, COLUMN_DEFAULTS, "gives columns a default"),
    (generates_columns, GENERATED_COLUMNS, "generates columns"),
    (states_constraints, CHECK_CONSTRAINTS, "has constraints"),
    (states_identity, IDENTITY_COLUMNS, "has identity columns"),
    (states_key, PRIMARY_KEY, "has a primary key"),
    (states_sort_orders, SORT_ORDERS, "changes a sort key"),
    (states_lifetimes, LIFETIMES, "has lifetimes"),
    (states_statics, STATIC_COLUMNS, "has static columns"),
    (states_range_tombstones, RANGE_TOMBSTONES, "has range tombstones"),
    (lambda operation: isinstance(operation, ReplaceColumn), *_REPLACES[0]),
)
