"""Which RowSets have the order of a scan, and the least key that the log knows of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from colonnade import SetSortKey
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet, as_written
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.scan.order import RowOrder, first_key, key_order, overlapping
from colonnade.tableformat.scan.plan import ScanPlan
from tests.compaction_tables import NUMBERS, live, new, rows
from tests.tableformat.scan.tables import new as table_of


def test_rowsets_of_another_sort_key_are_named() -> None:
    table = new(NUMBERS, ["n", "id"])
    n, number = (table._state.schema.field(name).id for name in ("n", "id"))
    table.append(rows(0, 10))
    plan = table.scan(order="key")._plan
    assert plan.order == RowOrder(fields=(SortField(column=n), SortField(column=number)))
    table.alter(SetSortKey(("n",)))
    table.append(rows(10, 10))
    assert key_order(table._state, live(table)).unsorted == ()
    table.alter(SetSortKey(("id desc", "n")))
    table.append(rows(20, 10))
    order = key_order(table._state, live(table))
    assert order.fields == (SortField(column=number, descending=True), SortField(column=n))
    assert order.unsorted == (0, 1)


def test_a_plan_with_an_order_survives_json_with_the_bounds_of_the_first_key_alone() -> None:
    table = new(NUMBERS, ["n", "id"])
    table.append(rows(0, 10))
    plan = table.scan(["id"], order="key")._plan
    [scan] = plan.rowsets
    assert set(scan.rowset.entry.statistics) == {table._state.schema.field("n").id}
    assert ScanPlan.from_json(plan.to_json()) == plan
    assert "order" not in table.scan()._plan.to_json()


NAN = float("nan")


@pytest.mark.parametrize(
    ("type_name", "values", "first", "first_descending"),
    [
        ("long", [3, 1, 2], 1, 3),
        ("long", [3, None, 2], None, 3),
        ("long", [None, None], None, None),
        ("double", [1.5, NAN], 1.5, NAN),
        ("double", [NAN, NAN], NAN, NAN),
        ("double", [None, NAN], None, NAN),
        ("string", ["b", "a" * 50], "a" * 32, "b"),
        ("boolean", [True, True], True, True),
    ],
)
def test_no_row_sorts_before_the_first_key_that_the_log_knows(
    type_name: str, values: Sequence[Any], first: Any, first_descending: Any
) -> None:
    table = table_of(MemoryStore(), {"k": type_name})
    table.append(pa.table({"k": pa.array(values, table.schema.field("k").type)}))
    [rowset] = live(table)
    column = table._state.schema.field("k")
    for descending, wanted in ((False, first), (True, first_descending)):
        found = first_key(rowset, column, descending=descending)
        assert found is not None
        assert repr(found.to_pylist()) == repr([wanted])


def test_the_first_key_of_a_column_that_has_widened_has_its_wider_type() -> None:
    table = table_of(MemoryStore(), {"k": "int"})
    table.append(pa.table({"k": pa.array([7, 9], pa.int32())}))
    [rowset] = live(table)
    wide = SchemaField(id=1, name="k", type="decimal(12,2)")
    found = first_key(rowset, wide, descending=False)
    assert found is not None
    assert found.type == pa.decimal128(12, 2)
    assert str(found[0]) == "7.00"


def test_without_statistics_no_first_key_is_known() -> None:
    table = table_of(MemoryStore(), {"k": "long"})
    table.append(pa.table({"k": [1]}))
    [rowset] = live(table)
    bare: LiveRowSet = as_written(rowset.entry.model_copy(update={"statistics": {}}))
    column = table._state.schema.field("k")
    assert first_key(bare, column, descending=False) is None
    unknown = {column.id: rowset.entry.statistics[column.id].model_copy(update={"max": None})}
    entry = rowset.entry.model_copy(update={"statistics": unknown})
    assert first_key(replace(rowset, entry=entry), column, descending=True) is None


@pytest.mark.parametrize(
    ("key", "groups"), [("n", [[1], [2, 4], [0, 3]]), ("n desc", [[0, 3], [2, 4], [1]])]
)
def test_rowsets_that_share_a_key_or_a_range_are_one_group(
    key: str, groups: list[list[int]]
) -> None:
    table = table_of(MemoryStore(), {"n": "long"}, [key])
    for part in ([20, 25], [None, 3], [10, 12], [21, 22], [9, 10]):
        table.append(pa.table({"n": pa.array(part, pa.int64())}))
    order = key_order(table._state, live(table))
    found = overlapping(live(table), order, table._state.schema)
    assert found == groups
    unknown = [as_written(live(table)[0].entry.model_copy(update={"statistics": {}}))]
    assert overlapping([*live(table), *unknown], order, table._state.schema) == [[*range(6)]]
    assert overlapping([], order, table._state.schema) == [[]]
