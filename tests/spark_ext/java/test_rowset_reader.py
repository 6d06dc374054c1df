"""What the Python reader makes of stored bytes, the Java reader makes of them too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manifests.entries import RowSetEntry
from manifests.schema import TableSchema
from manifests.store import LocalStore
from tableformat.deletion_vector import DeletionVector, write_deletion_vector
from tableformat.rowset_writer import RowSetWriter, WriteOptions
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.spec.test_golden_rowset import (
    GOLDEN,
    PLACES,
    SCHEMA,
    entry_of,
    golden_rows,
)
from tests.strategies import batches, schemas

JOB = "0123456789abcdef"


def write(
    store: LocalStore, schema: TableSchema, rows: pa.RecordBatch, **options: Any
) -> tuple[RowSetEntry, ...]:
    with RowSetWriter(store, "", JOB, schema, (), WriteOptions(**options)) as writer:
        writer.write(rows)
        return writer.close()


@pytest.mark.parametrize("place", PLACES)
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_every_schema_comes_back_from_every_place(
    place: str, tool: ReadTool, tmp_path: Path, data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    rows = data.draw(batches(schema, min_rows=1, max_rows=60))
    size = data.draw(st.sampled_from((1, 7, 65_536)))
    wide = data.draw(st.sampled_from((16, 200, 8 * 2**20)))
    options = {"inline_bytes": 0, **PLACES[place], "block_rows": size, "block_bytes": wide}
    store = LocalStore(str(tmp_path))
    entries = write(store, schema, rows, **options)
    gone = data.draw(st.sets(st.integers(0, rows.num_rows - 1)))
    vectors = {0: write_deletion_vector(store, "", JOB, DeletionVector.of(gone))} if gone else {}
    found = tool.rows(store.url, plan_of(schema, entries, vectors), spark_schema(schema))
    expected = expected_rows(rows, schema)
    assert found == [row for at, row in enumerate(expected) if at not in gone]


@pytest.mark.parametrize("place", PLACES)
def test_an_earlier_rowset_is_read(place: str, tool: ReadTool) -> None:
    plan = plan_of(SCHEMA, [entry_of(place)])
    found = tool.rows(str(GOLDEN), plan, spark_schema(SCHEMA))
    assert found == expected_rows(golden_rows(), SCHEMA)
