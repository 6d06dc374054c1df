"""Sizes at which a compaction of few rows takes every way."""

from __future__ import annotations

import pytest

from colonnade.tableformat.compaction import concatenate, inputs, zorder


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows are worth copying, and a read-ahead holds little."""
    monkeypatch.setattr(concatenate, "_COPIED_BYTES", 10**9)
    monkeypatch.setattr(inputs, "WINDOW_BYTES", 300)
    monkeypatch.setattr(zorder, "BUCKET_BYTES", 2_000)
