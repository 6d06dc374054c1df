"""An epoch that would leave a generated column without what it reads is refused."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import ConflictError
from colonnade.manifests.model.operations import AlterSchema, CreateTable, Operation, Restore
from colonnade.manifests.model.schema import (
    Generation,
    SchemaField,
    TableSchema,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    TRIPS,
    append,
    change,
    check_refused,
    make_log,
    with_orders,
)

A = SchemaField(id=1, name="a", type="int")
G = SchemaField(
    id=2,
    name="g",
    type="int",
    generated=Generation(sql="a + 1", columns=(1,), time_zone="UTC"),
)
PLAIN = G.model_copy(update={"generated": None})
CREATE = CreateTable(
    table=TRIPS, name="trips", table_schema=TableSchema(fields=(A, G)), next_column_id=3
)


def alter(*fields: SchemaField, number: int = 1) -> AlterSchema:
    schema = TableSchema(fields=fields)
    return AlterSchema(table=TRIPS, table_schema=schema, schema_id=number, next_column_id=4)


def created() -> tuple[MemoryStore, Snapshot]:
    store = MemoryStore()
    log = make_log(store)
    return store, log.commit(change(CREATE), with_orders(store, log))


def changed(**more: Any) -> SchemaField:
    assert G.generated is not None
    return G.model_copy(update={"generated": G.generated.model_copy(update=more)})


WRONG: dict[str, tuple[Operation, str]] = {
    "the source is dropped": (alter(G), "'g' from a column that it cannot read"),
    "another expression": (alter(A, changed(sql="a")), "'g' of table 'trips' wrongly"),
    "no expression": (alter(A, PLAIN), "'g' of table 'trips' wrongly"),
    "NOT NULL": (alter(A, G.model_copy(update={"nullable": False})), "is NOT NULL or has"),
    "an initial value": (
        alter(A, G.model_copy(update={"initial": "i:1"})),
        "is NOT NULL or has another value",
    ),
    "of itself": (alter(A, changed(columns=(2,))), "cannot read"),
    "restored without": (
        Restore(table=TRIPS, epoch=2, table_schema=TableSchema(fields=(G,))),
        "cannot read",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_operation_that_contradicts_a_generated_column_is_refused(name: str) -> None:
    wrong, text = WRONG[name]
    store, base = created()
    check_refused(make_log(store), base, [wrong], text)


def test_a_source_may_widen_and_a_checkpoint_keeps_the_expression() -> None:
    store, base = created()
    log = make_log(store)
    wide = A.model_copy(update={"type": "long"})
    base = log.commit(change(alter(wide, G)), base)
    log.try_checkpoint(base)
    assert make_log(store).reader.read_head().table("trips").schema == TableSchema(fields=(wide, G))


def test_rows_do_not_land_beside_a_generated_column_that_they_were_not_written_for() -> None:
    """Only a restore brings one back, and the rows lack its values."""
    store, base = created()
    log = make_log(store)
    base = log.commit(change(alter(A)), base)
    theirs = Restore(table=TRIPS, epoch=2, table_schema=TableSchema(fields=(A, G)))
    log.commit(change(theirs), base)
    rows = append().ops
    mine = change(*(op.model_copy(update={"table": TRIPS}) for op in rows))
    with pytest.raises(ConflictError, match="'trips'"):
        log.commit(mine, base)


def test_rows_land_when_a_generated_column_was_dropped() -> None:
    store, base = created()
    log = make_log(store)
    log.commit(change(alter(A)), base)
    rows = append().ops
    mine = change(*(op.model_copy(update={"table": TRIPS}) for op in rows))
    assert log.commit(mine, base).table("trips").rowsets.row_count == 10
    assert ORDERS in base.tables
