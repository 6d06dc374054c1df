"""An epoch that would leave a constraint without a column, or name two alike, is refused."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.operations import (
    AddCheck,
    DropCheck,
    Operation,
    Restore,
)
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    TRIPS,
    change,
    check_refused,
    make_log,
    table,
    with_orders,
)
from tests.manifests.state.alterations import ID, X, alter

POSITIVE = CheckConstraint(name="positive", sql="x > 0", columns=(2,))
ADD = AddCheck(table=ORDERS, constraint=POSITIVE)


def constrained() -> tuple[MemoryStore, Snapshot]:
    store = MemoryStore()
    log = make_log(store)
    return store, log.commit(change(ADD), with_orders(store, log))


def test_constraints_are_added_and_dropped_by_name() -> None:
    store, base = constrained()
    log = make_log(store)
    assert base.table("orders").constraints == (POSITIVE,)
    other = POSITIVE.model_copy(update={"name": "other"})
    base = log.commit(change(AddCheck(table=ORDERS, constraint=other)), base)
    base = log.commit(change(DropCheck(table=ORDERS, name="positive")), base)
    assert log.reader.read_head().table("orders").constraints == (other,)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (ADD, "two constraints named 'positive'"),
        (
            AddCheck(table=ORDERS, constraint=POSITIVE.model_copy(update={"name": "Positive"})),
            "two constraints named 'Positive'",
        ),
        (
            AddCheck(table=ORDERS, constraint=CheckConstraint(name="c", sql="y > 0", columns=(9,))),
            "without a column",
        ),
        (DropCheck(table=ORDERS, name="none"), "drops constraint 'none'"),
        (alter(ID, next_id=3), "constraint 'positive' of table 'orders' without a column"),
        (
            Restore(table=ORDERS, epoch=1, table_schema=TableSchema(fields=(ID,))),
            "without a column",
        ),
    ],
)
def test_an_operation_that_contradicts_the_constraints_is_refused(
    wrong: Operation, text: str
) -> None:
    store, base = constrained()
    check_refused(make_log(store), base, [wrong], text)


def test_a_constraint_stays_when_its_column_widens() -> None:
    store, base = constrained()
    log = make_log(store)
    narrow = X.model_copy(update={"type": "float"})
    created = table(TRIPS, "trips").model_copy(
        update={"table_schema": TableSchema(fields=(ID, narrow)), "constraints": (POSITIVE,)}
    )
    base = log.commit(change(created), base)
    widened = alter(ID, X).model_copy(update={"table": TRIPS})
    base = log.commit(change(widened), base)
    assert base.table("trips").constraints == (POSITIVE,)


def test_a_restore_brings_back_the_constraints_that_it_names() -> None:
    store, base = constrained()
    log = make_log(store)
    same = log.commit(change(Restore(table=ORDERS, epoch=2)), base)
    assert same.table("orders").constraints == (POSITIVE,)
    none = log.commit(change(Restore(table=ORDERS, epoch=1, constraints=())), same)
    assert none.table("orders").constraints == ()


def test_a_checkpoint_keeps_constraints() -> None:
    store, base = constrained()
    log = make_log(store)
    stored = log.try_checkpoint(base)
    assert stored.table("orders").constraints == (POSITIVE,)
    assert make_log(store).reader.read_head().table("orders").constraints == (POSITIVE,)
