"""A log with range tombstones, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#range-tombstones
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.operations import (
    AddRangeTombstone,
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    CreateTable,
    DropRowSet,
    ForgetRangeTombstones,
    Restore,
)
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import (
    ORDERS,
    GoldenLog,
    Writer,
    add,
    contents,
    delete,
    rowset,
    states,
    vector,
)

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="id", type="long", nullable=False),
        SchemaField(id=2, name="device", type="string", nullable=False),
        SchemaField(id=3, name="at", type="timestamp", nullable=False),
        SchemaField(id=4, name="x", type="double"),
    )
)
FIRST, SECOND, THIRD = 3, 5, 7
"""The epochs of the range tombstones."""


def tombstone(*regions: tuple[Interval, ...]) -> AddRangeTombstone:
    return AddRangeTombstone(table=ORDERS, regions=regions)


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=5,
        sort_key=(SortField(column=2), SortField(column=3, descending=True)),
        partition_fields=(PartitionField(column=1, transform="identity"),),
    )
    commit("create_table", create)
    partition = {"partition_layout_id": 1, "partition": ("i:1",)}
    commit("append", *add(rowset(1, **partition), rowset(2, **partition)))
    device = Interval(column=2, low="s:né", high="s:né")
    before = Interval(column=3, high="i:1700000000000000", high_open=True)
    commit("delete", tombstone((device, before)))
    commit("append", *add(rowset(3, **partition)))
    base = writer.state
    since = Interval(column=1, low="i:1", low_open=True)
    commit("delete", tombstone((since,), (Interval(column=2),)))
    # This compaction was planned before the second tombstone, and has not met it.
    inputs = (CompactionInput(rowset=1, rows=20), CompactionInput(rowset=2, rows=30))
    output = rowset(5, **partition)
    outputs = (CompactionOutput(rowset=output.model_copy(update={"clean_epoch": 2})),)
    commit("compact", Compaction(table=ORDERS, inputs=inputs, outputs=outputs), base=base)
    commit("delete", tombstone((device,)))
    again = (
        entry.model_copy(update={"clean_epoch": 2}) for entry in (rowset(1, **partition), output)
    )
    every = DropRowSet(table=ORDERS, rowsets=((0, 0), (3, 3)))
    commit("overwrite", every, *add(*again))
    commit("append", *add(rowset(6, **partition)))
    forget = ForgetRangeTombstones(table=ORDERS, through=SECOND)
    commit("clean", forget, delete(4, vector(30, 3, data="AAAA")))
    commit("clean", ForgetRangeTombstones(table=ORDERS, through=THIRD), delete(5, vector(31, 2)))
    commit("delete", tombstone((device,)))
    gone = DropRowSet(table=ORDERS, rowsets=((4, 6),))
    back = Restore(table=ORDERS, epoch=FIRST)
    hidden = vector(32, 4, data="AAAA")
    added = AddRowSet(table=ORDERS, rowset=rowset(1, **partition), vector=hidden)
    commit("restore", gone, back, added)


def add_tombstones(log: LogReader, snapshot: Snapshot, state: dict[str, Any]) -> None:
    for table in snapshot.tables.values():
        state["tombstones"] = [each.model_dump(mode="json") for each in table.range_tombstones]
        stored = log.rowsets.read_entries(table).to_list()
        state["clean_epochs"] = {str(each.id): each.clean_epoch for each in stored}
        view = log.rowsets.view(table, None, None)
        state["hidden"] = {str(each.id): len(view.hidden_in(each)) for each in view.rowsets}


def read(store: Any) -> dict[str, Any]:
    return states(store, add=partial(add_tombstones, LogReader(store)))


LOG = GoldenLog("log-v1-range-tombstones", write, read)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_a_rowset_has_met_the_tombstones_up_to_its_clean_epoch() -> None:
    found = [each.get("clean_epochs") for each in LOG.expected().values()]
    assert found[4:10] == [
        {"0": 2, "1": 2, "2": 4},
        {"0": 2, "1": 2, "2": 4},
        {"0": 2, "3": 2},
        {"0": 2, "3": 2},
        {"4": 2, "5": 2},
        {"4": 2, "5": 2, "6": 9},
    ]


def test_a_tombstone_hides_nothing_of_later_rowsets_and_nothing_once_it_is_forgotten() -> None:
    found = [each.get("hidden") for each in LOG.expected().values()]
    assert found[3:6] == [{"0": 1, "1": 1}, {"0": 1, "1": 1, "2": 0}, {"0": 3}]
    assert found[9:] == [
        {"4": 4, "6": 0},
        {"4": 1, "5": 1, "6": 0},
        {"4": 0, "5": 0, "6": 0},
        {"4": 1, "5": 1, "6": 1},
        {"7": 0},
    ]
