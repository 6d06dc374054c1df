"""Tables whose RowSets are directories."""

from __future__ import annotations

from functools import partial

import pytest

from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.write import job as write_job


@pytest.fixture
def directories(monkeypatch: pytest.MonkeyPatch) -> None:
    """RowSets are directories with cuts every 100 rows."""
    options = partial(WriteOptions, block_rows=100, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)
