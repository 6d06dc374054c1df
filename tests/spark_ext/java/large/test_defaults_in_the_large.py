"""Columns with defaults at real sizes, beside nested columns: both readers read the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.table.alteration import AddColumn, SetDefault
from colonnade.tableformat.types.arrow_types import arrow_type
from tests.compaction_tables import new
from tests.default_values import TYPES as EVERY
from tests.default_values import values
from tests.large_changes import content
from tests.large_tables import TableMaker, same_rows
from tests.spark_ext.java.large.test_rewritten_in_the_large import check
from tests.spark_ext.java.read_tool import TYPES, ReadTool

ROWS = 75_000
LATER = 5_000


def added_types(seed: int) -> list[str]:
    """A third of all types; three seeds have each."""
    return [each for each in EVERY if each in TYPES][seed % 3 :: 3]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_both_readers_show_initial_values_beside_written_ones(
    seed: int, tool: ReadTool, tmp_path: Path
) -> None:
    maker = TableMaker(seed, TYPES)
    schema = maker.schema(columns=2)
    while not any(field.children() for field in schema.fields):
        schema = maker.schema(columns=2)
    table = new(schema, (), LocalStore(str(tmp_path)))
    rows, later = maker.rows(schema, ROWS), maker.rows(schema, LATER, first=ROWS)
    for part in parts(rows, 3):
        table.append(part)
    names = added_types(seed)
    found = [[*values(name)] for name in names]
    first, second = ([each[at % len(each)] for each in found] for at in (seed, seed + 1))
    columns = [SchemaField(name=f"d{at}", type=name) for at, name in enumerate(names)]
    changes = zip(columns, first, strict=True)
    table.alter(*(AddColumn(column, default=value) for column, (value, _) in changes))
    wanted = with_values(rows, columns, [array for _, array in first])
    check(tool, tmp_path, table, wanted, "initial values")

    pairs = zip(columns, second, strict=True)
    table.alter(*(SetDefault((column.name,), value) for column, (value, _) in pairs))
    table.append(later)
    more = with_values(later, columns, [array for _, array in second])
    wanted = pa.concat_tables([wanted, more])
    check(tool, tmp_path, table, wanted, "later defaults")

    table._open.log = Log(table._log.store, limits=Limits(in_place_bytes=-(2**20)))
    changed = np.array(wanted["id"]) < 1000
    assert table.update({"d0": "NULL"}, "id < 1000").rowsets_in_place > 0
    at = wanted.schema.get_field_index("d0")
    column = wanted["d0"].combine_chunks()
    blank = column.take(pa.array(np.arange(len(column)), mask=changed))
    wanted = wanted.set_column(at, wanted.schema.field(at), blank)
    assert blank.null_count >= 1000
    check(tool, tmp_path, table, wanted, "a replaced column")

    assert table.delete("id >= 1000 AND id < 3000").rows_deleted == 2000
    ids = np.array(wanted["id"])
    wanted = wanted.filter(pa.array((ids < 1000) | (ids >= 3000)))
    check(tool, tmp_path, table, wanted, "deleted rows")
    table.optimize().option("min-rowsets", 2).executeCompaction()
    order = content(table)["id"].combine_chunks()
    by_id = wanted.sort_by("id")
    places = np.searchsorted(np.array(by_id["id"]), np.array(order))
    check(tool, tmp_path, table, by_id.take(pa.array(places)), "a compaction")
    assert same_rows(content(table).sort_by("id"), by_id)
    assert not table.verify(4).findings


def parts(rows: pa.Table, count: int) -> Iterator[pa.Table]:
    for at in range(count):
        first, end = rows.num_rows * at // count, rows.num_rows * (at + 1) // count
        yield rows.slice(first, end - first)


def with_values(rows: pa.Table, columns: list[SchemaField], arrays: list[pa.Array]) -> pa.Table:
    """The rows with more columns, each with one value in all rows."""
    for column, array in zip(columns, arrays, strict=True):
        field = pa.field(column.name, arrow_type(column))
        rows = rows.append_column(field, pa.repeat(array[0], rows.num_rows))
    return rows
