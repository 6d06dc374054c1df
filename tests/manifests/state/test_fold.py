"""Operations that alter a table: what the fold makes of them, and what it refuses."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import AlreadyExistsError, ConflictError
from colonnade.manifests.model.operations import (
    Operation,
    RenameTable,
    SetComment,
    SetProperties,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    TRIPS,
    append,
    change,
    contents,
    entry,
    make_log,
    replay,
    table,
    with_orders,
)
from tests.manifests.state.alterations import ID, NOTE, X, alter


def test_several_alterations_and_rows_share_an_epoch() -> None:
    store = MemoryStore()
    log = make_log(store, interval=2)
    base = with_orders(store, log)
    operations: tuple[Operation, ...] = (
        alter(ID, X, NOTE),
        alter(ID, NOTE, schema_id=2, next_id=4),
        SetProperties(table=ORDERS, set={"a": "1", "b": "2"}),
        SetProperties(table=ORDERS, set={"c": "3"}, remove=("a", "none")),
        SetComment(table=ORDERS, comment="new"),
        RenameTable(table=ORDERS, name="sales"),
        *append().ops,
    )
    state = log.commit(change(*operations), base).table("sales")
    assert state.schema.names == ("id", "note")
    assert (state.schema_id, state.next_column_id, state.comment) == (2, 4, "new")
    assert dict(state.properties) == {"b": "2", "c": "3"}
    assert state.rowsets.rowset_count == 1
    head = log.commit(append(), log.read_head())
    assert contents(log, head) == contents(log, replay(store))
    assert log.read_at(base.epoch).table("orders").schema == SCHEMA


def test_a_name_taken_meanwhile_is_not_given_by_renaming() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    log.commit(change(table(TRIPS, "trips")), base)
    with pytest.raises(AlreadyExistsError, match="'trips' exists already"):
        log.commit(change(RenameTable(table=ORDERS, name="trips")), base)


def test_an_append_conflicts_with_columns_that_its_rows_do_not_fit() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    head = log.commit(change(alter(ID, X.model_copy(update={"type": "float"}))), base)
    with pytest.raises(ConflictError, match="columns of table 'orders' changed after epoch 1"):
        log.commit(append(entry()), base)
    assert log.commit(append(entry()), head).epoch == 3
