"""Vacuum relies on it: every object id inside an operation is named by that operation."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    EntrySegment,
    OriginEntry,
)
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.named_objects import (
    named_objects,
    removed_objects,
    rowset_objects,
)
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    AnchorList,
    CheckpointRef,
    Compaction,
    CompactionInput,
    CompactionOutput,
    DropTable,
    Operation,
    ReplaceColumn,
    ReplaceRows,
    Vacuum,
)
from tests.log_samples import ORDERS, entry, vector

CHECK = ByteCheck(length=1, crc32c=2)
NUMBERS = IntegerArray(type="const")
OBJECT = re.compile(r'"([0-9a-f]{32})"')


def replacement() -> ColumnReplacement:
    own = entry()
    return ColumnReplacement(
        columns=(2,), object=own.object, place="packed", bytes=9, footer=own.footer
    )


def replaced() -> Any:
    return entry().model_copy(update={"replacements": (replacement(), replacement())})


SEGMENT = EntrySegment(
    object=entry().object, check=CHECK, rowset_count=1, row_count=1, byte_count=1
)
SAMPLES: tuple[Operation, ...] = (
    AddRowSet(table=ORDERS, rowset=replaced(), vector=vector(3)),
    AddRowSets(table=ORDERS, segment=SEGMENT),
    AddDeletionVector(table=ORDERS, rowset=1, vector=vector(3)),
    ReplaceRows(table=ORDERS, origin=OriginEntry(object=entry().object, check=CHECK)),
    ReplaceColumn(table=ORDERS, rowset=1, replacement=replacement(), changed=vector(2)),
    Compaction(
        table=ORDERS,
        inputs=(CompactionInput(rowset=1, rows=10, vector=vector(3)),),
        outputs=(CompactionOutput(rowset=entry(), vector=vector(1)),),
        origin=OriginEntry(object=entry().object, check=CHECK),
    ),
    Vacuum(
        floor=1,
        anchors=(CheckpointRef(epoch=1, root=entry().object, check=CHECK),),
        anchor_list=AnchorList(object=entry().object, check=CHECK),
    ),
)


@pytest.mark.parametrize("operation", SAMPLES, ids=lambda each: each.op)
def test_every_object_id_in_an_operation_is_named(operation: Operation) -> None:
    written = OBJECT.findall(operation.model_dump_json(exclude_none=True))
    assert sorted(named_objects([operation])) == sorted(written)


def test_every_operation_with_a_field_for_objects_has_a_sample() -> None:
    def mentions(kind: Any) -> bool:
        # The pattern of an object id in the JSON schema of an operation, at any depth.
        return "{32}" in str(kind.model_json_schema())

    expected = {kind for kind in get_args(get_args(Operation)[0]) if mentions(kind)}
    assert expected == {type(each) for each in SAMPLES}


def test_victims_and_predecessors_are_not_named_because_they_may_be_removed() -> None:
    before = vector(1)
    later = vector(3, before)
    vacuum = Vacuum(floor=1, victims=(entry().object,))
    change = AddDeletionVector(table=ORDERS, rowset=1, vector=later)
    assert list(named_objects([change, vacuum])) == [later.object]
    assert removed_objects([vacuum, change, DropTable(table=ORDERS)]) == set(vacuum.victims)


def test_a_rowset_names_its_object_then_its_replacements_then_its_vector() -> None:
    stored, deleted = replaced(), vector(3)
    expected = [stored.object, *(each.object for each in stored.replacements)]
    assert list(rowset_objects(stored, None)) == expected
    assert list(rowset_objects(stored, deleted)) == [*expected, deleted.object]
