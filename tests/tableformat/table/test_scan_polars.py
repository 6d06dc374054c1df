"""`colonnade.scan_polars` opens a table and scans it, as `polars.scan_parquet` does with files."""

from __future__ import annotations

from pathlib import Path

import polars
import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import NotFoundError


def test_a_path_becomes_a_lazy_frame_of_one_epoch(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.table({"n": [1, 2, 3], "s": ["a", "b", "c"]}))
    table.delete("n = 3")
    frame = colonnade.scan_polars(tmp_path / "t", ["n"], "s <> 'a'")
    assert isinstance(frame, polars.LazyFrame)
    assert frame.collect().to_dict(as_series=False) == {"n": [2]}
    then = colonnade.scan_polars(tmp_path / "t", epoch=1).filter(polars.col("n") > 1)
    assert then.collect()["s"].to_list() == ["b", "c"]
    with pytest.raises(NotFoundError):
        colonnade.scan_polars(tmp_path / "nothing")
