"""A log with lifetimes, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/lifetimes.md
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.lifetimes import ColumnLifetime, Lifetimes
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Restore,
    SetLifetimes,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import (
    ORDERS,
    START_MS,
    TRIPS,
    GoldenLog,
    Writer,
    add,
    contents,
    rowset,
    states,
)

DAY = 86_400_000
ID = SchemaField(id=1, name="id", type="long", nullable=False)
AT = SchemaField(id=2, name="at", type="date")
ENDS = SchemaField(id=3, name="ends", type="timestamp")
NOTE = SchemaField(id=4, name="note", type="string")
SCHEMA = TableSchema(fields=(ID, AT, ENDS, NOTE))
NOTES = (ColumnLifetime(column=4, ms=DAY),)
SEEN = START_MS + 30 * DAY
"""The time of a reader."""


def dated(number: int, first: int, last: int) -> RowSetEntry:
    """A RowSet whose rows are some days old at the time of the reader."""
    today = SEEN // DAY
    days = ColumnStatistics(min=f"d:{today - first}", max=f"d:{today - last}")
    entry = rowset(number)
    return entry.model_copy(update={"statistics": {**entry.statistics, 2: days}})


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=5)
    commit("create_table", create)
    commit("append", *add(dated(1, 40, 20), dated(2, 15, 1), dated(3, 9, 0)))
    events = Lifetimes(rows_ms=10 * DAY, time_column=2, grace_ms=DAY)
    commit("alter_table", SetLifetimes(table=ORDERS, lifetimes=events))
    times = SEEN - 3 * DAY, SEEN - 2 * DAY
    written = rowset(4).model_copy(update={"written_ms": times})
    commit("append", *add(written))
    arrivals = Lifetimes(rows_ms=DAY, columns=NOTES, since_ms=SEEN - DAY // 2)
    commit("alter_table", SetLifetimes(table=ORDERS, lifetimes=arrivals))
    own = Lifetimes(expires_column=3, time_column=2, columns=NOTES)
    commit("alter_table", SetLifetimes(table=ORDERS, lifetimes=own))
    wider = SchemaField(id=2, name="at", type="timestamp_ntz")
    fields = TableSchema(fields=(ID, wider, ENDS, NOTE))
    commit(
        "alter_table",
        AlterSchema(table=ORDERS, table_schema=fields, schema_id=1, next_column_id=5),
    )
    back = Restore(table=ORDERS, epoch=2, table_schema=SCHEMA)
    commit("restore", DropRowSet(table=ORDERS, rowsets=((0, 3),)), back, *add(dated(3, 9, 0)))
    commit("alter_table", SetLifetimes(table=ORDERS))
    made = {"table": TRIPS, "name": "trips", "lifetimes": events}
    commit("create_table", create.model_copy(update=made))


def add_lifetimes(log: LogReader, snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["lifetimes"] = {
        table.name: table.lifetimes and table.lifetimes.model_dump(mode="json")
        for table in snapshot.tables.values()
    }
    state["shown"] = {
        table.name: {
            str(each.id): [len(view.hidden_in(each)), len(view.masks_of(each))]
            for view in [view_of(table, log.rowsets.read_entries(table).to_list(), SEEN)]
            for each in view.rowsets
        }
        for table in snapshot.tables.values()
    }


def read(store: Any) -> dict[str, Any]:
    return states(store, add=partial(add_lifetimes, LogReader(store)))


LOG = GoldenLog("log-v1-lifetimes", write, read)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_expired_rowsets_are_hidden_and_others_that_may_have_expired_rows_say_so() -> None:
    shown = [each["shown"].get("orders", {}) for each in LOG.expected().values()]
    assert shown[2:] == [
        {"0": [0, 0], "1": [0, 0], "2": [0, 0]},
        {"1": [1, 0], "2": [0, 0]},
        {"1": [1, 0], "2": [0, 0], "3": [1, 0]},
        {"0": [0, 0], "1": [0, 0], "2": [0, 0]},
        {"0": [1, 1], "1": [1, 1], "2": [1, 1], "3": [1, 1]},
        {"0": [1, 1], "1": [1, 1], "2": [1, 1], "3": [1, 1]},
        {"4": [1, 1]},
        {"4": [0, 0]},
        {"4": [0, 0]},
    ]


def test_a_lifetime_stays_when_its_column_widens() -> None:
    found = [each["lifetimes"].get("orders") for each in LOG.expected().values()]
    assert found[6] == found[7] == found[8]
    assert found[9] is None
