"""A change enables the features that readers need to understand it, once for each database."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.commit.needed_features import NEEDED_BY, with_needed_features
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.operations import EnableFeatures, Operation, SetPartitionLayout
from colonnade.manifests.state.features import READER_FEATURES
from colonnade.manifests.state.partition_layout import PARTITIONS
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, change, database, table

FIELD = PartitionField(column=1, transform="identity")
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


def test_readers_of_this_version_know_every_feature_that_its_changes_enable() -> None:
    assert NEEDED_BY.keys() <= READER_FEATURES
