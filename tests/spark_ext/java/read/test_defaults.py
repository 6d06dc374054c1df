"""The Java reader shows and prunes the initial value of a column that a RowSet lacks."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.predicate import parse_predicate, to_json
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.stored_value import stored_value
from tests.default_values import TYPES as EVERY
from tests.default_values import values
from tests.spark_ext.java.read_tool import (
    TYPES,
    ReadTool,
    expected_rows,
    plan_of,
    spark_schema,
)
from tests.tableformat.rowset.written import write

ROW = SchemaField(id=1, name="row", type="int")
ROWS = pa.table({"row": pa.array(range(300), pa.int32())}).to_batches()[0]


def with_column(name: str, array: pa.Array) -> TableSchema:
    """The columns after `c` was added with a value, at the first place."""
    initial = encode_value(stored_value(array), name)
    column = SchemaField(id=2, name="c", type=name, nullable=False, initial=initial)
    return TableSchema(fields=(column, ROW))


@pytest.mark.parametrize("name", [each for each in TYPES if each in EVERY])
def test_rows_from_before_have_the_initial_value(tool: ReadTool, tmp_path: Path, name: str) -> None:
    store = LocalStore(str(tmp_path))
    [entry] = write(store, TableSchema(fields=(ROW,)), ROWS, block_rows=100)
    for _, array in values(name):
        schema = with_column(name, array)
        plan = plan_of(schema, [entry], prefix="t/", ranges=((0, 100), (200, 300)))
        kept = pa.concat_arrays([ROWS["row"].slice(0, 100), ROWS["row"].slice(200)])
        repeated = pa.concat_arrays([array] * 200)
        wanted = pa.RecordBatch.from_arrays([repeated, kept], schema=arrow_schema(schema))
        found = tool.rows(store.url, plan, spark_schema(schema))
        assert found == expected_rows(wanted, schema), array


@pytest.mark.parametrize(
    ("name", "value", "met", "unmet"),
    [
        ("int", 5, ("c = 5", "c IN (4, 5)", "c > 4"), ("c = 6", "c IS NULL", "c < 5")),
        ("string", "here", ("c = 'here'", "c LIKE 'he%'"), ("c = 'there'", "c LIKE 'th%'")),
        ("double", float("nan"), ("c = CAST('NaN' AS DOUBLE)", "c > 1"), ("c = 1", "c IS NULL")),
        ("binary", b"\x00\xff", ("c = X'00FF'",), ("c = X'00'", "c IS NULL")),
        ("string collate UNICODE_CI", "a", ("c IS NOT NULL",), ("c IS NULL",)),
    ],
)
def test_stretches_are_pruned_by_the_initial_value(
    tool: ReadTool,
    tmp_path: Path,
    name: str,
    value: object,
    met: tuple[str, ...],
    unmet: tuple[str, ...],
) -> None:
    store = LocalStore(str(tmp_path))
    [entry] = write(store, TableSchema(fields=(ROW,)), ROWS, block_rows=100)
    column = SchemaField(name="c", type=name)
    array = pa.array([value], arrow_schema(TableSchema(fields=(column,))).field(0).type)
    schema = with_column(name, array)
    for text, rows in (*((each, 300) for each in met), *((each, 0) for each in unmet)):
        predicate = to_json(parse_predicate(text))
        plan = plan_of(schema, [entry], prefix="t/", predicate=predicate)
        assert len(tool.rows(store.url, plan, spark_schema(schema))) == rows, text


def test_a_value_that_the_column_cannot_have_is_an_error_that_names_it(
    tool: ReadTool, tmp_path: Path
) -> None:
    store = LocalStore(str(tmp_path))
    [entry] = write(store, TableSchema(fields=(ROW,)), ROWS)
    damaged = SchemaField(id=2, name="c", type="int", initial="s:text")
    schema = TableSchema(fields=(damaged, ROW))
    answer = tool.answer(store.url, plan_of(schema, [entry], prefix="t/"), spark_schema(schema))
    assert "The initial value of column 'c' is damaged" in str(answer)
