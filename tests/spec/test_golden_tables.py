"""A log whose checkpoints hold tables in maps, as an earlier writer left it, is read and written.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/checkpoint.md#tables
"""

from __future__ import annotations

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CreateTable, DropTable, RenameTable, SetComment
from colonnade.manifests.state.snapshot import TableMap
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    TRIPS,
    GoldenLog,
    Writer,
    add,
    contents,
    rowset,
)
from tests.spec.golden_logs import states as all_states

FLOOR = 7


def create(number: int) -> CreateTable:
    table = f"{number:016x}"
    return CreateTable(table=table, name=f"t{number}", table_schema=SCHEMA, next_column_id=12)


def write(writer: Writer) -> None:
    """Checkpoints of epochs 4 and 8, and an anchor of epoch 7, all with tables in several pages."""
    commit, store = writer.commit, writer.store
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", orders)
    commit("create_tables", *(create(number) for number in range(12)))
    for number in (1, 2):
        commit("append", *add(rowset(number)))
        store.put(f"{ORDERS}/{rowset(number).object}.rowset", b"R", sync=False)
    commit("rename_table", RenameTable(table=f"{3:016x}", name="«renamed»"))
    commit("drop_table", DropTable(table=f"{4:016x}"))
    again = CreateTable(table=TRIPS, name="t4", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", again)
    commit("set_comment", SetComment(table=TRIPS, comment="in the place of another"))
    vacuum(writer.log, VacuumRequest(0, threads=1, epochs=2))
    writer.state = writer.log.reader.refresh(writer.state)
    commit("append", *add(rowset(5)))


LOG = GoldenLog(
    "log-v1-tables",
    write,
    lambda store: all_states(store, FLOOR),
    Limits(root_tables=2, root_bytes=0, page_bytes=2048),
)


def test_an_earlier_log_reads_as_it_did() -> None:
    store = LOG.store()
    assert LOG.read(store) == LOG.expected()
    state = Log(store).reader.read_head()
    assert isinstance(state.tables, TableMap)
    assert state.table("t4").id == TRIPS
    assert state.find_table("t3") is None


def test_its_checkpoints_have_their_tables_in_several_pages() -> None:
    found = read_hint(LOG.store())
    assert found is not None
    maps = found[1].stored_tables
    assert maps is not None
    assert found[1].tables == ()
    assert maps.records.pages > 1
    assert maps.records.count == maps.names.count == 13


def test_the_log_is_still_written_the_same() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
