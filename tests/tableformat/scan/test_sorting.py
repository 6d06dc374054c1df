"""Rows of any number are sorted as by one stable sort, with few of them in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.model.entries import SortField
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.scan import sorting
from colonnade.tableformat.scan.sorting import sorted_rows

KEY = (SortField(column=1, descending=True),)
SCHEMA = pa.schema([("number", pa.int64()), ("key", pa.int32())])
ROWS = 400_000


def batches(size: int = 10_000) -> Iterator[list[pa.Array]]:
    keys = np.random.default_rng(3).integers(0, 1000, ROWS, np.int32)
    for first in range(0, ROWS, size):
        yield [pa.array(np.arange(first, first + size)), pa.array(keys[first : first + size])]


@pytest.mark.slow
@pytest.mark.parametrize("part_bytes", [10**5, MIB, 10**9])
def test_rows_are_those_of_one_stable_sort(
    part_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "PART_BYTES", part_bytes)
    monkeypatch.setattr(sorting, "_PIECE_BYTES", 20_000)
    held, most, numbers = pa.total_allocated_bytes(), 0, []
    for labels, (number, key) in sorted_rows(batches(), KEY, [1], SCHEMA):
        assert len(labels) == len(number) == len(key)
        most = max(most, pa.total_allocated_bytes() - held)
        numbers.append(number.to_numpy().copy())
    keys = np.concatenate([key.to_numpy() for _, key in batches()])
    assert np.array_equal(np.concatenate(numbers), np.argsort(-keys, kind="stable"))
    if part_bytes == MIB:
        assert most < 0.75 * ROWS * 12


def test_nothing_is_read_before_the_first_row_is_asked_for_and_no_rows_are_no_batch() -> None:
    source = batches()
    found = sorted_rows(source, KEY, [1], SCHEMA)
    assert next(source)[0][0].as_py() == 0
    next(found)
    assert next(source, None) is None
    assert list(sorted_rows(iter([]), KEY, [1], SCHEMA)) == []


def test_a_disk_without_the_folder_for_rows_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "PART_BYTES", 10**5)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(StoreError, match="rows to sort, could not be kept .*absent.*TMPDIR"):
        next(sorted_rows(batches(), KEY, [1], SCHEMA))
