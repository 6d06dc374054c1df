"""Places of the data of a table: files of a folder, one file, or the log itself."""

from __future__ import annotations

from functools import partial

import pytest

from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.write import job as write_job


@pytest.fixture(params=["directory", "packed", "inline"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    packed = {"directory": 0, "packed": 2**22, "inline": 2**22}[request.param]
    inline = 2**16 if request.param == "inline" else 0
    options = partial(WriteOptions, block_rows=100, packed_bytes=packed, inline_bytes=inline)
    monkeypatch.setattr(write_job, "WriteOptions", options)
    return str(request.param)
