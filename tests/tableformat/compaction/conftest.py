"""Sizes at which a compaction of few rows takes every way."""

from __future__ import annotations

import pytest

from colonnade.tableformat.compaction import inputs, zorder


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-ahead and a bucket hold little."""
    monkeypatch.setattr(inputs, "WINDOW_BYTES", 300)
    monkeypatch.setattr(zorder, "BUCKET_BYTES", 2_000)
