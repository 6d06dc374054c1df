"""A writer compacts after its commit where the table asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pyarrow as pa
import pytest

from colonnade.manifests.errors import (
    CorruptionError,
    StoreError,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.compaction import auto, execute, run
from colonnade.tableformat.jobs import JobRunner
from colonnade.tableformat.table.alteration import AlterProperties
from tests.clocked import HOUR_MS, Clocked, moment
from tests.compaction_tables import (
    NUMBERS,
    content,
    filled,
    live,
    new,
    rows,
)

SORTED = TableSchema(
    fields=(
        SchemaField(name="id", type="long", nullable=False),
        SchemaField(name="n", type="long"),
    )
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

    monkeypatch.setattr(run, "compact_here", lambda *_: JobRunner(failing, 1))
    epoch = table.append(rows(100, 5))
    assert (table.epoch, len(live(table))) == (epoch, 8)
    assert f"No compaction after epoch {epoch}: one block is damaged" in caplog.text
    monkeypatch.setattr(auto, "AUTO_BYTES", 10)
    table.append(rows(200, 5))
    assert len(caplog.records) == 1, "a group that is too large is left to maintenance"
    monkeypatch.setattr(execute, "execute_plan", lambda *_, **__: 1 // 0)
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
    head = replace(table._snapshot, tables=pages)
    assert auto.compact_after(table._log, head, table._state.id) is head
    assert "the page of the checkpoint cannot be read" in caplog.text


def test_a_compaction_after_a_commit_leaves_out_the_rows_of_deleted_ranges() -> None:
    table = new(SORTED, ["id"])
    for at in range(6):
        table.append(rows(10 * at, 10))
    table.delete_range("id >= 15 AND id < 35")
    table.alter(AlterProperties(set={"compaction.auto": "true"}))
    while table.history(1)[0].operation != "compact":
        table.append(rows(10 * len(table.history()), 10))
        assert table.epoch < 50
    assert "clean" in [each.operation for each in table.history()]
    assert not content(table).keys() & set(range(15, 35))
    assert sum(each.entry.rows for each in live(table)) == len(content(table))
    epochs = table.epoch
    table.append(rows(1_000, 10))
    assert table.epoch == epochs + 1, "rows that are gone are not named again"


def test_a_compaction_after_a_commit_leaves_out_rows_that_have_expired() -> None:
    schema = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    world = Clocked(schema, {"ttl": "1 hour", "ttl.column": "at", "ttl.grace": "none"})
    table = world.table

    def append(times: list[int]) -> None:
        moments = [moment(each) for each in times]
        table.append(pa.table({"id": range(len(times)), "at": moments}, schema=schema))

    for _ in range(3):
        append([world.now_ms] * 10)
        append([world.now_ms] * 5 + [world.now_ms + 10 * HOUR_MS] * 5)
    world.now_ms += 2 * HOUR_MS
    table.alter(AlterProperties(set={"compaction.auto": "true"}))
    while table.history(1)[0].operation != "compact":
        append([world.now_ms])
        assert table.epoch < 50
    assert [each.operation for each in table.history()].count("expire") == 2
    stored = table._log.rowsets.read(table._state, which="all")
    assert sum(each.entry.rows for each in stored) == table.scan().to_arrow().num_rows
