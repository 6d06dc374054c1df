"""A log with a table whose RowSets got new ids is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#new-rowset-ids
"""

from __future__ import annotations

from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, DropRowSet, Renumber, Txn
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    delete,
    rowset,
    vector,
)


def write(writer: Writer) -> None:
    """RowSets 1 and 3 of epoch 2 are left, and have the ids 0 and 1 from epoch 5 on."""
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", orders)
    batch = Txn(table=ORDERS, app="job", version=7)
    writer.commit("append", *add(rowset(1), rowset(2), rowset(3)), batch)
    writer.commit("overwrite", DropRowSet(table=ORDERS, rowsets=((1, 1),), kind="delete"))
    writer.commit("delete", delete(2, vector(1, 2)))
    first, last = add(rowset(1), rowset(3))
    again = last.model_copy(update={"vector": vector(1, 2)})
    writer.commit("renumber", Renumber(table=ORDERS), first, again)
    for number in (4, 5, 6):
        writer.commit("append", *add(rowset(number)))


LOG = GoldenLog("log-v1-renumber", write)


def test_an_earlier_log_reads_as_it_did() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()
    ids = {
        number: [each[0] for each in state["tables"]["orders"]["rowsets"]]
        for number, state in LOG.expected().items()
        if number in ("4", "5", "8")
    }
    assert ids == {"4": [0, 2], "5": [0, 1], "8": [0, 1, 2, 3, 4]}
    assert Log(LOG.store()).read_head().table("orders").batches == {"job": 7}


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
