"""A table has the lifetimes that were set last, and its columns always fit them."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import ColumnConflictError, CorruptionError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import ColumnReplacement, PartitionField, SortField
from colonnade.manifests.model.lifetimes import ColumnLifetime, Lifetimes
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Operation,
    ReplaceColumn,
    Restore,
    SetLifetimes,
    SetPartitionLayout,
    SetPrimaryKey,
    SetSortOrder,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from tests.log_samples import (
    ORDERS,
    append,
    change,
    check_refused,
    database,
    entry,
    epoch_after,
    make_log,
    replay,
)

ID = SchemaField(id=1, name="id", type="long", nullable=False)
AT = SchemaField(id=2, name="at", type="timestamp", nullable=False)
NOTE = SchemaField(id=3, name="note", type="long")
SCHEMA = TableSchema(fields=(ID, AT, NOTE))
CREATE = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=4)
ROWS = Lifetimes(rows_ms=5, time_column=2)
VALUES = Lifetimes(columns=(ColumnLifetime(column=3, ms=7),), time_column=2, grace_ms=9)
WRITTEN = Lifetimes(rows_ms=5, since_ms=1)


def opened(lifetimes: Lifetimes | None = None) -> tuple[Log, Snapshot]:
    log = make_log()
    create = CREATE.model_copy(update={"lifetimes": lifetimes})
    return log, log.commit(change(create), database(log.store))


@pytest.mark.parametrize("lifetimes", [ROWS, VALUES, WRITTEN])
def test_lifetimes_are_set_and_taken_away_and_survive_a_checkpoint(lifetimes: Lifetimes) -> None:
    log, state = opened()
    assert state.table("orders").lifetimes is None
    state = log.commit(change(SetLifetimes(table=ORDERS, lifetimes=lifetimes)), state)
    log.try_checkpoint(state)
    for found in (state, replay(log.store), make_log(log.store).reader.read_head()):
        assert found.table("orders").lifetimes == lifetimes
    state = log.commit(change(SetLifetimes(table=ORDERS)), state)
    assert state.table("orders").lifetimes is None
    _, created = opened(lifetimes)
    assert created.table("orders").lifetimes == lifetimes


LATE = AlterSchema(
    table=ORDERS, table_schema=TableSchema(fields=(ID, AT)), schema_id=1, next_column_id=4
)
FIXED = LATE.model_copy(
    update={
        "table_schema": TableSchema(fields=(ID, AT, NOTE.model_copy(update={"nullable": False})))
    }
)
WITHOUT_TIME = LATE.model_copy(update={"table_schema": TableSchema(fields=(ID, NOTE))})


@pytest.mark.parametrize(
    ("lifetimes", "wrong", "text"),
    [
        (None, SetLifetimes(table=ORDERS, lifetimes=Lifetimes(expires_column=1)), "is no time"),
        (VALUES, LATE, "column 3, which the table does not have"),
        (VALUES, FIXED, "because it is NOT NULL"),
        (ROWS, WITHOUT_TIME, "column 2, which the table does not have"),
        (VALUES, SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=3),)), "sort key"),
        (
            VALUES,
            SetPartitionLayout(
                table=ORDERS,
                layout_id=1,
                fields=(PartitionField(column=3, transform="identity"),),
            ),
            "partitioning",
        ),
    ],
)
def test_lifetimes_that_the_columns_do_not_fit_are_refused(
    lifetimes: Lifetimes | None, wrong: Operation, text: str
) -> None:
    log, state = opened(lifetimes)
    check_refused(log, state, [wrong], text)
    with pytest.raises(CorruptionError, match="Epoch 2"):
        apply_epoch(state, epoch_after(state, change(wrong)))


def test_a_primary_key_has_no_values_that_expire() -> None:
    fixed = TableSchema(fields=(ID, AT))
    create = CREATE.model_copy(update={"table_schema": fixed, "lifetimes": ROWS})
    log = make_log()
    state = log.commit(change(create), database(log.store))
    log.commit(change(SetPrimaryKey(table=ORDERS, columns=(1, 2))), state)


def test_a_restored_table_keeps_its_lifetimes_if_its_columns_fit_them() -> None:
    log, state = opened()
    state = log.commit(append(), state)
    more = TableSchema(fields=(*SCHEMA.fields, SchemaField(id=4, name="more", type="date")))
    wider = AlterSchema(table=ORDERS, table_schema=more, schema_id=1, next_column_id=5)
    state = log.commit(change(wider), state)
    state = log.commit(change(SetLifetimes(table=ORDERS, lifetimes=ROWS)), state)
    gone, back = DropRowSet(table=ORDERS, rowsets=((0, 0),)), Restore(table=ORDERS, epoch=2)
    back = back.model_copy(update={"table_schema": SCHEMA})
    assert log.commit(change(gone, back), state).table("orders").lifetimes == ROWS
    log, state = opened()
    state = log.commit(change(wider), log.commit(append(), state))
    late = SetLifetimes(table=ORDERS, lifetimes=Lifetimes(expires_column=4))
    state = log.commit(change(late), state)
    check_refused(log, state, [gone, back], "column 4, which the table does not have")


@pytest.mark.parametrize(
    ("lifetimes", "column", "refused"),
    [(ROWS, 3, False), (VALUES, 3, True), (WRITTEN, 3, True), (None, 3, False)],
)
def test_a_column_is_not_replaced_if_its_values_expire_or_if_rows_expire_after_their_write(
    lifetimes: Lifetimes | None, column: int, refused: bool
) -> None:
    log, state = opened(lifetimes)
    state = log.commit(append(), state)
    new = entry()
    values = ColumnReplacement(
        columns=(column,), object=new.object, place="packed", bytes=7, footer=new.footer
    )
    replacing = ReplaceColumn(table=ORDERS, rowset=0, replacement=values)
    if refused:
        with pytest.raises(ColumnConflictError, match="columns of table 'orders' changed"):
            log.commit(change(replacing), state)
    else:
        log.commit(change(replacing), state)
