"""The Java reader reads blocks of earlier forms of a column as the Python reader does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.nested_changes import CASES, ROWS, changed
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.tableformat.rowset.test_nested_forms import DATE, X, Y, structs
from tests.tableformat.rowset.written import write


@pytest.mark.parametrize("name", CASES)
def test_a_block_of_every_earlier_form_is_read_as_the_table_has_it_now(
    tool: ReadTool, tmp_path: Path, name: str
) -> None:
    case, store = changed(name), LocalStore(str(tmp_path))
    entries = write(store, case.before, case.stored, block_rows=ROWS)
    plan = plan_of(case.after, entries, prefix="t/")
    found = tool.rows(store.url, plan, spark_schema(case.after))
    assert found == expected_rows(case.wanted, case.after)


def test_a_column_of_another_type_under_the_same_id_is_reported_as_damage(
    tool: ReadTool, tmp_path: Path
) -> None:
    store, before = LocalStore(str(tmp_path)), TableSchema(fields=(structs(DATE, Y),))
    value: list[Any] = [{"x": None, "y": "a"}]
    rows = pa.record_batch([pa.array(value, arrow_schema(before)[0].type)], ["c"])
    entries = write(store, before, rows)
    after = TableSchema(fields=(structs(X, Y),))
    answer = tool.answer(store.url, plan_of(after, entries, prefix="t/"), spark_schema(after))
    assert "Column 'c'" in answer["error"], answer
    assert "its stream holds" in answer["error"]
