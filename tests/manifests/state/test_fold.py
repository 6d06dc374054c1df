"""Operations that alter a table: what the fold makes of them, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import (
    DropTable,
    Operation,
    RenameTable,
    SetComment,
    SetProperties,
    Txn,
)
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
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
    head = log.commit(append(), log.reader.read_head())
    assert contents(log, head) == contents(log, replay(store))
    assert log.reader.read_at(base.epoch).table("orders").schema == SCHEMA


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
    needed = X.model_copy(update={"id": 3, "name": "y", "nullable": False})
    head = log.commit(change(alter(ID, X, needed)), base)
    with pytest.raises(ConflictError, match="columns of table 'orders' changed after epoch 1"):
        log.commit(append(entry()), base)
    assert log.commit(append(entry()), head).epoch == 3


@pytest.mark.parametrize(
    ("key", "least_wrong"), [("time_ms", lambda head: head.time_ms), ("base", lambda head: 2)]
)
def test_an_epoch_is_refused_that_is_not_later_than_its_predecessor_and_its_base(
    key: str, least_wrong: Callable[[Snapshot], int]
) -> None:
    store = MemoryStore()
    log = make_log(store)
    head = with_orders(store, log)
    log.commit(append(), head)
    epoch = read_slot(store, 2)
    assert epoch is not None
    wrong = epoch.model_copy(update={key: least_wrong(head)})
    with pytest.raises(CorruptionError, match="Epoch 2 is not later than the one before it"):
        apply_epoch(head, wrong)
    right = epoch.model_copy(update={key: least_wrong(head) + (1 if key == "time_ms" else -1)})
    assert apply_epoch(head, right).epoch == 2


AGAIN = TableId("00000000000000aa")
ONCE_MORE = TableId("00000000000000bb")


@pytest.mark.parametrize(
    ("operations", "name", "kept"),
    [
        ((DropTable(table=ORDERS), table(AGAIN, "orders")), "orders", True),
        ((DropTable(table=ORDERS), table(ORDERS, "orders")), "orders", True),
        ((DropTable(table=ORDERS), table(AGAIN, "other")), "other", False),
        ((table(AGAIN, "other"), DropTable(table=ORDERS)), "other", False),
        (
            (
                *(DropTable(table=ORDERS), table(AGAIN, "orders")),
                *(DropTable(table=AGAIN), table(ONCE_MORE, "orders")),
            ),
            "orders",
            True,
        ),
        (
            (
                *(RenameTable(table=ORDERS, name="new"), DropTable(table=ORDERS)),
                *(table(AGAIN, "new"), table(ONCE_MORE, "orders")),
            ),
            "new",
            True,
        ),
    ],
    ids=["new id", "own id", "other name", "created first", "twice", "renamed"],
)
def test_a_table_that_takes_the_place_of_another_one_has_its_batches(
    operations: tuple[Any, ...], name: str, kept: bool
) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(Txn(table=ORDERS, app="app", version=7)), with_orders(store, log))
    state = log.commit(change(*operations), base)
    expected = {"app": 7} if kept else {}
    for head in (state, log.reader.read_head(), replay(store)):
        assert head.table(name).batches == expected


def test_a_table_begins_anew_where_an_earlier_epoch_has_dropped_the_last_one() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(Txn(table=ORDERS, app="app", version=7)), with_orders(store, log))
    state = log.commit(change(DropTable(table=ORDERS)), base)
    assert log.commit(change(table(AGAIN, "orders")), state).table("orders").batches == {}


@pytest.mark.parametrize("version", [6, 7, 8])
def test_a_table_may_repeat_the_batch_that_it_took_over_and_never_goes_back(version: int) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(Txn(table=ORDERS, app="app", version=7)), with_orders(store, log))
    made = change(
        *(DropTable(table=ORDERS), table(AGAIN, "orders")),
        Txn(table=AGAIN, app="app", version=version),
        Txn(table=AGAIN, app="own", version=1),
    )
    made = replace(made, carried=frozenset({(AGAIN, "app")}))
    if version < 7:
        with pytest.raises(InvalidInputError, match="commits batch 6 of 'app' again"):
            log.commit(made, base)
    else:
        assert log.commit(made, base).table("orders").batches == {"app": version, "own": 1}
