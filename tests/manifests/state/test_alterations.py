"""Each row of the alterations says what its operation does, and no operation has no row."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import get_args

import pytest

from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.operations import (
    AddCheck,
    AddRangeTombstone,
    DrawIdentity,
    DropCheck,
    ForgetRangeTombstones,
    Operation,
    RenameTable,
    Restore,
    SetComment,
    SetLifetimes,
    SetPartitionLayout,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
    TableOperation,
)
from colonnade.manifests.model.range_tombstones import RangeTombstone
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.manifests.state.alterations import ALTERATIONS, altered_table, is_altered
from colonnade.manifests.state.snapshot import TableState
from tests.log_samples import ORDERS, table_state
from tests.manifests.state.alterations import ID, NOTE, X, alter

KEY = ID.model_copy(
    update={"type": "long", "nullable": False, "identity": IdentityColumn(start=1, step=1)}
)
CONSTRAINT = CheckConstraint(name="c", sql="id > 0", columns=(1,))
REGIONS = ((Interval(column=1, low="i:1", high="i:9"),),)
ON_ROWS = {
    "add_rowset",
    "add_rowsets",
    "drop_rowset",
    "add_deletion_vector",
    "replace_rows",
    "replace_column",
    "compaction",
    "txn",
    "drop_table",
}
"""The operations on a table that is there which change its rows, or end it."""

OPERATIONS: list[TableOperation] = [
    alter(KEY, X, NOTE),
    SetPartitionLayout(
        table=ORDERS, layout_id=1, fields=(PartitionField(column=1, transform="identity"),)
    ),
    SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=1),)),
    SetPrimaryKey(table=ORDERS, columns=(1,)),
    SetLifetimes(table=ORDERS, lifetimes=Lifetimes(rows_ms=5, since_ms=1)),
    AddCheck(table=ORDERS, constraint=CONSTRAINT.model_copy(update={"name": "other"})),
    DropCheck(table=ORDERS, name="c"),
    Restore(table=ORDERS, epoch=1, constraints=()),
    SetProperties(table=ORDERS, set={"a": "b"}),
    SetComment(table=ORDERS, comment="new"),
    RenameTable(table=ORDERS, name="other"),
    AddRangeTombstone(table=ORDERS, regions=REGIONS),
    ForgetRangeTombstones(table=ORDERS, through=3),
    DrawIdentity(table=ORDERS, column=1, count=3, job="ab" * 8),
]


def before() -> TableState:
    """A table in which each of the operations changes something."""
    state = table_state(TableSchema(fields=(KEY, X)))
    tombstone = RangeTombstone(epoch=2, regions=REGIONS)
    return replace(state, constraints=(CONSTRAINT,), range_tombstones=(tombstone,))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.op)
def test_an_operation_changes_what_its_row_says_and_nothing_else(operation: TableOperation) -> None:
    one = before()
    after = altered_table(7, one, operation)
    names = [field.name for field in fields(one)]
    changed = {each for each in names if getattr(one, each) != getattr(after, each)}
    assert changed
    assert changed <= set(ALTERATIONS[type(operation)].changes)


def test_every_operation_on_a_table_has_a_row_or_is_about_rows() -> None:
    kinds = {kind for kind in get_args(get_args(Operation)[0]) if issubclass(kind, TableOperation)}
    assert {type(each) for each in OPERATIONS} == ALTERATIONS.keys()
    assert {each.model_fields["op"].default for each in kinds - ALTERATIONS.keys()} == ON_ROWS


def test_a_planned_alteration_may_follow_others_of_another_kind_that_fit_with_every_design() -> (
    None
):
    """A comment and a name fit with every design, so that only another comment is in their way."""
    one = before()
    key = SetPrimaryKey(table=ORDERS, columns=(1,))
    comment = SetComment(table=ORDERS, comment="new")
    commented, renamed = (altered_table(7, one, OPERATIONS[at]) for at in (9, 10))
    assert not is_altered(one, commented, [key])
    assert is_altered(one, commented, [key, comment])
    assert not is_altered(one, renamed, [key, comment])
    for at in range(9):
        assert is_altered(one, altered_table(7, one, OPERATIONS[at]), [comment])


def test_a_property_that_is_removed_and_set_is_set() -> None:
    both = SetProperties(table=ORDERS, set={"a": "new"}, remove=("a", "b"))
    state = altered_table(7, table_state(), SetProperties(table=ORDERS, set={"a": "x", "b": "y"}))
    assert altered_table(8, state, both).properties == {"a": "new"}
