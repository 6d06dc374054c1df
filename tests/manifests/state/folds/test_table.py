"""Operations on what a table is change only that, and keep its rows."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.operations import (
    AddCheck,
    RenameTable,
    SetComment,
    SetProperties,
)
from colonnade.manifests.state.folds.table import TableOperation, altered_table
from tests.log_samples import ORDERS, table_state
from tests.manifests.state.alterations import ID, NOTE, X, alter

CONSTRAINT = CheckConstraint(name="c", sql="id > 0", columns=(1,))


@pytest.mark.parametrize(
    ("operation", "changed"),
    [
        (SetComment(table=ORDERS, comment="new"), {"comment"}),
        (RenameTable(table=ORDERS, name="other"), {"name"}),
        (SetProperties(table=ORDERS, set={"a": "b"}), {"stored_properties"}),
        (AddCheck(table=ORDERS, constraint=CONSTRAINT), {"constraints"}),
        (alter(ID, X, NOTE), {"schema", "schema_id", "next_column_id"}),
    ],
)
def test_an_operation_changes_what_it_says_and_nothing_else(
    operation: TableOperation, changed: set[str]
) -> None:
    before = table_state()
    after = altered_table(7, before, operation)
    names = before.__dataclass_fields__
    assert {n for n in names if getattr(before, n) != getattr(after, n)} == changed


def test_a_property_that_is_removed_and_set_is_set() -> None:
    both = SetProperties(table=ORDERS, set={"a": "new"}, remove=("a", "b"))
    state = altered_table(7, table_state(), SetProperties(table=ORDERS, set={"a": "x", "b": "y"}))
    assert altered_table(8, state, both).properties == {"a": "new"}
