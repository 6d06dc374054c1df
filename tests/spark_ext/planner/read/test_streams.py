"""The planner describes a stream, and plans triggers of it for as long as the stream runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade import NotFoundError
from colonnade.spark_ext.planner.messages.streams import (
    LatestOffset,
    LoadedStream,
    LoadStream,
    PlanStream,
)
from colonnade.spark_ext.planner.read import streams
from colonnade.spark_ext.planner.read.streams import latest_offset, load_stream, plan_stream
from colonnade.spark_ext.planner.state.snapshots import Snapshots
from colonnade.tableformat.streams.source import TableStream


def loaded(path: str, **options: str) -> LoadedStream:
    return load_stream.run(LoadStream(path=path, options=options))


def trigger(stream: LoadedStream, start: str | None = None) -> tuple[str, int]:
    """Where a trigger ends, and how many rows it reads."""
    view, asked = stream.view, stream.stream
    question = LatestOffset(view=view, stream=asked, start=start, limits=asked.limits, last=None)
    end = latest_offset.run(question).offset
    plan = PlanStream(
        view=view, stream=asked, start=start, end=end, parallelism=2, checkpoint="checkpoint"
    )
    return end, plan_stream.run(plan).rows


def test_a_stream_runs_on_when_the_epoch_that_it_was_loaded_at_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planner that was started again, or has read many states since, has forgotten it."""
    table = colonnade.create(tmp_path / "t", {"k": "long"})
    table.append([{"k": 1}])
    stream = loaded(table.path)
    end, rows = trigger(stream)
    assert rows == 1
    for hours in ("800", "4000"):  # makes half of the time of a lease pass
        table.append([{"k": 2}])
        table.alter(colonnade.AlterProperties({"retention.hours": hours}))
        end, rows = trigger(stream, end)
        assert rows == 1
    colonnade.open(table.path).append([{"k": 7}])
    colonnade.open(table.path).append([{"k": 8}])
    colonnade.open(table.path).vacuum(retention_hours=0, force=True)
    with pytest.raises(NotFoundError, match="removed"):
        table._log.reader.read_at(stream.view.epoch)
    monkeypatch.setattr(streams, "SNAPSHOTS", Snapshots())
    assert trigger(stream, end)[1] == 2


def test_the_log_is_read_once_for_a_trigger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark asks twice: where a trigger ends, and what it reads."""
    table = colonnade.create(tmp_path / "t", {"k": "long"})
    table.append([{"k": 1}])
    stream = loaded(table.path)
    end, _ = trigger(stream)
    for i in range(3):
        table.append([{"k": i}])
    calls = list[int]()
    pieces = TableStream.pieces

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return pieces(*arguments)

    monkeypatch.setattr(TableStream, "pieces", counted)
    question = LatestOffset(
        view=stream.view, stream=stream.stream, start=end, limits=stream.stream.limits, last=None
    )
    found = latest_offset.run(question).offset
    plan = PlanStream(
        view=stream.view, stream=stream.stream, start=end, end=found, parallelism=2, checkpoint="c"
    )
    planned = plan_stream.run(plan)
    assert planned.rows == 3
    assert len(calls) == 1
    assert plan_stream.run(plan) == planned  # as a planner does that has not found it
    assert len(calls) == 2
    for _ in range(20):
        latest_offset.run(question.model_copy(update={"start": None}))
    assert len(streams._FOUND) <= streams._MOST_FOUND


def test_a_trigger_begins_with_the_state_that_the_one_before_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while it reads the rows that the table had."""
    table = colonnade.create(tmp_path / "t", {"k": "long"})
    for i in range(3):
        table.append([{"k": i}])
    stream = loaded(table.path, maxFilesPerTrigger="2")
    end, rows = trigger(stream)
    assert rows == 2
    monkeypatch.delattr("colonnade.manifests.reading.reader.LogReader.read_at")
    end, rows = trigger(stream, end)
    assert rows == 1
    for i in range(3):
        table.append([{"k": i}])
        end, rows = trigger(stream, end)
        assert rows == 1


def test_a_stream_whose_table_is_dropped_says_so(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", {"k": "long"})
    table.append([{"k": 1}])
    stream = loaded(table.path)
    end, _ = trigger(stream)
    colonnade.open_database(tmp_path / "db").drop_table("t")
    with pytest.raises(NotFoundError, match="'t' was dropped while a stream read it"):
        trigger(stream, end)
