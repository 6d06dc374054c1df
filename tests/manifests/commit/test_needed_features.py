"""A change enables the features that readers need to understand it, once for each database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.commit.change import ColumnFill
from colonnade.manifests.commit.needed_features import with_needed_features
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.operations import (
    DrawIdentity,
    EnableFeatures,
    Operation,
    SetPartitionLayout,
    SetPrimaryKey,
    SetSortOrder,
)
from colonnade.manifests.state.features import READER_FEATURES
from colonnade.manifests.state.needed_features import needed_features
from colonnade.manifests.state.partition_layout import PARTITIONS
from colonnade.manifests.state.replaced_columns import REPLACE_COLUMN
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, change, database, table

FIELD = PartitionField(column=1, transform="identity")
NEEDY: tuple[Operation, ...] = (
    SetPrimaryKey(table=ORDERS, columns=(1,)),
    SetSortOrder(table=ORDERS, order_id=1, fields=()),
    DrawIdentity(table=ORDERS, column=1, count=1, job=ORDERS),
)
PARTITIONED: tuple[Operation, ...] = (
    table().model_copy(update={"partition_fields": (FIELD,)}),
    SetPartitionLayout(table=ORDERS, layout_id=1, fields=(FIELD,)),
)


@pytest.mark.parametrize("operation", PARTITIONED, ids=lambda each: each.op)
def test_a_feature_is_enabled_before_the_first_operation_that_needs_it(
    operation: Operation,
) -> None:
    base = database(MemoryStore())
    base = replace(base, reader_features=frozenset(), writer_features=frozenset())
    mine = change(table(), operation)
    enable, *rest = with_needed_features(mine, base).ops
    assert enable == EnableFeatures(reader=(PARTITIONS,), writer=(PARTITIONS,))
    assert tuple(rest) == mine.ops


def test_a_database_with_the_feature_does_not_enable_it_again() -> None:
    base = replace(
        database(MemoryStore()),
        reader_features=frozenset({PARTITIONS}),
        writer_features=frozenset({PARTITIONS}),
    )
    mine = change(PARTITIONED[1])
    assert with_needed_features(mine, base) is mine


def test_an_operation_that_every_version_knows_enables_nothing() -> None:
    base = replace(database(MemoryStore()), reader_features=frozenset())
    for operation in (table(), SetPartitionLayout(table=ORDERS, layout_id=0, fields=())):
        mine = change(operation)
        assert with_needed_features(mine, base) is mine


@pytest.mark.parametrize("operation", NEEDY, ids=lambda each: each.op)
def test_a_change_enables_the_features_that_the_fold_requires(operation: Operation) -> None:
    base = replace(database(MemoryStore()), reader_features=frozenset())
    required = {feature for feature, _ in needed_features(operation)}
    enable, *_ = with_needed_features(change(operation), base).ops
    assert isinstance(enable, EnableFeatures)
    assert set(enable.reader) == set(enable.writer) == required <= READER_FEATURES


def test_a_column_that_is_filled_needs_the_feature_of_replaced_columns() -> None:
    base = replace(database(MemoryStore()), reader_features=frozenset())
    filling = replace(change(), fill=ColumnFill(ORDERS, lambda state: ((), {})))
    (enable,) = with_needed_features(filling, base).ops
    assert enable == EnableFeatures(reader=(REPLACE_COLUMN,), writer=(REPLACE_COLUMN,))
