"""A z-order keeps rows together that are near in all of its columns, and names a lack of room."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.compaction import zorder
from colonnade.tableformat.compaction.run import run_job
from tests.compaction_tables import add, jobs, new


def test_z_order_keeps_rows_together_that_are_near_in_both_columns() -> None:
    a, b = (
        np.repeat(np.arange(64, dtype=np.uint64), 64),
        np.tile(np.arange(64, dtype=np.uint64), 64),
    )
    values = zorder.interleave([a << np.uint64(6), b << np.uint64(6)])
    order = np.argsort(values)
    for part in np.split(order, 16):
        assert np.ptp(a[part]) == np.ptp(b[part]) == 15


@pytest.mark.usefixtures("small_blocks")
def test_no_room_among_temporary_files_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = new(TableSchema(fields=(SchemaField(name="id", type="long"),)))
    add(table, pa.record_batch({"id": np.random.default_rng(1).permutation(9_000)}))
    _, [job] = jobs(table, "zorder", (1,))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(StoreError, match="rows to sort, could not be kept .*absent.*TMPDIR"):
        run_job(job, table._location.store)
