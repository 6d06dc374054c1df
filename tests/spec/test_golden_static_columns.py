"""A log with static columns, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/static-columns.md
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import statics_id, statics_schema
from colonnade.manifests.model.operations import (
    AddRowSet,
    AlterSchema,
    CreateTable,
    DropRowSet,
    DropTable,
    Operation,
    RenameTable,
    Restore,
    SetPrimaryKey,
    SetProperties,
)
from colonnade.manifests.model.schema import (
    ArrayType,
    SchemaField,
    TableSchema,
)
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.folds.statics import whole_table
from colonnade.manifests.state.snapshot import Snapshot
from tests.log_samples import change, epoch_after
from tests.spec.golden_logs import (
    ORDERS,
    TRIPS,
    GoldenLog,
    Writer,
    add,
    contents,
    rowset,
    states,
)

STATICS = statics_id(TableId(ORDERS))
SITE = SchemaField(id=1, name="site", type="int", nullable=False, comment="where")
AT = SchemaField(id=2, name="at", type="timestamp", nullable=False)
OWNER = SchemaField(id=3, name="owner", type="string", static=True)
TAGS = SchemaField(
    id=4,
    name="tags",
    type=ArrayType(element=SchemaField(id=5, name="element", type="string")),
    static=True,
)
SCHEMA = TableSchema(fields=(SITE, AT, OWNER))
WIDER = TableSchema(
    fields=(
        SITE.model_copy(update={"type": "long"}),
        AT,
        OWNER.model_copy(update={"name": "holder"}),
        TAGS,
    )
)


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=4,
        primary_key=(1, 2),
        partition_key=(1,),
        properties={"retention.hours": "2", "merge.3": "coalesce"},
    )
    commit("create_table", create)
    statics = AddRowSet(table=STATICS, rowset=rowset(9))
    commit("upsert", *add(rowset(1)), statics)
    alter = AlterSchema(table=ORDERS, table_schema=WIDER, schema_id=1, next_column_id=7)
    commit("alter_table", alter)
    commit("alter_table", SetProperties(table=ORDERS, set={"compaction.auto": "4", "a": "b"}))
    commit("rename_table", RenameTable(table=ORDERS, name="readings"))
    back = Restore(table=ORDERS, epoch=2, table_schema=SCHEMA)
    statics_back = Restore(table=STATICS, epoch=2, table_schema=statics_schema(SCHEMA, (1,)))
    commit(
        "restore",
        DropRowSet(table=ORDERS, rowsets=((0, 0),)),
        back,
        *add(rowset(1)),
        DropRowSet(table=STATICS, rowsets=((0, 0),)),
        statics_back,
        statics,
    )
    plain = TableSchema(fields=(SITE, AT))
    made = {"table": TRIPS, "name": "trips", "table_schema": plain, "partition_key": None}
    made["properties"] = {"retention.hours": "2"}
    commit("create_table", create.model_copy(update=made))
    later = TableSchema(fields=(SITE, AT, OWNER.model_copy(update={"id": 4})))
    commit(
        "alter_table",
        AlterSchema(table=TRIPS, table_schema=later, schema_id=1, next_column_id=5),
    )
    commit("drop_table", DropTable(table=ORDERS))


def add_statics(log: LogReader, snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["own_names"] = sorted(snapshot.own_names().values())
    state["statics"] = {
        table.name: {
            "partition_key": list(table.partition_key),
            "statics": table.statics and table.statics.id,
            "statics_of": table.statics_of,
            "columns": [[each.id, each.name, each.static] for each in table.schema.fields],
        }
        for table in snapshot.tables.values()
    }
    for table in snapshot.tables.values():
        assert whole_table(table, snapshot.tables.get) == table
        view = log.rowsets.view(table, None, None)
        if view.rowsets:
            assert (view.statics is None) == (not any(f.static for f in table.schema.fields))


def read(store: Any) -> dict[str, Any]:
    return states(store, add=partial(add_statics, LogReader(store)))


LOG = GoldenLog("log-v1-static-columns", write, read)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_users_see_the_table_and_not_that_of_its_static_values() -> None:
    shown = [each["own_names"] for each in LOG.expected().values()]
    assert shown[2] == ["orders"]
    assert shown[5] == ["readings"]
    assert shown[-1] == ["trips"]


def last_state() -> Snapshot:
    return LogReader(LOG.store()).read_head()


@pytest.mark.parametrize(
    "operation",
    [
        AlterSchema(
            table=TRIPS,
            table_schema=TableSchema(
                fields=(SITE, AT, OWNER.model_copy(update={"id": 4, "name": "other"}))
            ),
            schema_id=2,
            next_column_id=5,
        ),
        DropTable(table=TRIPS),
        DropTable(table=statics_id(TableId(TRIPS))),
        SetPrimaryKey(table=statics_id(TableId(TRIPS)), columns=()),
        CreateTable(table=ORDERS, name="o", table_schema=SCHEMA, next_column_id=4),
        CreateTable(
            table=ORDERS,
            name="o",
            table_schema=SCHEMA,
            next_column_id=4,
            partition_key=(1,),
        ),
        CreateTable(
            table=ORDERS,
            name="o",
            table_schema=TableSchema(fields=(SITE,)),
            next_column_id=4,
            primary_key=(1,),
            statics_of=TRIPS,
        ),
    ],
    ids=lambda each: f"{each.op}-{each.table[:2]}",
)
def test_an_epoch_that_leaves_the_two_tables_in_disagreement_is_refused(
    operation: Operation,
) -> None:
    state = last_state()
    with pytest.raises(CorruptionError, match="static"):
        apply_epoch(state, epoch_after(state, change(operation)))
