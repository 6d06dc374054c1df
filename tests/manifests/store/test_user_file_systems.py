"""A path in a file system of fsspec that a caller has in hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.fs
import pytest
from fsspec.implementations.dirfs import DirFileSystem

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import LocalStore, StoreAddress, open_store
from colonnade.manifests.store.cache.store import CachedStore
from colonnade.manifests.store.user_file_systems import url_in
from tests.manifests.store.fsspec_files.given import LIBRARIES
from tests.setup.minio import Minio

ROWS = pa.table({"id": [1, 2, 3]})
MEMORY = fsspec.filesystem("memory")


@pytest.mark.parametrize(
    ("files", "path", "url"),
    [
        (MEMORY, "/lake/t", "memory:///lake/t"),
        (MEMORY, "memory://lake/t/", "memory:///lake/t"),
        (DirFileSystem("/x", MEMORY), "lake/t", "dir://lake/t"),
        (LIBRARIES["s3fs"].make("http://none"), "lake/a b%20/ü", "s3://lake/a b%20/ü"),
        (LIBRARIES["s3fs"].make("http://none"), "s3a://lake/t", "s3a://lake/t"),
        (LIBRARIES["gcsfs"].make("http://none"), "gcs://lake/t", "gcs://lake/t"),
        (LIBRARIES["adlfs"].make("http://none"), "lake/t", "abfs://lake/t"),
    ],
)
def test_a_path_in_a_file_system_has_a_url(files: Any, path: str, url: str) -> None:
    assert url_in(files, path) == url
    assert StoreAddress.of(path, filesystem=files).url == url
    assert StoreAddress.of(path, filesystem=files) == StoreAddress.of(path, filesystem=files)


@pytest.mark.parametrize(
    ("files", "path", "sentence"),
    [
        (pa.fs.LocalFileSystem(), "lake", "must be a file system of fsspec, such as s3fs.S3File"),
        ("s3", "lake", "not of type builtins.str"),
        (MEMORY, "s3://lake/t", "s3: is no scheme of the given file system MemoryFileSystem"),
        (MEMORY, "/lake/../t?x", "cannot be the place of a database"),
        (MEMORY, "/lake//t", "an empty part"),
        (MEMORY, "/", "cannot be the place of a database"),
        (MEMORY, "/lake/t?a=b", "cannot be the place of a database"),
        (MEMORY, "/lake/a\nb", "a control character"),
    ],
)
def test_a_path_or_a_file_system_that_cannot_work_is_refused(
    files: Any, path: str, sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        colonnade.open(path, filesystem=files)


def test_options_beside_a_file_system_are_refused_but_for_the_cache(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"has its own options; leave .*\['key'\] out") as e:
        StoreAddress.of("/lake", {"key": "canary"}, filesystem=MEMORY)
    assert "canary" not in e.value.message
    address = StoreAddress.of("/lake", {"cache": str(tmp_path)}, filesystem=MEMORY)
    assert isinstance(open_store(address), CachedStore)
    with pytest.raises(InvalidInputError, match="has its storage options already"):
        StoreAddress.of(address, filesystem=MEMORY)


def test_the_file_system_of_this_machine_is_local_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own exclusive create looks first and writes then."""
    local = fsspec.filesystem("file")
    assert isinstance(open_store(StoreAddress.of(str(tmp_path), filesystem=local)), LocalStore)
    monkeypatch.chdir(tmp_path)
    colonnade.create("t", ROWS.schema, filesystem=local).append(ROWS)
    assert colonnade.open(tmp_path / "t").scan().to_arrow() == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_and_databases_are_made_and_used_through_a_file_system(
    library: str, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue(LIBRARIES[library].server)
    files = LIBRARIES[library].make(server.url)
    bucket = server.new_bucket()
    lake = f"{bucket}/lake"
    database = colonnade.create_database(lake, filesystem=files)
    table = colonnade.create(f"{lake}/t", ROWS.schema, filesystem=files, primary_key=["id"])
    assert table.append(ROWS) == 2
    assert database.tables() == ["t"]
    assert colonnade.open_database(lake, filesystem=files).tables() == ["t"]
    opened = colonnade.open(f"{lake}/t", filesystem=files)
    opened.delete("id = 2")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 3]
    opened.optimize()
    database.vacuum()
    assert colonnade.verify(lake, filesystem=files).findings == ()
    again = colonnade.open(opened._log.store.address / "t")
    assert again.path == opened.path


def test_a_table_that_s3fs_wrote_is_read_by_its_url(minio: Minio) -> None:
    files = LIBRARIES["s3fs"].make(minio.url)
    path = f"{minio.new_bucket()}/t"
    colonnade.create(path, ROWS.schema, filesystem=files).append(ROWS)
    by_url = colonnade.open(f"s3://{path}", storage_options=minio.options())
    assert by_url.scan().to_arrow() == ROWS
    by_url.append(ROWS)
    assert colonnade.open(path, filesystem=files).scan().to_arrow().num_rows == 6
