"""Vectors of a change find room in its epoch, or become objects, each of them once."""

from __future__ import annotations

from pyroaring import FrozenBitMap

from colonnade.manifests.commit.change import Change, DeletedRows
from colonnade.manifests.commit.rebase.vector_writer import VectorWriter
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.operations import AddDeletionVector
from colonnade.manifests.object_names import deletion_vector_name, table_prefix
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, append, delete, entry, live, make_log, vector, with_orders

JOB = "0123456789abcdef"
SCATTERED = FrozenBitMap(range(0, 1000, 2))


def test_a_delete_of_scattered_rows_of_many_rowsets_fits_into_one_epoch() -> None:
    store = MemoryStore()
    log = make_log(store, limits=Limits(epoch_bytes=LIMITS.epoch_bytes // 8))
    base = log.commit(append(*(entry(1000) for _ in range(900))), with_orders(store, log))
    rowsets = live(log, base.table("orders"))
    rows = tuple(DeletedRows(ORDERS, each, "delete", SCATTERED) for each in rowsets)
    after, epoch = log.commit_change(Change(new_transaction_id(), "delete", (), rows=rows), base)
    assert epoch is not None
    inline = [op for op in epoch.ops if isinstance(op, AddDeletionVector) and op.vector.data]
    assert 0 < len(inline) < len(epoch.ops) == 900
    assert all(each.row_count == 500 for each in live(log, after.table("orders")))


def test_a_vector_is_stored_once_however_often_its_slot_is_lost() -> None:
    store = MemoryStore()
    log = make_log(store, limits=Limits(inline_bytes=0))
    base = log.commit(append(entry(1000), entry(1000), entry(1000)), with_orders(store, log))
    head = base
    for _ in range(3):
        head = log.commit(append(), head)
    rowsets = live(log, base.table("orders"))[1:]
    head = log.commit(delete(0, vector(2)), head)
    rows = tuple(DeletedRows(ORDERS, each, "delete", SCATTERED) for each in rowsets)
    log.commit(Change(new_transaction_id(), "delete", (), rows=rows), base)
    assert len([name for name in store.list("") if name.name.endswith(".dv")]) == 2


def test_a_vector_that_a_vacuum_removed_is_stored_again() -> None:
    store = MemoryStore()
    writer = VectorWriter(store, JOB)
    writer.begin(2**23, 1)
    first = writer.write(ORDERS, 0, SCATTERED, None)
    kept = writer.write(ORDERS, 1, SCATTERED, None)
    store.delete(deletion_vector_name(table_prefix(ORDERS), first.object))
    writer.forget({first.object})
    again = writer.write(ORDERS, 0, SCATTERED, None)
    assert again.object != first.object
    assert store.get(deletion_vector_name(table_prefix(ORDERS), again.object), limit=2000)
    assert writer.write(ORDERS, 1, SCATTERED, None) == kept


def test_a_vector_that_grew_or_finds_no_room_any_more_is_stored_anew() -> None:
    writer = VectorWriter(MemoryStore(), JOB)
    writer.begin(0, 1)
    small = writer.write(ORDERS, 0, FrozenBitMap({1}), None)
    assert small.data is not None
    assert writer.write(ORDERS, 0, FrozenBitMap({1, 2}), None).cardinality == 2
    writer.begin(2**23, 1)
    assert writer.write(ORDERS, 0, FrozenBitMap({1, 2}), None).data is None
