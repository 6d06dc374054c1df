"""The range tombstones of a table are those that no operation has forgotten."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import ColumnConflictError, CorruptionError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import ColumnReplacement, PartitionField, SortField
from colonnade.manifests.model.operations import (
    AddRangeTombstone,
    AlterSchema,
    CreateTable,
    DropRowSet,
    DropTable,
    ForgetRangeTombstones,
    Operation,
    ReplaceColumn,
    Restore,
    SetPrimaryKey,
    SetSortOrder,
)
from colonnade.manifests.model.regions import Interval
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

A = SchemaField(id=1, name="a", type="long", nullable=False)
B = SchemaField(id=2, name="b", type="string", nullable=False)
C = SchemaField(id=3, name="c", type="date", nullable=False)
D = SchemaField(id=4, name="d", type="long", nullable=False)
SCHEMA = TableSchema(fields=(A, B, C, D))
CREATE = CreateTable(
    table=ORDERS,
    name="orders",
    table_schema=SCHEMA,
    next_column_id=5,
    sort_key=(SortField(column=1),),
    partition_fields=(PartitionField(column=3, transform="days"),),
    primary_key=(2,),
)


def opened() -> tuple[Log, Snapshot]:
    log = make_log()
    return log, log.commit(change(CREATE), database(log.store))


def tombstone(*columns: int, **bounds: str) -> AddRangeTombstone:
    region = tuple(Interval(column=each, **bounds) for each in columns)  # type: ignore[arg-type]
    return AddRangeTombstone(table=ORDERS, regions=(region,))


def epochs(state: Snapshot) -> list[int]:
    return [each.epoch for each in state.table("orders").range_tombstones]


@pytest.mark.parametrize("columns", [(1,), (2,), (3,), (1, 2, 3)])
def test_columns_of_sort_key_primary_key_and_partitions_may_have_ranges(
    columns: tuple[int, ...],
) -> None:
    log, state = opened()
    state = log.commit(change(tombstone(*columns)), state)
    assert epochs(state) == [2]
    assert replay(log.store).table("orders") == state.table("orders")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (tombstone(4), "names a column that is not part of a key"),
        (tombstone(1, 4), "names a column that is not part of a key"),
        (tombstone(9), "column 9, which the table does not have"),
        (tombstone(1, low="i:2", high="i:1"), "ends before it begins"),
        (tombstone(1, low="s:2"), "is damaged"),
        (ForgetRangeTombstones(table=ORDERS, through=2), "forgets later range tombstones"),
    ],
)
def test_a_wrong_tombstone_is_refused_before_it_is_written_and_when_it_is_read(
    wrong: Operation, text: str
) -> None:
    log, state = opened()
    log, state = log, log.commit(change(tombstone(1)), state)
    if isinstance(wrong, ForgetRangeTombstones):
        wrong = wrong.model_copy(update={"through": 3})
    check_refused(log, state, [wrong], text)
    with pytest.raises(CorruptionError, match=text):
        apply_epoch(state, epoch_after(state, change(wrong)))


def test_a_key_of_a_tombstone_stays_a_key() -> None:
    log, state = opened()
    state = log.commit(change(tombstone(2)), state)
    drop = SetPrimaryKey(table=ORDERS, columns=())
    check_refused(log, state, [drop], "not part of a key")
    state = log.commit(change(ForgetRangeTombstones(table=ORDERS, through=2)), state)
    log.commit(change(drop), state)


def test_a_column_of_a_tombstone_is_not_dropped() -> None:
    log, state = opened()
    other = SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=2),))
    state = log.commit(change(other), log.commit(change(tombstone(1)), state))
    without = AlterSchema(
        table=ORDERS,
        table_schema=TableSchema(fields=(B, C, D)),
        schema_id=1,
        next_column_id=5,
    )
    check_refused(log, state, [without], "column 1, which the table does not have")


def test_a_column_of_an_earlier_sort_key_may_have_a_range_and_is_not_replaced() -> None:
    log, state = opened()
    other = SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=2),))
    state = log.commit(change(other), state)
    state = log.commit(append(), log.commit(change(tombstone(1)), state))
    new = entry()
    values = ColumnReplacement(
        columns=(1,), object=new.object, place="packed", bytes=7, footer=new.footer
    )
    wrong = ReplaceColumn(table=ORDERS, rowset=0, replacement=values)
    with pytest.raises(ColumnConflictError, match="columns of table 'orders' changed"):
        log.commit(change(wrong), state)


def test_a_restored_table_and_a_table_created_again_have_no_tombstones() -> None:
    log, state = opened()
    state = log.commit(append(), state)
    state = log.commit(change(tombstone(1)), state)
    back = Restore(table=ORDERS, epoch=2)
    restored = log.commit(change(DropRowSet(table=ORDERS, rowsets=((0, 0),)), back), state)
    assert epochs(restored) == []
    state = log.commit(change(tombstone(1)), restored)
    again = log.commit(change(DropTable(table=ORDERS), CREATE), state)
    assert epochs(again) == []


@given(seed=st.integers(0, 2**32))
def test_a_table_has_the_tombstones_that_came_since_the_last_forgotten_one(seed: int) -> None:
    rng = random.Random(seed)
    log, state = opened()
    expected: list[int] = []
    for _ in range(rng.randrange(2, 9)):
        if expected and rng.random() < 0.4:
            through = rng.randrange(state.epoch + 1)
            state = log.commit(change(ForgetRangeTombstones(table=ORDERS, through=through)), state)
            expected = [each for each in expected if each > through]
        else:
            both = [tombstone(1, low="i:1")] * rng.randrange(1, 3)
            state = log.commit(change(*both), state)
            expected += [state.epoch] * len(both)
        assert epochs(state) == expected
    log.try_checkpoint(state)
    assert epochs(make_log(log.store).reader.read_head()) == expected
