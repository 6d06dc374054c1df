"""One module says what rows hold in a column that is newer than their RowSet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset import adapt as rule
from colonnade.tableformat.rowset.adapt import absent_statistics, absent_values
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.table.alteration import AddColumn
from colonnade.tableformat.table.table import ArrowTable
from tests.strategies import PRIMITIVES


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
