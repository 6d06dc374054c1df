"""An operation that earlier versions do not understand needs the feature that makes them refuse."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import ByteCheck, ColumnReplacement
from colonnade.manifests.model.operations import (
    AddCheck,
    AddRowSet,
    DrawIdentity,
    DropCheck,
    Operation,
    ReplaceColumn,
    Restore,
    SetComment,
    SetSortOrder,
    Tag,
)
from colonnade.manifests.model.schema import (
    ColumnDefault,
    EarlierColumn,
    Generation,
    IdentityColumn,
    SchemaField,
    TableSchema,
)
from colonnade.manifests.state.features import READER_FEATURES
from colonnade.manifests.state.needed_features import needed_features
from tests.log_samples import ORDERS, entry, table

REPLACEMENT = ColumnReplacement(
    columns=(1,),
    object="0" * 32,
    place="packed",
    bytes=10,
    footer=ByteCheck(length=5, crc32c=1),
)
CHECK = CheckConstraint(name="positive", sql="id > 0", columns=(1,))
FIELDS: dict[str, dict[str, Any]] = {
    "widened_columns": {"earlier": (EarlierColumn(id=1, type="int"),)},
    "column_defaults": {"default": ColumnDefault(sql="1", value="1")},
    "generated_columns": {"generated": Generation(sql="1", columns=(), time_zone="UTC")},
    "identity_columns": {"identity": IdentityColumn()},
}
OPERATIONS: list[tuple[str, Operation]] = [
    ("check_constraints", AddCheck(table=ORDERS, constraint=CHECK)),
    ("check_constraints", DropCheck(table=ORDERS, name="positive")),
    ("check_constraints", table().model_copy(update={"constraints": (CHECK,)})),
    ("identity_columns", DrawIdentity(table=ORDERS, column=1, count=1, job=ORDERS)),
    ("sort_orders", SetSortOrder(table=ORDERS, order_id=1, fields=())),
    ("sort_orders", Restore(table=ORDERS, epoch=1, sort_order_id=0)),
    ("replace_column", ReplaceColumn(table=ORDERS, rowset=0, replacement=REPLACEMENT)),
    (
        "replace_column",
        AddRowSet(table=ORDERS, rowset=entry().model_copy(update={"replacements": (REPLACEMENT,)})),
    ),
]


def needs(operation: Operation) -> list[str]:
    return [feature for feature, _ in needed_features(operation)]


@pytest.mark.parametrize(("feature", "operation"), OPERATIONS)
def test_an_operation_needs_the_feature_that_it_came_with(
    feature: str, operation: Operation
) -> None:
    assert needs(operation) == [feature]
    assert feature in READER_FEATURES


@pytest.mark.parametrize("feature", FIELDS)
def test_columns_need_their_feature_on_every_road_into_a_table(feature: str) -> None:
    field = SchemaField(id=2, name="n", type="long", **FIELDS[feature])
    schema = TableSchema(fields=(field,))
    for operation in (
        table().model_copy(update={"table_schema": schema}),
        Restore(table=ORDERS, epoch=1, table_schema=schema),
    ):
        assert needs(operation) == [feature]


@pytest.mark.parametrize(
    "operation",
    [
        table(),
        AddRowSet(table=ORDERS, rowset=entry()),
        Restore(table=ORDERS, epoch=1),
        SetComment(table=ORDERS),
        Tag(name="t", epoch=1),
    ],
)
def test_operations_of_the_first_version_need_none(operation: Operation) -> None:
    assert needs(operation) == []
