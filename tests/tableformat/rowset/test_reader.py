"""Readers return the rows that were asked for, and read no other ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.reader import RowSetReader
from tests.tableformat.rowset.written import one_column, read, write


def test_ranges_between_cuts_read_only_those_rows() -> None:
    schema, rows = one_column(pa.array(range(100)))
    store = MemoryStore()
    (entry,) = write(store, schema, rows, block_rows=10)
    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    found = [(first, b["a"].to_pylist()) for first, b in reader.read(schema.fields, [(20, 40)])]
    assert found == [(20, list(range(20, 30))), (30, list(range(30, 40)))]
    for wrong in ([(20, 41)], [(0, 101)], [(50, 60), (0, 10)]):
        with pytest.raises(InvalidInputError, match="Row ranges"):
            list(reader.read(schema.fields, wrong))


def test_blocks_are_pruned_by_bounds_that_join_the_parts_of_a_cut() -> None:
    values = [None if i % 10 == 3 else i for i in range(1000)]
    schema, rows = one_column(pa.array(values))
    store = MemoryStore()
    (entry,) = write(store, schema, rows, block_rows=100, block_bytes=200, inline_bytes=0)
    seen: list[BoundsTable] = []

    def may_match(bounds: BoundsTable) -> np.ndarray[Any, np.dtype[np.bool_]]:
        seen.append(bounds)
        return np.asarray(bounds.columns[1].high, np.int64) > 850

    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    firsts = [
        first
        for first, _ in reader.read(schema.fields, [(300, 1000)], may_match, pruning_columns=(1,))
    ]
    assert firsts == [800, 900]
    (bounds,) = seen
    assert bounds.rows.tolist() == [100] * 7
    assert bounds.columns[1].low.tolist() == list(range(300, 1000, 100))
    assert bounds.columns[1].high.tolist() == list(range(399, 1000, 100))
    assert bounds.columns[1].nulls.tolist() == [10] * 7
    assert bounds.columns[1].known.all()


def test_a_column_added_later_is_null_and_no_columns_still_count_rows() -> None:
    schema, rows = one_column(pa.array(range(25)))
    store = MemoryStore()
    (entry,) = write(store, schema, rows, block_rows=10)
    later = TableSchema(fields=(*schema.fields, SchemaField(id=9, name="b", type="string")))
    assert read(store, later, (entry,))["b"].null_count == 25
    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    assert [(f, b.num_rows) for f, b in reader.read([])] == [(0, 10), (10, 10), (20, 5)]

    def all_null(bounds: BoundsTable) -> np.ndarray[Any, np.dtype[np.bool_]]:
        assert bounds.columns[9].nulls.tolist() == [10, 10, 5]
        return np.zeros(3, np.bool_)

    assert not list(reader.read(later.fields, may_match=all_null, pruning_columns=[9]))
