"""Tables whose RowSets are directories."""

from __future__ import annotations

import pytest

from tests.placed import write_as


@pytest.fixture
def directories(monkeypatch: pytest.MonkeyPatch) -> None:
    """RowSets are directories with cuts every 100 rows."""
    write_as(monkeypatch, block_rows=100, packed_bytes=0, inline_bytes=0)
