"""The SQL text of a default says exactly its value, for every type."""

from __future__ import annotations

import re

import pytest

from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.schema import ColumnDefault, SchemaField
from colonnade.tableformat.table.design.default_sql import default_sql
from colonnade.tableformat.table.design.defaults import with_default
from colonnade.tableformat.types.stored_value import stored_value
from tests.default_values import TYPES, values


@pytest.mark.parametrize("name", TYPES)
def test_the_text_of_a_value_is_read_as_the_same_value(name: str) -> None:
    column = SchemaField(name="c", type=name)
    for _, array in values(name):
        stored = encode_value(stored_value(array), name)
        sql = default_sql(name, stored)
        if name in ("date", "timestamp", "timestamp_ntz") and not re.match(r"CAST\('\d{4}-", sql):
            continue  # a year that only Spark reads
        assert with_default(column, sql).default == ColumnDefault(sql=sql, value=stored), sql


def test_the_sql_of_a_default_is_in_the_dialect_of_spark() -> None:
    assert default_sql("timestamp", "i:-1") == "CAST('1969-12-31 23:59:59.999999Z' AS TIMESTAMP)"
    assert default_sql("string", "s:it's a \\") == r"'it\'s a \\'"
    assert default_sql("binary", "b:AP8=") == "X'00FF'"
    assert default_sql("interval month", "i:-14") == "INTERVAL '-1-2' YEAR TO MONTH"
    seconds = "INTERVAL '-1 00:00:01.000000' DAY TO SECOND"
    assert default_sql("interval second", f"i:{-86_401 * 10**6}") == seconds
    assert default_sql("time(0)", f"i:{3600 * 10**9}") == "CAST('01:00:00' AS TIME(0))"
