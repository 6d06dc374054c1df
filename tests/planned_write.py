"""A planned write of a table that does not exist yet, and the rows of its tasks."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import colonnade
from colonnade.tableformat.location import locate
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import WriteJob, plan_write

SCHEMA = pa.schema([("id", pa.int64())])


def rows(first: int, count: int = 5000) -> pa.RecordBatch:
    return pa.record_batch({"id": range(first, first + count)}, SCHEMA)


def planned(folder: Path) -> WriteJob:
    """Plan an append to the new table `t` in a folder."""
    location = locate(folder / "t")
    return plan_write(location, None, "append", create=new_table("t", as_table_schema(SCHEMA)))


def ids(path: Path) -> list[int]:
    found: list[int] = colonnade.open(path).scan().to_arrow()["id"].to_pylist()
    return found
