"""What the JVM's writer leaves in a store that only Hadoop reaches: whole objects, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.tableformat.write.settings import WriteSettings
from tests.spark_ext.java.write_tool import PLACES, WriteTool, one_column, read, stated
from tests.strategies import identical

HADOOP = {
    "fs.shelf.impl": "ShelfFileSystem",
    "fs.lossy.impl": "LossyFileSystem",
    "fs.forbidden.impl": "ForbiddenFileSystem",
}
TEXTS = pa.array([str(i) for i in range(5000)])


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("sync", [True, False])
def test_objects_that_are_written_through_hadoop_have_the_bytes_of_their_entry(
    writer: WriteTool, folders: Iterator[Path], place: str, sync: bool
) -> None:
    schema, rows = one_column(TEXTS)
    folder = next(folders)
    options = {"block_rows": 999, "sync": sync, **PLACES[place]}
    (entry,) = writer.write(f"shelf://{folder}", schema, rows, options=options, hadoop=HADOOP)
    assert entry.place == stated(place)
    assert identical(read(folder, schema, [entry]), rows)
    if place != "inline":
        assert sum(path.stat().st_size for path in files(folder)) == entry.bytes


def test_a_rowset_of_any_size_is_one_object_behind_hadoop(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(TEXTS)
    folder = next(folders)
    options = {"block_rows": 999, "inline_bytes": 0, "packed_bytes": 100}
    (entry,) = writer.write(f"shelf://{folder}", schema, rows, options=options, hadoop=HADOOP)
    assert entry.place == "packed"
    assert len(files(folder)) == 1
    assert identical(read(folder, schema, [entry]), rows)


@pytest.mark.parametrize("place", ["packed", "directory", "one object"])
def test_an_object_whose_bytes_did_not_all_arrive_fails_the_task_and_is_removed(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(TEXTS)
    folder = next(folders)
    said = writer.error(f"lossy://{folder}", schema, rows, options=PLACES[place], hadoop=HADOOP)
    assert said.startswith("[COLONNADE_STORE] lossy://")
    assert "were written." in said
    assert not files(folder)


@pytest.mark.parametrize("place", ["packed", "directory", "one object"])
def test_a_task_that_gives_up_removes_finished_and_unfinished_objects(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(TEXTS)
    folder = next(folders)
    writer.answer(
        f"shelf://{folder}",
        schema,
        rows,
        settings=WriteSettings(max_records=1500),
        options={"block_rows": 500, **PLACES[place]},
        hadoop=HADOOP,
        abort=True,
    )
    assert not files(folder)


def test_a_store_that_hadoop_does_not_know_is_named(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(TEXTS)
    said = writer.error("nowhere://bucket/t", schema, rows, options=PLACES["packed"])
    assert said.startswith("[COLONNADE_STORE] nowhere://bucket/t could not be opened: ")


@pytest.mark.parametrize(
    ("url", "settings", "package"),
    [
        ("s3://bucket/t", {}, "org.apache.hadoop:hadoop-aws:3."),
        ("s3a://bucket/t", {}, "org.apache.hadoop:hadoop-aws:3."),
        ("abfs://box@account.dfs.core.windows.net/t", {}, "org.apache.hadoop:hadoop-azure:3."),
        ("abfss://box@account.dfs.core.windows.net/t", {}, "org.apache.hadoop:hadoop-azure:3."),
        ("gs://bucket/t", {}, "gcs-connector of com.google.cloud.bigdataoss"),
        ("gs://bucket/t", {"fs.gs.impl": "com.google.NoSuchClass"}, "gcs-connector of com.google"),
    ],
)
def test_a_store_whose_connector_spark_lacks_is_refused_with_what_to_add(
    writer: WriteTool,
    folders: Iterator[Path],
    url: str,
    settings: dict[str, str],
    package: str,
) -> None:
    schema, rows = one_column(TEXTS)
    said = writer.error(url, schema, rows, options=PLACES["packed"], hadoop=settings)
    assert said.startswith(f"[COLONNADE_STORE] {url} could not be opened: Spark lacks the conn")
    assert package in said
    assert "Exception" not in said


def test_a_user_without_permission_is_told_so_without_the_words_of_the_namenode(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(TEXTS)
    url = f"forbidden://{next(folders)}"
    said = writer.error(url, schema, rows, options=PLACES["packed"], hadoop=HADOOP)
    assert said.startswith(f"[COLONNADE_STORE] {url}/")
    assert said.endswith(
        " could not be written: permission denied; the user needs permission to write there."
    )
