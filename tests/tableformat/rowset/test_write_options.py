"""Options of a writer: how much waits in memory for the end of its RowSet."""

from __future__ import annotations

import pytest

from colonnade.manifests.limits import LIMITS
from colonnade.tableformat.rowset.write_options import MIB, WriteOptions


@pytest.mark.parametrize(
    ("columns", "times"), [(0, 1), (1, 1), (64, 1), (127, 1), (128, 2), (1000, 15)]
)
def test_a_rowset_of_many_columns_may_stay_one_object_for_longer(columns: int, times: int) -> None:
    assert WriteOptions().packed_limit(columns) == times * 4 * MIB
    assert WriteOptions(packed_bytes=0).packed_limit(columns) == 0


@pytest.mark.parametrize(("columns", "most"), [(1, 16), (16, 16), (17, 15), (256, 1), (1000, 1)])
def test_the_partitions_of_a_task_keep_few_files_open(columns: int, most: int) -> None:
    assert WriteOptions().partition_limit(columns) == most


def test_a_rowset_in_the_log_is_smaller_than_a_packed_one() -> None:
    options = WriteOptions()
    assert LIMITS.inline_bytes < options.inline_bytes < options.packed_bytes
    assert options.packed_bytes < options.target_bytes < options.run_bytes
