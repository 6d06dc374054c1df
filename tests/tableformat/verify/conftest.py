"""Places of the data of a table: files of a folder, one file, or the log itself."""

from __future__ import annotations

import pytest

from tests.placed import write_as


@pytest.fixture(params=["directory", "packed", "inline"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    packed = {"directory": 0, "packed": 2**22, "inline": 2**22}[request.param]
    inline = 2**16 if request.param == "inline" else 0
    write_as(monkeypatch, block_rows=100, packed_bytes=packed, inline_bytes=inline)
    return str(request.param)
