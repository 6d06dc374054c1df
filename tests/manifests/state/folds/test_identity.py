"""The state knows the last value of each identity column, and no epoch moves it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.errors import CorruptionError, InvalidInputError
from colonnade.manifests.model.columns.identity import IdentityCounter
from colonnade.manifests.model.entries import ByteCheck, ColumnStatistics, EntrySegment
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    AlterSchema,
    DrawIdentity,
    Restore,
)
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.manifests.state.folds.columns import altered
from colonnade.manifests.state.folds.identity import (
    check_identities,
    drawn,
    find_identity,
    with_values,
)
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    change,
    database,
    entry,
    make_log,
    replay,
    table,
    table_state,
)
from tests.manifests.state.alterations import NOTE, X, alter

JOB = "ab" * 8
ID = SCHEMA.fields[0].model_copy(
    update={"identity": IdentityColumn(start=5, step=10), "nullable": False}
)
NUMBERED = TableSchema(fields=(ID, *SCHEMA.fields[1:]))


def state(schema: TableSchema = NUMBERED, *counters: IdentityCounter) -> TableState:
    return replace(table_state(schema), identities=counters)


def draw(count: int, column: int = 1) -> DrawIdentity:
    return DrawIdentity(table=ORDERS, column=column, count=count, job=JOB)


def last(after: TableState) -> list[int]:
    return [each.last for each in after.identities]


def test_a_draw_moves_the_last_value_by_its_count() -> None:
    one = drawn(2, state(), draw(3))
    assert last(one) == [25]
    assert last(drawn(3, one, draw(1))) == [35]


@pytest.mark.parametrize(
    ("operation", "part"),
    [
        (draw(1, column=2), "not an identity column"),
        (draw(1, column=9), "not an identity column"),
        (draw(2**63), "more values"),
    ],
)
def test_a_draw_that_has_no_values_is_refused(operation: DrawIdentity, part: str) -> None:
    with pytest.raises(CorruptionError, match=part):
        drawn(2, state(), operation)


def test_rows_move_the_last_value_to_the_last_step_up_to_their_bounds() -> None:
    after = with_values(2, state(), AddRowSet(table=ORDERS, rowset=entry(10, low=90)))
    assert last(after) == [95]
    assert with_values(3, after, AddRowSet(table=ORDERS, rowset=entry(5, low=0))) is after
    segment = EntrySegment(
        object="cd" * 16,
        check=ByteCheck(length=1, crc32c=1),
        rowset_count=2,
        row_count=20,
        byte_count=9,
        statistics={1: ColumnStatistics(min="i:1", max="i:205")},
    )
    assert last(with_values(4, after, AddRowSets(table=ORDERS, segment=segment))) == [205]


@pytest.mark.parametrize(
    "statistics",
    [
        {},
        {1: ColumnStatistics(nulls=10)},
        {1: ColumnStatistics(min="i:1", max="i:2", nulls=1)},
        {1: ColumnStatistics(min="s:1", max="s:2")},
        {1: ColumnStatistics(min="i:1", max=f"i:{2**63}")},
    ],
)
def test_rows_without_bounds_of_the_column_are_refused(
    statistics: dict[int, ColumnStatistics],
) -> None:
    rowset = entry().model_copy(update={"statistics": statistics})
    with pytest.raises(CorruptionError, match="identity column 'id'"):
        with_values(2, state(), AddRowSet(table=ORDERS, rowset=rowset))


def test_a_widened_column_goes_on_with_its_values() -> None:
    wide = ID.model_copy(update={"type": "long"})
    before = state(TableSchema(fields=(wide,)), IdentityCounter(column=1, last=15))
    assert find_identity(before, 1) == wide
    assert find_identity(before, 3) is None
    assert last(drawn(2, before, draw(1))) == [25]
    assert last(with_values(2, before, AddRowSet(table=ORDERS, rowset=entry(10, low=90)))) == [95]


def test_a_new_table_has_sound_columns_and_counters() -> None:
    check_identities(1, state(NUMBERED, IdentityCounter(column=1, last=15)))
    check_identities(1, state(SCHEMA, IdentityCounter(column=1, last=15)))
    nullable = TableSchema(fields=(ID.model_copy(update={"nullable": True}),))
    with pytest.raises(CorruptionError, match="is nullable"):
        check_identities(1, state(nullable))
    small = TableSchema(fields=(ID.model_copy(update={"type": "byte"}),))
    narrow_again = state(small, IdentityCounter(column=1, last=1005))
    check_identities(1, narrow_again)
    with pytest.raises(CorruptionError, match="more values"):
        drawn(2, narrow_again, draw(1))


@pytest.mark.parametrize(
    "wrong",
    [
        alter(ID.model_copy(update={"identity": IdentityColumn()}), X, next_id=3),
        alter(ID.model_copy(update={"identity": None}), X, next_id=3),
        alter(ID.model_copy(update={"nullable": True}), X, next_id=3),
        alter(ID, X, NOTE.model_copy(update={"identity": IdentityColumn()})),
        alter(
            ID.model_copy(
                update={
                    "type": "decimal(20,0)",
                    "identity": IdentityColumn(),
                }
            ),
            X,
        ),
    ],
)
def test_an_identity_stays_as_it_was_created(wrong: AlterSchema) -> None:
    log = make_log(store := MemoryStore())
    created = table().model_copy(update={"table_schema": NUMBERED})
    base = log.commit(change(created), database(store))
    with pytest.raises(InvalidInputError, match="changes column|gives the id"):
        log.commit(change(wrong), base)


def test_counters_are_in_checkpoints_and_stay_after_a_drop_of_the_column_and_a_restore() -> None:
    log = make_log(store := MemoryStore(), interval=2)
    base = log.commit(
        change(table().model_copy(update={"table_schema": NUMBERED})), database(store)
    )
    base = log.commit(change(draw(3)), base)
    base = log.commit(change(alter(X, next_id=3)), base)
    restored = Restore(table=ORDERS, epoch=2, table_schema=NUMBERED)
    base = log.commit(change(restored), base)
    for state_read in (base, make_log(store).reader.read_head(), replay(store)):
        assert last(state_read.table("orders")) == [25]


@pytest.mark.parametrize(("wanted", "allowed"), [("long", True), ("double", False)])
def test_an_identity_column_widens_only_to_longer_integers(wanted: str, allowed: bool) -> None:
    before = state(TableSchema(fields=(ID.model_copy(update={"type": "int"}), X)))
    wide = ID.model_copy(update={"type": wanted})
    operation = alter(wide, X, next_id=4)
    if allowed:
        assert altered(2, before, operation).schema.fields[0] == wide
        return
    with pytest.raises(CorruptionError, match="changes column 'id'"):
        altered(2, before, operation)
