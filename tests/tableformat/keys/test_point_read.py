"""Rows of few keys are read only where the log, indexes and Bloom filters allow them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from colonnade import AlterProperties
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.point_read import OpenRowSets
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import new
from tests.far_store import FarStore

COLUMNS = ("a", "b", "c", "d")
ROWS = 200_000


def keys_of(table: ArrowTable, values: list[int]) -> KeySet:
    key = TableSchema(fields=(table._state.schema.field("id"),))
    return KeySet.of(pa.table({"id": pa.array(values)}), key)


@pytest.fixture(scope="module")
def made() -> ArrowTable:
    """Two RowSets of even and odd ids, which only Bloom filters tell apart."""
    inner = MemoryStore()
    inner.files_are_cheap = False
    fields = [SchemaField(name="id", type="long", nullable=False)]
    fields += [SchemaField(name=name, type="long") for name in COLUMNS]
    schema = assign_ids(TableSchema(fields=tuple(fields)), 1)[0]
    table = new(schema, ["id"], inner)
    table.alter(AlterProperties({"bloom-filter-enabled.column.id": "true"}))
    for first in (0, 1):
        ids = np.arange(first, 2 * ROWS, 2)
        table.append(pa.table({"id": ids, **{name: ids * 7 for name in COLUMNS}}))
    return table


def test_one_key_costs_few_requests_behind_a_network(made: ArrowTable) -> None:
    store = FarStore(made._log.store)
    view = Log(store).rowsets.view(made._state, None, None)
    keys = keys_of(made, [123_457])
    with store.counted() as cost:
        [(numbers, rows)] = OpenRowSets().read(store, view, keys, made._state.schema)
    assert rows.to_pylist() == [{"id": 123_457, **dict.fromkeys(COLUMNS, 7 * 123_457)}]
    assert numbers.tolist() == [0]
    # An end and a filter of each RowSet; then the blocks of the key and of the other columns.
    assert cost.requests <= 4 + 1 + len(COLUMNS)
    assert cost.rounds <= 4
    with store.counted() as cost:
        key = TableSchema(fields=keys.fields)
        assert len(list(OpenRowSets().read(store, view, keys, key))) == 1
    assert cost.requests <= 5


def test_rowsets_that_were_read_before_cost_neither_end_nor_index(made: ArrowTable) -> None:
    store, opened = FarStore(made._log.store), OpenRowSets()
    view = Log(store).rowsets.view(made._state, None, None)
    for value in (123_457, 123_458, 30_000):
        with store.counted() as cost:
            found = opened.read(store, view, keys_of(made, [value]), made._state.schema)
            assert [batch["id"].to_pylist() for _, batch in found] == [[value]]
    assert cost.requests <= 2 + 1 + len(COLUMNS)


def test_a_key_that_no_row_has_costs_no_block(made: ArrowTable) -> None:
    store = FarStore(made._log.store)
    view = Log(store).rowsets.view(made._state, None, None)
    missing = keys_of(made, [2 * ROWS + 10])
    with store.counted() as cost:
        assert not list(OpenRowSets().read(store, view, missing, made._state.schema))
    assert cost.requests == 2


def test_no_more_rowsets_are_read_once_each_key_has_its_row(made: ArrowTable) -> None:
    store = FarStore(made._log.store)
    store.parallel = 1
    view = Log(store).rowsets.view(made._state, None, None)
    newest = f"{view.rowsets[1].entry.object}.rowset"
    keys = KeySet.of(
        pa.table({"id": [1, 2 * ROWS - 1, 1]}),
        TableSchema(fields=(made._state.schema.field("id"),)),
        repeated=True,
    )
    with store.counted() as cost:
        found = list(OpenRowSets().read(store, view, keys, made._state.schema))
    assert {number for numbers, _ in found for number in numbers.tolist()} == {0, 1}
    assert {call.name.rpartition("/")[2] for call in cost.calls} == {newest}
