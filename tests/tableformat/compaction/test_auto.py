"""A writer compacts after its commit where the table asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pytest

from colonnade.manifests.errors import (
    CorruptionError,
    StoreError,
)
from colonnade.tableformat.compaction import auto
from colonnade.tableformat.jobs import Workplace
from colonnade.tableformat.table.alteration import AlterProperties
from tests.compaction_tables import (
    NUMBERS,
    content,
    filled,
    live,
    new,
    rows,
)


def test_a_writer_compacts_after_its_commit_where_the_table_asks_for_it() -> None:
    table = new(NUMBERS)
    table.alter(AlterProperties(set={"compaction.auto": "true"}))
    for i in range(20):
        epoch = table.append(rows(10 * i, 10))
        assert next(e for e in table.history(2) if e.operation == "append").epoch == epoch
        assert len(live(table)) < 8
    assert [entry.operation for entry in table.history()].count("compact") == 2
    counts = table.delete("id < 195")
    assert counts.epoch == table.epoch - 1, "the statement's own epoch"
    assert content(table).keys() == set(range(195, 200))


def test_a_compaction_after_a_commit_that_fails_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = filled(7)
    table.alter(AlterProperties(set={"compaction.auto": "true"}))

    def failing(*_: Any, **__: Any) -> None:
        raise CorruptionError("one block is damaged")

    monkeypatch.setattr(auto, "compact_here", lambda *_: Workplace(failing, 1))
    epoch = table.append(rows(100, 5))
    assert (table.epoch, len(live(table))) == (epoch, 8)
    assert f"No compaction after epoch {epoch}: one block is damaged" in caplog.text
    monkeypatch.setattr(auto, "AUTO_BYTES", 10)
    table.append(rows(200, 5))
    assert len(caplog.records) == 1, "a group that is too large is left to maintenance"
    monkeypatch.setattr(auto, "execute_plan", lambda *_, **__: 1 // 0)
    monkeypatch.setattr(auto, "AUTO_BYTES", 2**25)
    table.append(rows(300, 5))
    assert "ZeroDivisionError" in caplog.text, "a fault leaves its traceback"


def test_a_table_that_cannot_be_found_after_a_commit_is_a_warning_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The row is committed, so no error may say that it is not."""
    table = filled(1)
    pages = MagicMock()
    pages.get.side_effect = StoreError("the page of the checkpoint cannot be read")
    head = replace(table.snapshot, tables=pages)
    assert auto.compact_after(table._log, head, table.state.id) is head
    assert "the page of the checkpoint cannot be read" in caplog.text
