"""What several tests of vacuums count."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.stored_tables import CheckpointTables


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that were decoded, each time that one was."""
    found: list[str] = []
    decode = CheckpointTables._decode

    def counted(self: CheckpointTables, key: str, value: object) -> object:
        found.append(key)
        return decode(self, key, value)

    monkeypatch.setattr(CheckpointTables, "_decode", counted)
    return found
