"""What the JVM's writer leaves in a store: RowSets, their objects, and nothing after a failure."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.model.schema import assign_ids
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.write.settings import WriteSettings
from tests.spark_ext.java.write_tool import (
    JOB,
    PLACES,
    PREFIX,
    WriteTool,
    one_column,
    read,
    stated,
)
from tests.strategies import identical


@pytest.mark.parametrize("place", PLACES)
def test_entry_bytes_are_what_the_store_holds(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(pa.array([str(i) for i in range(5000)]))
    url = next(folders)
    options = {"block_rows": 999, **PLACES[place]}
    (entry,) = writer.write(url, schema, rows, options=options)
    objects = [path for path in url.rglob("*") if path.is_file()]
    assert entry.place == stated(place)
    assert not [path for path in objects if path.name.startswith(".")]
    if place == "inline":
        assert not objects
    else:
        assert sum(path.stat().st_size for path in objects) == entry.bytes
    assert entry.object.startswith(JOB)


def test_no_rows_make_no_rowset(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = one_column(pa.array([1, 2]))
    url = next(folders)
    assert writer.write(url, schema, rows.slice(0, 0)) == ()
    assert not list(url.iterdir())


def test_rowsets_end_by_rows_and_by_bytes(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 10_000)))
    options = {"block_rows": 1024}
    limited = WriteSettings(max_records=3000)
    by_rows = writer.write(next(folders), schema, rows, settings=limited, options=options)
    assert [entry.rows for entry in by_rows] == [3000, 3000, 3000, 1000]
    assert all(entry.cuts == 1024 for entry in by_rows)
    small = WriteSettings(target_bytes=20_000)
    by_bytes = writer.write(next(folders), schema, rows, settings=small, options=options)
    assert [entry.rows for entry in by_bytes] == [3072, 3072, 3072, 784]


def test_wide_rows_are_cut_before_they_are_many(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = one_column(pa.array([[f"{i}" * 50] * 40 for i in range(600)]))
    url = next(folders)
    (entry,) = writer.write(url, schema, rows, options={"cut_bytes": 300_000})
    assert not isinstance(entry.cuts, int)
    assert len(entry.cuts) > 2
    assert identical(read(url, schema, (entry,)), rows)


def test_a_row_larger_than_the_buffer_is_written(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array(["a", "b" * 300_000, None, "c" * 100_000, "d" * 100_000]))
    url = next(folders)
    assert identical(read(url, schema, writer.write(url, schema, rows)), rows)


def test_more_columns_than_open_files_are_written(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rows = pa.record_batch({f"c{i}": pa.array(range(i, i + 20)) for i in range(300)})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    entries = writer.write(url, schema, rows, options=PLACES["directory"])
    assert entries[0].place == "directory"
    assert identical(read(url, schema, entries), rows)


@pytest.mark.parametrize(("columns", "place"), [(8, "directory"), (300, "packed")])
def test_a_rowset_of_many_small_columns_is_one_object(
    writer: WriteTool, folders: Iterator[Path], columns: int, place: str
) -> None:
    noise, width = np.random.default_rng(1), 2_400_000 // columns
    rows = pa.record_batch({f"c{i}": pa.array([noise.bytes(width)]) for i in range(columns)})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    entries = writer.write(url, schema, rows, options={"packed_bytes": 2**20})
    assert [entry.place for entry in entries] == [place]
    files = [path for path in url.rglob("*") if path.is_file()]
    assert (len(files) == 1) == (place == "packed")
    assert identical(read(url, schema, entries), rows)


@pytest.mark.parametrize("place", PLACES)
def test_an_entry_says_that_its_objects_were_not_synced(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(pa.array(range(5)))
    loose = WriteSettings(sync=False)
    options = PLACES[place]
    (entry,) = writer.write(next(folders), schema, rows, options=options, settings=loose)
    assert entry.unsynced == (place != "inline")
    (entry,) = writer.write(next(folders), schema, rows, options=options)
    assert not entry.unsynced


def test_blocks_that_waited_on_disk_become_the_same_object(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    noise = np.random.default_rng(5)
    rows = pa.record_batch(
        {
            "n": pa.array(noise.integers(0, 2**40, 5000)),
            "t": pa.array([f"text {i}" for i in range(5000)]),
            "s": pa.array([{"a": i, "b": [i] * (i % 3)} for i in range(5000)]),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    found = []
    for packed_bytes in (0, 30_000, 2**30):
        url = next(folders)
        options: dict[str, Any] = {"block_rows": 900, "bloom_columns": frozenset({1, 2})}
        options |= {**PLACES["one object"], "packed_bytes": packed_bytes}
        (entry,) = writer.write(url, schema, rows, options=options)
        [path] = [path for path in url.rglob("*") if path.is_file()]
        found.append((entry.model_copy(update={"object": ""}), path.read_bytes()))
        assert identical(read(url, schema, (entry,)), rows)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("place", ["packed", "directory", "one object"])
def test_an_aborted_task_leaves_nothing(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 10_000)))
    url = next(folders)
    options = {"block_rows": 1000, **PLACES[place]}
    limited = WriteSettings(max_records=3000)
    writer.answer(url, schema, rows, abort=True, options=options, settings=limited)
    assert not [path for path in url.rglob("*") if path.is_file()]
    assert not list(url.glob(f"{PREFIX}*"))


@pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
    reason="needs a mount namespace of its own",
)
def test_a_disk_that_is_full_is_said_and_left_as_it_was(
    class_path: str, tmp_path: Path, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 50_000)))
    url = next(folders)
    small_disk = 'mount -t tmpfs -o size=100k tmpfs "$0" && exec "$@"'
    before = ["unshare", "-rm", "sh", "-c", small_disk, str(url)]
    with WriteTool(class_path, tmp_path, before) as limited:
        for place in ("packed", "directory"):
            error = limited.error(url, schema, rows, options=PLACES[place])
            assert error.startswith(f"[COLONNADE_STORE] {url}/{PREFIX}{JOB}")
            assert error.endswith(
                " could not be written: the disk is full; free some space and run this again."
            )
            inside = Path(f"/proc/{limited.pid}/root{url}")
            assert [path.name for path in inside.rglob("*")] == ["t"]


@pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
    reason="needs a mount namespace of its own",
)
def test_a_full_folder_for_blocks_that_wait_is_named_and_nothing_is_left(
    class_path: str, tmp_path: Path, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 50_000)))
    url, small = next(folders), next(folders)
    small_disk = 'mount -t tmpfs -o size=100k tmpfs "$0" && exec "$@"'
    before = ["unshare", "-rm", "sh", "-c", small_disk, str(small)]
    java = f"-Djava.io.tmpdir={small} -DZstdTempFolder={tmp_path}"  # the library needs room, too
    before += ["env", f"JAVA_TOOL_OPTIONS={java}"]
    with WriteTool(class_path, tmp_path, before) as limited:
        error = limited.error(url, schema, rows, options=PLACES["one object"])
        assert error == (
            "[COLONNADE_STORE] The blocks of a large RowSet could not be kept in the folder"
            f" {small}: the disk is full; free some space and run this again. Another folder can be"
            " named in spark.local.dir."
        )
        assert not list(Path(f"/proc/{limited.pid}/root{small}").iterdir())
    assert not [path for path in url.rglob("*") if path.is_file()]


def test_a_folder_that_is_a_link_is_not_written_through(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array([1, 2]))
    url, elsewhere = next(folders), next(folders)
    (url / "t").symlink_to(elsewhere)
    error = writer.error(url, schema, rows, options=PLACES["packed"])
    with pytest.raises(StoreError) as refused:
        LocalStore(url).create("t/x", sync=False)
    reason = str(refused.value).partition("could not be written")[2]
    assert error.startswith("[COLONNADE_STORE] ")
    assert error.endswith(reason)
    assert not list(elsewhere.iterdir())
