"""Partition values rule RowSets out."""

from __future__ import annotations

import pyarrow as pa

from tests.tableformat.partition.tables import SCHEMA, in_memory


def test_a_bucket_rules_out_rowsets_of_other_buckets() -> None:
    table = in_memory(("bucket(16, id)",))
    table.append(pa.Table.from_pylist([{"id": key} for key in range(400)], SCHEMA))
    for where, most in (("id = 7", 1), ("id IN (7, 8)", 2), ("id = 7 AND id = 8", 0)):
        assert len(table.scan(where=where)._plan.rowsets) == most
    assert len(table.scan(where="id > 7")._plan.rowsets) == 16
