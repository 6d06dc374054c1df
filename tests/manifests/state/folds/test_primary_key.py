"""An epoch that gives a table a primary key which its columns do not allow is refused."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import ByteCheck, ColumnReplacement
from colonnade.manifests.model.operations import (
    CreateTable,
    Operation,
    ReplaceColumn,
    Restore,
    SetPrimaryKey,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    TRIPS,
    append,
    change,
    check_refused,
    database,
    epoch_after,
    make_log,
)
from tests.manifests.state.alterations import alter

ID = SchemaField(id=1, name="id", type="int", nullable=False)
X = SchemaField(id=2, name="x", type="double")
CREATE = CreateTable(
    table=ORDERS, name="orders", table_schema=TableSchema(fields=(ID, X)), next_column_id=3
)
SET = SetPrimaryKey(table=ORDERS, columns=(1,))
DROP = SetPrimaryKey(table=ORDERS, columns=())


def keyed() -> tuple[MemoryStore, Snapshot]:
    store = MemoryStore()
    log = make_log(store)
    return store, log.commit(change(SET), log.commit(change(CREATE), database(store)))


def test_a_key_is_set_and_dropped() -> None:
    store, base = keyed()
    log = make_log(store)
    assert base.table("orders").primary_key == (1,)
    log.commit(change(DROP), base)
    assert log.reader.read_head().table("orders").primary_key == ()


def test_a_key_stays_when_its_column_widens_or_gets_another_name() -> None:
    store, base = keyed()
    wide = ID.model_copy(update={"name": "number", "type": "decimal(20,0)"})
    after = make_log(store).commit(change(alter(wide, X)), base)
    assert after.table("orders").primary_key == (1,)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (SetPrimaryKey(table=ORDERS, columns=(2,)), "'x' of the primary key is nullable"),
        (SetPrimaryKey(table=ORDERS, columns=(9,)), "a column 9"),
        (alter(X), "a column 1"),
        (alter(ID.model_copy(update={"nullable": True}), X), "'id' of the primary key is nullable"),
        (CREATE.model_copy(update={"table": TRIPS, "name": "t", "primary_key": (2,)}), "nullable"),
        (Restore(table=ORDERS, epoch=1, primary_key=(2,)), "nullable"),
    ],
    ids=["nullable", "unknown", "dropped", "becomes nullable", "created", "restored"],
)
def test_an_operation_that_contradicts_the_primary_key_is_refused(
    wrong: Operation, text: str
) -> None:
    store, base = keyed()
    log = make_log(store)
    base = log.commit(append(), base)
    check_refused(log, base, [wrong], text)


def test_a_column_of_the_key_is_never_replaced() -> None:
    store, base = keyed()
    base = make_log(store).commit(append(), base)
    new = ColumnReplacement(
        columns=(1,),
        object="ab" * 16,
        place="packed",
        bytes=50,
        footer=ByteCheck(length=20, crc32c=2),
    )
    replaced = change(ReplaceColumn(table=ORDERS, rowset=0, replacement=new))
    with pytest.raises(CorruptionError, match="replaces"):
        apply_epoch(base, epoch_after(base, replaced))


def test_a_restore_brings_back_the_key_that_it_names() -> None:
    store, base = keyed()
    log = make_log(store)
    same = log.commit(change(Restore(table=ORDERS, epoch=2)), base)
    assert same.table("orders").primary_key == (1,)
    none = log.commit(change(Restore(table=ORDERS, epoch=1, primary_key=())), same)
    assert none.table("orders").primary_key == ()


def test_a_checkpoint_keeps_the_key() -> None:
    store, base = keyed()
    log = make_log(store)
    assert log.try_checkpoint(base).table("orders").primary_key == (1,)
    assert make_log(store).reader.read_head().table("orders").primary_key == (1,)
