"""No row lands unchecked beside a new constraint, in either order of the two writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from colonnade.manifests.commit.change import Change, ColumnFill
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import ByteCheck, ColumnReplacement
from colonnade.manifests.model.operations import (
    AddCheck,
    DropCheck,
    ReplaceColumn,
    SetComment,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    compact,
    delete,
    drop,
    entry,
    make_log,
    overwrite,
    vector,
    with_orders,
)
from tests.manifests.state.alterations import ID, NOTE, X, alter


def constraint(name: str) -> CheckConstraint:
    return CheckConstraint(name=name, sql="x > 0", columns=(2,))


def add(name: str = "new") -> Change:
    return change(AddCheck(table=ORDERS, constraint=constraint(name)), name="alter_table")


def replace_column() -> Change:
    new = ColumnReplacement(
        columns=(2,),
        object="ab" * 16,
        place="packed",
        bytes=50,
        footer=ByteCheck(length=20, crc32c=2),
    )
    return change(ReplaceColumn(table=ORDERS, rowset=0, replacement=new), name="update")


def fill() -> Change:
    return replace(change(name="backfill"), fill=ColumnFill(ORDERS, lambda _: ((), {})))


CHANGES: dict[str, Callable[[], Change]] = {
    "append": append,
    "overwrite": lambda: overwrite((0, 1)),
    "replace column": replace_column,
    "backfill": fill,
    "delete": lambda: delete(0, vector(1)),
    "compaction": compact,
    "drop constraint": lambda: change(DropCheck(table=ORDERS, name="old")),
    "add constraint": add,
    "alter schema": lambda: change(alter(ID, X, NOTE)),
    "comment": lambda: change(SetComment(table=ORDERS, comment="new")),
    "drop": drop,
}

REFUSED_AFTER_A_NEW_CONSTRAINT = {
    *("append", "overwrite", "replace column", "drop constraint", "add constraint"),
    *("alter schema", "backfill"),
}
A_NEW_CONSTRAINT_IS_REFUSED_AFTER = {*REFUSED_AFTER_A_NEW_CONSTRAINT, "drop"} - {"backfill"}
"""A backfill of no RowSet changes nothing; of a RowSet, it is a `replace_column`."""


@pytest.mark.parametrize("other", CHANGES)
@pytest.mark.parametrize("first", [True, False], ids=["constraint first", "constraint second"])
def test_a_new_constraint_and_rows_that_it_did_not_see_exclude_each_other(
    other: str, first: bool
) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(append(entry(), entry()), with_orders(store, log))
    base = log.commit(add("old"), base)
    mine, theirs = (CHANGES[other](), add()) if first else (add(), CHANGES[other]())
    log.commit(theirs, base)
    refusing = REFUSED_AFTER_A_NEW_CONSTRAINT if first else A_NEW_CONSTRAINT_IS_REFUSED_AFTER
    if other in refusing:
        with pytest.raises(ConflictError, match="'orders'"):
            log.commit(mine, base)
    else:
        log.commit(mine, base)


def test_rows_may_follow_when_a_constraint_was_dropped() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(add("old"), with_orders(store, log))
    log.commit(change(DropCheck(table=ORDERS, name="old")), base)
    assert log.commit(append(), base).table("orders").rowsets.row_count == 10


def test_rows_may_not_follow_when_a_constraint_was_replaced_by_one_of_its_name() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(add("old"), with_orders(store, log))
    state = log.commit(change(DropCheck(table=ORDERS, name="old")), base)
    other = CheckConstraint(name="old", sql="x > 1", columns=(2,))
    log.commit(change(AddCheck(table=ORDERS, constraint=other)), state)
    with pytest.raises(ConflictError, match="got the constraint 'old' after epoch 2"):
        log.commit(append(), base)
