"""Writes that bring columns: one epoch has the columns and the rows, or nothing changes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddColumn, CommentColumn, SchemaField, WidenColumn
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.tableformat.location import locate
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import Alteration, plan_alterations
from colonnade.tableformat.write.column_changes import ColumnChanges
from colonnade.tableformat.write.job import WriteJob, WriteMode, plan_write
from colonnade.tableformat.write.run import write_rows

NEW = AddColumn(SchemaField(name="n", type="string"))
WIDER = WidenColumn("v", "long")


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    made = colonnade.create(
        tmp_path / "t",
        pa.schema([("id", pa.int64()), ("v", pa.int32())]),
        sort_key=["v"],
        constraints={"small": "v < 9000000000"},
    )
    made.append(pa.table({"id": [1], "v": pa.array([10], pa.int32())}))
    return made


def now(table: colonnade.ArrowTable) -> colonnade.ArrowTable:
    return colonnade.open(table.path)


def planned(
    table: colonnade.ArrowTable, *changes: Alteration, mode: WriteMode = "append"
) -> WriteJob:
    location = locate(table.path)
    log = Log(location.store)
    base = log.reader.read_head()
    operations = plan_alterations(location.require(base), changes)
    wanted = ColumnChanges(operations=operations, text="; ".join(map(str, changes)))
    job = plan_write(location, wanted.preview(log, base), mode)
    return WriteJob.model_validate_json(job.with_columns(base, wanted).model_dump_json())


def row(key: int, v: int = 20, n: str = "x") -> pa.RecordBatch:
    number = pa.int32() if v < 2**31 else pa.int64()
    return pa.record_batch({"id": [key], "v": pa.array([v], number), "n": [n]})


def test_columns_and_rows_are_one_epoch(table: colonnade.ArrowTable) -> None:
    job = planned(table, NEW, WIDER)
    entries = write_rows(job, [row(2, v=5_000_000_000)])
    assert now(table).schema.names == ["id", "v"]
    commit_written(job, entries)
    assert commit_written(job, entries).epoch == table.refresh().epoch == 3
    rows = now(table).scan().to_arrow().sort_by("id").to_pylist()
    assert rows == [{"id": 1, "v": 10, "n": None}, {"id": 2, "v": 5_000_000_000, "n": "x"}]
    [last, *_] = now(table).history()
    assert last.operation == "append"
    assert last.parameters["changes"] == "add column n; widen column v to long"
    assert not colonnade.verify(table.path).findings
    assert now(table).scan(epoch=2).to_arrow().schema.names == ["id", "v"]


@pytest.mark.parametrize("mode", ["overwrite", "overwrite_partitions"])
def test_an_overwrite_brings_columns_too(table: colonnade.ArrowTable, mode: WriteMode) -> None:
    job = planned(table, NEW, mode=mode)
    commit_written(job, write_rows(job, [row(2)]))
    assert now(table).scan().to_arrow().to_pylist() == [{"id": 2, "v": 20, "n": "x"}]


def test_a_write_without_rows_brings_its_columns(table: colonnade.ArrowTable) -> None:
    commit_written(planned(table, NEW), ())
    assert now(table).schema.names == ["id", "v", "n"]


def test_rows_that_are_refused_bring_no_column(table: colonnade.ArrowTable) -> None:
    job = planned(table, NEW, WIDER)
    with pytest.raises(InvalidInputError, match="small"):
        write_rows(job, [row(2, v=10_000_000_000)])
    assert table.refresh().epoch == 2


def test_two_writes_that_bring_the_same_columns_both_commit(table: colonnade.ArrowTable) -> None:
    first, second = planned(table, NEW, WIDER), planned(table, NEW, WIDER)
    written = [write_rows(job, [row(key)]) for job, key in ((first, 2), (second, 3))]
    table.append(pa.table({"id": [4], "v": pa.array([40], pa.int32())}))
    for job, entries in zip((first, second), written, strict=True):
        commit_written(job, entries)
    names = [each.operation for each in now(table).history()]
    assert names[:3] == ["append"] * 3
    rows = now(table).scan().to_arrow().sort_by("id").to_pylist()
    assert [(each["id"], each["n"]) for each in rows] == [(1, None), (2, "x"), (3, "x"), (4, None)]
    assert not colonnade.verify(table.path).findings


@pytest.mark.parametrize(
    "other",
    [
        AddColumn(SchemaField(name="n", type="long")),
        AddColumn(SchemaField(name="m", type="string")),
        CommentColumn("id", "of the trip"),
    ],
    ids=str,
)
def test_a_write_is_refused_whose_columns_another_writer_has_changed(
    table: colonnade.ArrowTable, other: Alteration
) -> None:
    job = planned(table, NEW)
    entries = write_rows(job, [row(2)])
    table.alter(other)
    before = table.refresh().epoch
    with pytest.raises(
        ConflictError, match=r"\(add column n\), .* read the table again and repeat"
    ):
        commit_written(job, entries)
    assert table.refresh().epoch == before
    assert now(table).scan(["id"]).to_arrow()["id"].to_pylist() == [1]
