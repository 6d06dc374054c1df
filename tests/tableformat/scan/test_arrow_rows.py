"""Rows in the forms that other libraries take, each read anew."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.scan.arrow_rows import ArrowRows

SCHEMA = pa.schema([("k", pa.int64()), ("d", pa.date32())])


class Counted(ArrowRows):
    """Two batches, and how often they were read."""

    def __init__(self, *days: int) -> None:
        self.days, self.reads = days, 0

    @property
    def schema(self) -> pa.Schema:
        return SCHEMA

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        self.reads += 1
        for at, day in enumerate(self.days):
            yield pa.record_batch([pa.array([at]), pa.array([day], pa.date32())], schema=SCHEMA)

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_batches(self.to_batches(), self.schema)


def test_each_form_has_all_rows_and_reads_them_again() -> None:
    rows = Counted(0, 1)
    expected = rows.to_arrow()
    assert rows.to_reader().read_all() == expected
    assert pa.table(rows) == expected
    assert rows.to_pandas()["k"].tolist() == [0, 1]
    assert rows.to_pylist() == list(rows) == expected.to_pylist()
    assert rows.reads == 6


def test_a_value_that_python_cannot_hold_is_refused_with_its_column() -> None:
    with pytest.raises(InvalidInputError, match="'d' has a value that Python cannot hold"):
        Counted(2**30).to_pylist()
