"""An epoch that would lose a column, or give its id again, is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.operations import (
    AlterSchema,
    Operation,
    RenameTable,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    TRIPS,
    change,
    make_log,
    table,
    with_orders,
)
from tests.manifests.state.alterations import ID, NOTE, X, alter


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (alter(ID, X, schema_id=2), "backwards"),
        (alter(ID, X, schema_id=0), "backwards"),
        (alter(ID, X, next_id=2), "backwards"),
        (alter(ID, X, NOTE, next_id=3), "a second column"),
        (alter(ID, ID.model_copy(update={"name": "again"})), "a second column"),
        (alter(ID, NOTE.model_copy(update={"id": 0})), "a second column"),
        (alter(X), "one that it is sorted or"),
        (alter(), "drops all columns"),
        (RenameTable(table=ORDERS, name="orders"), "a second table the name 'orders'"),
    ],
)
def test_what_would_lose_a_column_is_refused(wrong: Operation, text: str) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(table(TRIPS, "trips")), with_orders(store, log))
    base = log.commit(change(table("00000000000000aa", "sorted", sorted_by=1)), base)
    if isinstance(wrong, AlterSchema):
        wrong = wrong.model_copy(update={"table": "00000000000000aa"})
    with pytest.raises(InvalidInputError, match=text):
        log.commit(change(wrong), base)
    assert log.read_head() == base


def test_the_id_of_a_dropped_column_is_not_given_again() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(alter(ID, next_id=3)), with_orders(store, log))
    with pytest.raises(InvalidInputError, match="a second column"):
        log.commit(change(alter(ID, X, schema_id=2)), base)


def test_a_schema_needs_its_id() -> None:
    with pytest.raises(ValidationError, match="schema_id"):
        AlterSchema.model_validate({"table": ORDERS, "table_schema": SCHEMA, "next_column_id": 3})
