"""A partitioned table has the rows of one that is not, and reads fewer RowSets."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.alteration import DropColumn, RenameColumn
from tests.tableformat.partition.tables import LAYOUTS, SCHEMA, content, in_memory, rows

CONDITIONS = (
    "id = 3",
    "id IN (1, 2, 77)",
    "id IS NULL",
    "id IS NOT NULL AND region = 'b'",
    "NOT (id = 3)",
    "id <=> NULL OR id = 5",
    "region = 'é' OR id = 4",
    "region IN ('a', 'nothing')",
    "region LIKE 'b%'",
    "price = 1.50 AND id > 3",
    "price IN (1.5, 2.25, NULL)",
    "id NOT IN (1, 2)",
    "ts >= '2026-01-01T12:00:00Z' AND ts < '2026-01-02T00:00:00Z'",
    "ts = '2026-01-01T00:00:00Z'",
    "id = 3.5",
    "id = 99999999999999999999",
)


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.sampled_from((*LAYOUTS, ())))
def test_any_predicate_gives_the_rows_that_an_unpartitioned_table_gives(
    seed: int, first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    order = random.Random(seed)
    table, plain = in_memory(first), in_memory()
    for step in range(4):
        new = rows(order, order.randint(1, 40))
        table.append(new)
        plain.append(new)
        if step == 2:
            table.partition_by(*then)
            assert table.partitioning == then
    for where in CONDITIONS:
        assert content(table, where) == content(plain, where), where


def test_a_column_of_the_layout_cannot_be_dropped_before_the_layout_is_replaced(
    tmp_path: Path,
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, partition_by=["days(ts)", "region"])
    table.append(rows(random.Random(1), 20))
    epoch, before = table.epoch, content(table)
    with pytest.raises(InvalidInputError, match="'ts' cannot be dropped: the table is partitioned"):
        table.alter(DropColumn(("ts",)))
    table.alter(RenameColumn(("region",), "Land"))
    assert table.partitioning == ("days(ts)", "Land")
    table.partition_by("Land")
    table.alter(DropColumn(("ts",)))
    table.append(rows(random.Random(2), 3).rename_columns(["id", "Land", "ts", "price"]).drop("ts"))
    assert len(table.scan(where="Land = 'a' AND id IS NOT NULL").to_arrow().columns) == 3
    table.restore(epoch=epoch)
    assert table.partitioning == ("days(ts)", "region")
    assert content(table) == before


def test_the_columns_of_a_layout_are_indexed_wherever_they_stand(tmp_path: Path) -> None:
    schema = pa.schema([(f"c{i}", pa.int64()) for i in range(40)])
    table = colonnade.create(tmp_path / "t", schema, partition_by=["truncate(10, c39)"])
    table.append(pa.table({f"c{i}": range(100) for i in range(40)}, schema))
    assert len(table.scan(where="c39 = 55")._plan.rowsets) == 1
