"""What the planner says of a stream that writes: its table, its batches, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import CommitSettings
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.spark_ext.planner.write.stream_batches import check_stream

COLUMNS = pa.schema([pa.field("id", pa.int64(), nullable=False)])


def ask(path: Path | str, mode: str = "append", **request: Any) -> dict[str, Any]:
    return check_stream({"path": str(path), "options": {}, "mode": mode, **request})


def test_a_stream_without_a_table_creates_it(tmp_path: Path) -> None:
    for path in (tmp_path / "t", tmp_path / "shop" / "t"):
        assert ask(path) == {"database": None, "table": None, "landed": False}
    assert [*tmp_path.iterdir()] == []


def test_a_batch_has_landed_if_the_table_has_it_or_a_later_one_of_its_stream(
    tmp_path: Path,
) -> None:
    table = colonnade.create(tmp_path / "t", COLUMNS)
    table.append({"id": [1]}, commit=CommitSettings(batch=("stream", 4)))
    landed = {
        (query, number): ask(table.path, query=query, number=number)["landed"]
        for query in ("stream", "other")
        for number in (3, 4, 5)
    }
    assert [key for key, done in landed.items() if done] == [("stream", 3), ("stream", 4)]


def test_a_table_that_was_dropped_or_replaced_is_not_that_of_the_stream(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", COLUMNS)
    known = ask(table.path)
    assert ask(table.path, known=known) == known
    table.drop()
    with pytest.raises(ConflictError, match="was dropped, renamed or replaced while a stream"):
        ask(table.path, known=known)
    colonnade.create(tmp_path / "t", COLUMNS)
    with pytest.raises(ConflictError, match="start the stream again"):
        ask(table.path, known=known)


def test_updates_need_the_primary_key_of_the_table_or_of_the_one_they_create(
    tmp_path: Path,
) -> None:
    colonnade.create(tmp_path / "plain", COLUMNS)
    colonnade.create(tmp_path / "keyed", COLUMNS, primary_key=["id"])
    with pytest.raises(InvalidInputError, match=r"SET TBLPROPERTIES \('primaryKey'"):
        ask(tmp_path / "plain", "update", options={"primaryKey": "id"})
    with pytest.raises(InvalidInputError, match="name its columns in the option primaryKey"):
        ask(tmp_path / "new", "update")
    assert ask(tmp_path / "keyed", "update")["table"]
    assert ask(tmp_path / "new", "update", options={"primaryKey": "id"})["table"] is None
