"""An epoch that says which rows were replaced, but cannot have replaced any, is refused."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import ByteCheck, EntrySegment, OriginEntry
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    CompactionInput,
    DropRowSet,
    Operation,
    ReplaceRows,
)
from colonnade.manifests.state.folds.replaced_rows import check_replaced_rows
from tests.log_samples import ORDERS, TRIPS, entry, vector

CHECK = ByteCheck(length=1, crc32c=2)
SEGMENT = EntrySegment(
    object=entry().object, check=CHECK, rowset_count=1, row_count=1, byte_count=1
)
ADD = AddRowSet(table=ORDERS, rowset=entry())
ADD_MANY = AddRowSets(table=ORDERS, segment=SEGMENT)
MOVE = AddDeletionVector(table=ORDERS, rowset=0, vector=vector(3), kind="update")
DELETE = AddDeletionVector(table=ORDERS, rowset=1, vector=vector(3))
MOVE_ALL = DropRowSet(table=ORDERS, rowsets=((0, 1),), kind="merge")
OVERWRITE = DropRowSet(table=ORDERS, rowsets=((2, 2),))
COMPACT = Compaction(table=ORDERS, inputs=(CompactionInput(rowset=1, rows=10),), outputs=())
REPLACE = ReplaceRows(table=ORDERS, origin=OriginEntry(object=entry().object, check=CHECK))
OTHER = ADD.model_copy(update={"table": TRIPS})


@pytest.mark.parametrize(
    "operations",
    [
        (ADD, MOVE, REPLACE),
        (ADD_MANY, MOVE_ALL, REPLACE),
        (MOVE, DELETE, ADD, REPLACE, OTHER),
        (ADD, MOVE, MOVE_ALL),
    ],
)
def test_an_epoch_says_once_after_all_its_rows_which_rows_they_replace(
    operations: tuple[Operation, ...],
) -> None:
    check_replaced_rows(7, operations)


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ((MOVE, REPLACE), "without adding any"),
        ((MOVE, OTHER, REPLACE), "without adding any"),
        ((ADD, REPLACE), "without moving any"),
        ((ADD, DELETE, REPLACE), "without moving any"),
        ((ADD, MOVE, REPLACE, ADD), "after it said"),
        ((ADD, MOVE, REPLACE, DELETE), "after it said"),
        ((ADD, MOVE, REPLACE, REPLACE), "after it said"),
        ((ADD, MOVE, COMPACT, REPLACE), "compacts or overwrites"),
        ((OVERWRITE, ADD, MOVE, REPLACE), "compacts or overwrites"),
    ],
)
def test_an_epoch_that_contradicts_itself_about_replaced_rows_is_refused(
    operations: tuple[Operation, ...], reason: str
) -> None:
    with pytest.raises(CorruptionError, match=f"Epoch 7 .*{reason}"):
        check_replaced_rows(7, operations)
