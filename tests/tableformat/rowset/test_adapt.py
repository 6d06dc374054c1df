"""One module says what rows hold in a column that is newer or wider than in their RowSet."""

from __future__ import annotations

import datetime as dt
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate, prune
from colonnade.tableformat.rowset import adapt as rule
from colonnade.tableformat.rowset.adapt import absent_statistics, absent_values
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.table.alteration import AddColumn
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.stored_value import stored_value
from tests.default_values import TYPES
from tests.default_values import values as default_values
from tests.strategies import PRIMITIVES, identical
from tests.tableformat.rowset.written import read, write
from tests.widened import CASES, PAIRS, ROWS, widened


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_the_statistics_of_an_absent_column_are_those_of_its_values(kind: str) -> None:
    column = column_of(SchemaField(id=1, name="c", type=kind))
    values = absent_values(column, 5)
    entry, _ = encode_block(values, column)
    found, stated = entry.statistics, absent_statistics(column, 5)
    assert (len(values), values.type) == (5, column.type)
    assert (found.nulls, found.nans, found.low, found.high) == (
        stated.nulls, stated.nans, stated.low, stated.high,
    )  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_the_statistics_of_an_initial_value_are_those_of_its_rows(kind: str) -> None:
    for _, array in default_values(kind):
        initial = encode_value(stored_value(array), kind)
        column = column_of(SchemaField(id=1, name="c", type=kind, initial=initial))
        values = absent_values(column, 5)
        found, stated = encode_block(values, column)[0].statistics, absent_statistics(column, 5)
        assert found == stated, array


def _sevens(column: StoredColumn, rows: int) -> pa.Array:
    return pa.array([7] * rows, column.type)


def _statistics_of_sevens(column: StoredColumn, rows: int) -> Statistics:
    return Statistics(0, 0, 7, 7)


@contextmanager
def absent_means_seven() -> Iterator[None]:
    """Change the rule wherever a module has imported it."""
    rules = {"absent_values": _sevens, "absent_statistics": _statistics_of_sevens}
    patches = [
        patch.object(module, name, new)
        for module in list(sys.modules.values())
        for name, new in rules.items()
        if vars(module).get(name) is getattr(rule, name)
    ]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


@pytest.mark.parametrize("compacted", [False, True])
def test_a_rule_that_is_changed_in_one_module_holds_for_reads_pruning_and_compaction(
    tmp_path: Path, compacted: bool
) -> None:
    table = ArrowTable.create(tmp_path / "t", pa.schema({"a": pa.int64()}))
    for start in (0, 10):
        table.append(pa.table({"a": range(start, start + 10)}))
    table.alter(AddColumn(SchemaField(name="c", type="int")))
    with absent_means_seven():
        if compacted:
            assert table.optimize().option("min-rowsets", 2).executeCompaction().groups
        assert table.scan().to_arrow()["c"].to_pylist() == [7] * 20
        assert table.scan(where="c = 7").to_arrow().num_rows == 20
        assert table.scan(where="c IS NULL OR c = 8").to_arrow().num_rows == 0
        assert table.delete("c = 7 AND a < 5").rows_deleted == 5


def conditions(rows: pa.RecordBatch, new: str) -> Iterator[str]:
    """Conditions about values that occur, and about values beside them."""
    values = [value for value in rows["a"].to_pylist() if value is not None and value == value]
    for value in random.Random(1).sample(values, 2):
        literal, other = f"'{value}'", f"'{value}1'"
        if isinstance(value, dt.datetime):
            literal = f"TIMESTAMP_NTZ'{value.isoformat(' ')}'"
            other = f"TIMESTAMP_NTZ'{value.replace(hour=1).isoformat(' ')}'"
        elif not isinstance(value, str):
            if Decimal(value).is_infinite():
                continue
            literal = format(Decimal(str(value)).normalize(), "f")
            other = f"{literal}1"
        yield from (f"a = {literal}", f"a < {literal}", f"a IN ({literal}, {other})")
    yield from ("a IS NULL", "a IS NOT NULL")
    if new == "double":
        yield "a = CAST('NaN' AS DOUBLE)"


@pytest.mark.parametrize(("old", "new"), CASES)
def test_a_rowset_of_a_narrower_type_is_read_and_pruned_in_the_wider_one(
    old: str, new: str
) -> None:
    case, store = widened(old, new), MemoryStore()
    options: dict[str, Any] = {"block_rows": ROWS, "bloom_columns": frozenset({1})}
    [entry] = write(store, case.before, case.stored, **options)
    whole = read(store, case.after, (entry,)).combine_chunks()
    assert identical(whole.to_batches()[0].column(0), case.wanted["a"])
    pruned = 0
    for condition in conditions(case.wanted, new):
        predicate = bind(parse_predicate(condition), case.after)
        may_match = partial(prune, predicate)
        found = read(
            store, case.after, (entry,), may_match=may_match, pruning_columns=predicate.column_ids
        )
        matching = case.wanted.filter(evaluate(predicate, case.wanted).fill_null(False))
        assert set(matching["row"].to_pylist()) <= set(found["row"].to_pylist()), condition
        pruned += found.num_rows < case.wanted.num_rows
        logged = bounds_table([entry.statistics], [entry.rows], case.after, str)
        assert may_match(logged).item() or not matching.num_rows, condition
    assert pruned > 2


@pytest.mark.slow
def test_the_rowsets_of_these_tests_have_every_encoding() -> None:
    found = {}
    for old in dict(PAIRS):
        case, store = widened(old, dict(PAIRS)[old]), MemoryStore()
        [entry] = write(store, case.before, case.stored, block_rows=ROWS)
        column = column_of(case.before.fields[0])
        [blocks] = ColumnSegments(store, "t/", as_written(entry)).open([column])
        assert blocks is not None
        found[old] = {block.encoding for block in blocks.index.entries}
    every = {"plain", "dictionary", "narrowed", "constant", "null"}
    assert found["int"] == found["long"] == every
    assert found["varchar(9)"] == every - {"narrowed", "plain"} | {"lengths"}
