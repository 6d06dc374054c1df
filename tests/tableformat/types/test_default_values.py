"""Rows that leave a column out get its default, of every type, or are refused."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.schema import ColumnDefault, SchemaField, TableSchema
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.default_values import default_values
from colonnade.tableformat.types.stored_value import stored_value
from tests.default_values import TYPES, values
from tests.strategies import identical

K = SchemaField(id=1, name="k", type="long")


@pytest.mark.parametrize("name", TYPES)
def test_a_column_that_is_left_out_has_its_default_in_each_row(name: str) -> None:
    for _, array in values(name):
        default = ColumnDefault(sql="any", value=encode_value(stored_value(array), name))
        column = SchemaField(id=2, name="c", type=name, nullable=False, default=default)
        rows = conform(pa.table({"k": [1, 2]}), TableSchema(fields=(K, column)))
        assert identical(rows["c"], pa.concat_arrays([array] * 2))


def test_without_a_default_it_is_null() -> None:
    assert default_values(K, 2).null_count == 2


def test_a_value_that_is_given_is_kept_also_if_it_is_null() -> None:
    default = ColumnDefault(sql="7", value="i:7")
    column = SchemaField(id=2, name="c", type="int", default=default)
    data = pa.table({"K": [1, 2], "C": pa.array([None, 3], pa.int32())})
    rows = conform(data, TableSchema(fields=(K, column)))
    assert rows["c"].to_pylist() == [None, 3]


def test_a_default_that_only_spark_evaluates_is_refused_by_name() -> None:
    column = SchemaField(name="c", type="date", default=ColumnDefault(sql="current_date()"))
    with pytest.raises(InvalidInputError, match=r"'c' has the default 'current_date\(\)', which"):
        conform(pa.table({"k": [1]}), TableSchema(fields=(K, column)))


def test_rows_that_must_be_complete_get_no_default() -> None:
    column = SchemaField(name="c", type="int", default=ColumnDefault(sql="7", value="i:7"))
    with pytest.raises(InvalidInputError, match="lacks 'c'"):
        conform(pa.table({"k": [1]}), TableSchema(fields=(K, column)), complete=True)
