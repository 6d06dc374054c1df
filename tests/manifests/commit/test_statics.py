"""A change of a table also does what its table of static values needs, or is refused."""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.statics import with_static_values
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import statics_id
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.lifetimes import ColumnLifetime, Lifetimes
from colonnade.manifests.model.operations import (
    AddCheck,
    AddRowSet,
    AlterSchema,
    CreateTable,
    DropTable,
    Operation,
    RenameTable,
    SetComment,
    SetLifetimes,
    SetPartitionLayout,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
)
from colonnade.manifests.model.schema import (
    ColumnDefault,
    Generation,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, change, database, entry, epoch_after, make_log

STATICS = statics_id(TableId(ORDERS))
SITE = SchemaField(id=1, name="site", type="int", nullable=False)
AT = SchemaField(id=2, name="at", type="date", nullable=False)
OWNER = SchemaField(id=3, name="owner", type="string", static=True)
CREATE = CreateTable(
    table=ORDERS,
    name="readings",
    table_schema=TableSchema(fields=(SITE, AT, OWNER)),
    next_column_id=4,
    primary_key=(1, 2),
    partition_key=(1,),
)


def empty() -> Snapshot:
    return database(MemoryStore())


def after(state: Snapshot, *operations: Operation) -> Snapshot:
    mine = with_static_values(change(*operations), state)
    return apply_epoch(state, epoch_after(state, mine))


def altered(*fields: SchemaField) -> AlterSchema:
    schema = TableSchema(fields=fields)
    return AlterSchema(table=ORDERS, table_schema=schema, schema_id=1, next_column_id=9)


def test_a_table_and_its_static_values_are_made_renamed_and_dropped_together() -> None:
    state = after(empty(), CREATE)
    assert {each.name for each in state.tables.values()} == {"readings", "readings.statics"}
    state = after(state, RenameTable(table=ORDERS, name="r"))
    assert {each.name for each in state.tables.values()} == {"r", "r.statics"}
    assert not after(state, DropTable(table=ORDERS)).tables


def test_one_change_makes_a_table_and_brings_static_values() -> None:
    rows, values = (AddRowSet(table=each, rowset=entry()) for each in (ORDERS, STATICS))
    state = after(empty(), CREATE, rows, values)
    statics = state.table("readings").statics
    assert statics is not None
    assert statics.rowsets.row_count == entry().rows


def test_a_table_gets_static_values_with_its_first_static_column() -> None:
    plain = {"partition_key": None, "table_schema": TableSchema(fields=(SITE, AT))}
    state = after(empty(), CREATE.model_copy(update=plain))
    assert STATICS not in state.tables
    owner = OWNER.model_copy(update={"id": 4})
    state = after(state, altered(SITE, AT, owner), RenameTable(table=ORDERS, name="r"))
    table = state.table("r")
    assert table.partition_key == (1,)
    assert table.statics is not None
    assert (table.statics.name, table.statics.schema.names) == ("r.statics", ("site", "owner"))
    state = after(state, altered(SITE, AT).model_copy(update={"schema_id": 2}))
    statics = state.table("r").statics
    assert statics is not None
    assert statics.schema.names == ("site",)


@pytest.mark.parametrize(
    ("mine", "expected"),
    [
        (RenameTable(table=ORDERS, name="r"), {"r": {}, "r.statics": {}}),
        (DropTable(table=ORDERS), {}),
        (
            SetProperties(table=ORDERS, set={"compaction.auto": "2"}),
            {each: {"compaction.auto": "2"} for each in ("readings", "readings.statics")},
        ),
    ],
)
def test_static_values_that_a_concurrent_writer_has_added_follow_their_table(
    mine: Operation, expected: dict[str, dict[str, str]]
) -> None:
    log = make_log()
    plain = {"partition_key": None, "table_schema": TableSchema(fields=(SITE, AT))}
    made = CREATE.model_copy(update=plain)
    base = log.commit(change(made), database(log.store))
    log.commit(change(altered(SITE, AT, OWNER.model_copy(update={"id": 4}))), base)
    head = log.commit(change(mine), base)
    assert {each.name: each.properties for each in head.tables.values()} == expected


def test_properties_of_retention_and_compaction_follow_the_table() -> None:
    given = CREATE.model_copy(update={"properties": {"retention.hours": "3", "merge.3": "max"}})
    state = after(empty(), given)
    state = after(state, SetProperties(table=ORDERS, set={"compaction.auto": "2", "x": "y"}))
    statics = state.tables[STATICS]
    assert statics.properties == {"retention.hours": "3", "compaction.auto": "2"}
    state = after(state, SetProperties(table=ORDERS, remove=("retention.hours", "x")))
    assert state.tables[STATICS].properties == {"compaction.auto": "2"}


def test_a_change_that_concerns_no_static_column_stays_as_it_is() -> None:
    state = after(empty(), CREATE)
    moved = altered(AT, SITE, OWNER)
    for operation in (SetComment(table=ORDERS), moved):
        mine = change(operation)
        assert with_static_values(mine, state) is mine


@pytest.mark.parametrize(
    "operation",
    [
        AlterSchema(
            table=STATICS,
            table_schema=TableSchema(fields=(SITE,)),
            schema_id=1,
            next_column_id=4,
        ),
        DropTable(table=STATICS),
        RenameTable(table=STATICS, name="x"),
        SetPrimaryKey(table=STATICS, columns=()),
        SetLifetimes(table=STATICS, lifetimes=Lifetimes(rows_ms=5)),
    ],
    ids=lambda each: each.op,
)
def test_static_values_are_not_designed_without_their_table(operation: Operation) -> None:
    state = after(empty(), CREATE)
    with pytest.raises(InvalidInputError, match="has the static values of table 'readings'"):
        with_static_values(change(operation), state)


@pytest.mark.parametrize(
    ("operation", "part"),
    [
        (SetPrimaryKey(table=ORDERS, columns=(3,)), "the primary key"),
        (
            SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=3),)),
            "the sort key",
        ),
        (
            SetPartitionLayout(
                table=ORDERS,
                layout_id=1,
                fields=(PartitionField(column=3, transform="identity"),),
            ),
            "the partitioning",
        ),
        (
            AddCheck(
                table=ORDERS,
                constraint=CheckConstraint(name="c", sql="owner = 'a'", columns=(3,)),
            ),
            "c CHECK",
        ),
        (
            SetLifetimes(
                table=ORDERS,
                lifetimes=Lifetimes(columns=(ColumnLifetime(column=3, ms=1),)),
            ),
            "a time to live",
        ),
        (
            altered(
                SITE,
                AT,
                OWNER,
                SchemaField(
                    id=4,
                    name="g",
                    type="string",
                    generated=Generation(sql="owner", columns=(3,), time_zone="UTC"),
                ),
            ),
            "generated column 'g'",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else each.op,
)
def test_a_static_column_is_no_part_of_what_only_rows_have(operation: Operation, part: str) -> None:
    state = after(empty(), CREATE)
    with pytest.raises(InvalidInputError, match=f"Column 'owner' of .*static.*{part}"):
        with_static_values(change(operation), state)


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        (OWNER.model_copy(update={"nullable": False}), "NOT NULL"),
        (OWNER.model_copy(update={"default": ColumnDefault(sql="'a'", value="s:a")}), "default"),
        (
            SchemaField(
                id=4,
                name="s",
                type=StructType(fields=(OWNER.model_copy(update={"id": 5, "name": "inner"}),)),
            ),
            "only whole columns",
        ),
    ],
    ids=("not-null", "default", "inner"),
)
def test_a_column_that_cannot_be_static_is_refused(field: SchemaField, problem: str) -> None:
    state = after(empty(), CREATE)
    with pytest.raises(InvalidInputError, match=problem):
        with_static_values(change(altered(SITE, AT, field)), state)


def test_static_columns_need_a_partition_key() -> None:
    keyless = CREATE.model_copy(update={"primary_key": None, "partition_key": None})
    with pytest.raises(InvalidInputError, match="has no partition key"):
        with_static_values(change(keyless), empty())
