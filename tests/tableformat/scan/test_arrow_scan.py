"""Scans of whole tables: deletion vectors count everywhere, and pruning shows in nothing but time.

The tables have RowSets in all three places, some with deletion vectors of either kind, and the
same rows are found by reading everything and filtering it in plain Python.
"""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import MemoryStore
from tests.examples_of import examples
from tests.faults import FaultyStore
from tests.tableformat.predicate.oracle import TYPES, Oracle, random_predicate, random_value
from tests.tableformat.scan.tables import PLACES, append, delete, new, numbers, reopened


def test_planning_opens_no_data_and_a_read_only_what_the_predicate_leaves() -> None:
    disk = MemoryStore()
    made = new(disk, {"n": "long", "other": "string"})
    for first in (0, 100, 200):
        rows = numbers(first, 100).append_column("other", pa.array(["x"] * 50 + ["y"] * 50))
        append(disk, made, rows, "directory")
    append(disk, made, rows, "packed")
    delete(disk, made, 1, [3], inline=False)

    store = FaultyStore(disk)
    table = reopened(made, store)
    scan = table.scan(["n"], where="n = 130")
    assert {call.name.partition("/")[0] for call in store.trace} == {"_manifest"}
    assert len(scan._plan.rowsets) == 1

    store.trace.clear()
    assert scan.to_arrow()["n"].to_pylist() == [130]
    opened = [call.name.rpartition("/")[2] for call in store.trace]
    (vector,) = [name for name in opened if name.endswith(".dv")]
    assert sorted(opened) == sorted(["rowset.json", "1.idx", "1.col", vector])


def test_a_string_with_a_collation_is_never_pruned_by_its_bytes() -> None:
    store = MemoryStore()
    table = new(store, {"s": "string collate UNICODE_CI", "n": "long"}, ["n"])
    rows = pa.table({"s": ["a", "B", "c"] * 20, "n": range(60)})
    for place in PLACES:
        append(store, table, rows, place)
    for rowset in Log(store).rowsets.read(table._state):
        found = rowset.entry.statistics[table._state.schema.field("s").id]
        assert (found.min, found.max) == (None, None)
    assert table.scan(where="s IS NOT NULL").to_arrow().num_rows == 180


class Tables:
    """Tables of random types and rows; each RowSet has its place and perhaps its vector."""

    def __init__(self, seed: int, is_sorted: bool) -> None:
        rng = self.rng = random.Random(seed)
        self.types = {name: rng.choice(TYPES) for name in "xyz"}
        self.store = MemoryStore()
        self.table = new(self.store, self.types, ["x", "y desc"] if is_sorted else [])
        for rowset in range(rng.randint(1, 4)):
            count = rng.randint(1, 30)
            append(self.store, self.table, self.rows(count), rng.choice([*PLACES]), 5)
            if rng.random() < 0.6:
                gone = rng.sample(range(count), rng.randint(1, count))
                delete(self.store, self.table, rowset, gone, rng.random() < 0.5)

    def rows(self, count: int) -> pa.Table:
        """Few distinct values, so that some blocks and RowSets cannot match."""
        columns = []
        for field in self.table.schema:
            pool = [random_value(self.rng, self.types[field.name]) for _ in range(3)]
            nulls = self.rng.choice((0.0, 0.3, 1.0))
            values = [
                None if self.rng.random() < nulls else self.rng.choice(pool) for _ in range(count)
            ]
            columns.append(pa.array(values, field.type))
        return pa.Table.from_arrays(columns, schema=self.table.schema)


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows as the oracle takes them: dates and times as the integers that are stored."""
    columns = []
    for column in rows.columns:
        kind = column.type
        if pa.types.is_temporal(kind):
            wide = pa.int32() if kind.bit_width == 32 else pa.int64()
            column = pa.chunked_array([chunk.view(wide) for chunk in column.chunks], wide)
        columns.append(column.to_pylist())
    return [
        dict(zip(rows.column_names, values, strict=True)) for values in zip(*columns, strict=True)
    ]


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_a_pruned_scan_equals_a_filter_over_everything(seed: int, is_sorted: bool) -> None:
    tables = Tables(seed, is_sorted)
    oracle = Oracle(tables.types)
    every = plain(tables.table.scan().to_arrow())
    for _ in range(12):
        predicate = random_predicate(tables.rng, tables.types)
        scan = tables.table.scan(where=predicate)
        expected = [row for row in every if oracle.truth(predicate, row) is True]
        assert repr(plain(scan.to_arrow())) == repr(expected), predicate
        assert scan.count() == tables.table.count(predicate) == len(expected), predicate
        most, names = tables.rng.randint(0, 40), tables.rng.sample("xyz", 2)
        chosen = tables.table.scan().filter(predicate).limit(most).select(names)
        first = [{name: row[name] for name in names} for row in expected[:most]]
        assert repr(plain(chosen.to_arrow())) == repr(first), predicate
        assert len(chosen) == len(first), predicate


def test_the_parts_of_a_scan_return_its_rows_also_in_another_process(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.table({"n": range(10)}))
    table.append(pa.table({"n": range(10, 30)}))
    table.delete("n = 3")
    scan = table.scan(where="n < 20")
    parts = pickle.loads(pickle.dumps(scan.parts()))
    assert [each.to_arrow()["n"].to_pylist() for each in parts] == [
        [n for n in range(10) if n != 3],
        [*range(10, 20)],
    ]
    assert [each.count() for each in parts] == [9, 10]
    assert [each.count() for each in table.scan().parts()] == [9, 20]
    assert [each.filter("n > 8").select("n").count() for each in parts] == [1, 10]
    assert [each.limit(2).to_arrow().num_rows for each in parts] == [2, 2]
    again = pickle.loads(pickle.dumps(parts[1].limit(2)))
    assert again.to_arrow()["n"].to_pylist() == [10, 11]
    assert [each.count() for each in scan.limit(12).parts()] == [12]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_rows_have_one_order_whatever_the_number_of_threads(
    tmp_path: Path, threads: int | None
) -> None:
    table = colonnade.create(tmp_path / "t", pa.table({"n": range(300_000)}))
    table.append(pa.table({"n": range(300_000, 400_000)}))
    table.delete("n BETWEEN 5 AND 200000")
    scan = table.scan(where="n <> 7")
    wanted = [*range(5), *range(200_001, 400_000)]
    assert scan.to_arrow(threads)["n"].to_pylist() == wanted
    assert scan.to_reader(threads).read_all()["n"].to_pylist() == wanted
    assert next(scan.to_batches(threads))["n"][0].as_py() == 0


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_a_number_of_threads_that_is_none_is_refused(tmp_path: Path, threads: Any) -> None:
    scan = colonnade.create(tmp_path / "t", pa.table({"n": [1]})).scan()
    with pytest.raises(InvalidInputError, match="threads must be a whole number from 1, or None"):
        scan.to_batches(threads)
