"""A log whose restore names a map of batches is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#batches-of-a-table-that-is-created-again
"""

from __future__ import annotations

from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, DropTable, Txn, Txns
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.golden_logs import ORDERS, SCHEMA, GoldenLog, Writer, add, contents, rowset
from tests.spec.golden_logs import states as all_states
from tests.spec.test_golden_batches import with_batches

FLOOR = 3


def batch(app: str, version: int) -> Txn:
    return Txn(table=ORDERS, app=app, version=version)


def write(writer: Writer) -> None:
    """Epoch 4 creates the table again, with 40 batches in a map and its own batch beside it."""
    commit = writer.commit
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    batches = [batch(f"job «{n}»", n) for n in range(40)]
    commit("create_table", orders)
    commit("append", *add(rowset(1)), *batches)
    writer.store.put(f"{ORDERS}/{rowset(1).object}.rowset", b"R", sync=False)
    commit("drop_table", DropTable(table=ORDERS))
    carried = frozenset((each.table, each.app) for each in batches)
    own = batch("restores", 1)
    commit("restore", orders, *add(rowset(1)), *batches, own, carried=carried)
    commit("append", *add(rowset(2)), batch("job «7»", 70))
    vacuum(writer.log, VacuumRequest(0, threads=1, epochs=3))
    writer.state = writer.log.refresh(writer.state)
    for number in (3, 4):
        commit("append", *add(rowset(number)), batch("job «7»", 80 + number))


LOG = GoldenLog(
    "log-v1-txns",
    write,
    lambda store: all_states(store, FLOOR, with_batches),
    Limits(page_bytes=512, listed_bytes=1000),
)


def test_an_earlier_log_reads_as_it_did() -> None:
    store = LOG.store()
    assert LOG.read(store) == LOG.expected()
    found = Log(store).read_head().table("orders").batches
    assert (len(found), found["job «7»"], found["job «39»"], found["restores"]) == (41, 84, 39, 1)


def test_the_restore_names_a_map_and_its_own_batch() -> None:
    epoch = next(Log(LOG.store()).read_epochs(4, 1))
    [mapped] = [op for op in epoch.ops if isinstance(op, Txns)]
    assert (mapped.batches.count, mapped.batches.pages) == (40, 2)
    assert [op.app for op in epoch.ops if isinstance(op, Txn)] == ["restores"]


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
