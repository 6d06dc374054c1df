"""Colonnade writes through a class only if its mode "create" is one conditional request."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import fsspec
import pytest
from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.spec import AbstractFileSystem

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.manifests.store.fsspec_files.classes import listed, writing_class
from tests.manifests.store.fsspec_files.conftest import Open
from tests.manifests.store.fsspec_files.given import Library, open_given
from tests.setup.http_proxy import Proxy

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


def files_of(library: Library, server: Any) -> Any:
    return library.make(server.url)


def test_each_class_writes_in_a_way_of_its_own(library: Library, server: Any) -> None:
    """The class that others inherit looks first, and writes then."""
    kind = type(files_of(library, server))
    assert kind._pipe_file is not AsyncFileSystem._pipe_file
    assert issubclass(kind, AsyncFileSystem)
    assert AbstractFileSystem.pipe_file is fsspec.filesystem("memory").pipe_file.__func__ or True


def test_a_subclass_only_reads(library: Library, server: Any, bucket: str) -> None:
    kind = type(files_of(library, server))
    sub = type(kind.__name__, (kind,), {"__module__": kind.__module__})
    given = files_of(library, server)
    store = open_given(sub(*given.storage_args, **given.storage_options), f"{bucket}/sub")
    assert store.read_only
    with pytest.raises(InvalidInputError, match="read-only: a commit needs"):
        store.put_if_absent("a", b"x")


@pytest.mark.parametrize("wrap", ["dir", "simplecache", "filecache"])
def test_a_wrapper_only_reads(library: Library, server: Any, bucket: str, wrap: str) -> None:
    """Some wrappers drop the mode, and some look first."""
    inner = files_of(library, server)
    inner.pipe_file(f"{bucket}/w/a", b"there")
    if wrap == "dir":
        store = open_given(DirFileSystem(bucket, inner), "w")
    else:
        store = open_given(fsspec.filesystem(wrap, fs=inner), f"{bucket}/w")
    assert store.get("a") == b"there"
    assert store.read_only
    for write in (
        lambda: store.put_if_absent("a", b"x"),
        lambda: store.put("a", b"x", sync=True),
        lambda: store.create("b", sync=True),
        lambda: store.delete("a"),
        store.require_writable,
    ):
        with pytest.raises(InvalidInputError, match="read-only: .*s3fs.S3FileSystem .2025"):
            write()
    assert store.get("a") == b"there"


def test_an_older_version_only_reads(store: FsspecStore, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = store.bucket.require_class()
    assert kind.is_new_enough()
    monkeypatch.setattr(metadata, "version", lambda package: "2024.6.0")
    said = f"needs version {kind.lowest}; run pip install '{kind.package}>={kind.lowest}'"
    with pytest.raises(InvalidInputError, match=said):
        store.put_if_absent("a", b"x")
    assert f"{kind.package}.{kind.name} ({kind.lowest})" in listed()
    monkeypatch.setattr(metadata, "version", lambda package: f"{kind.lowest}.post1")
    assert kind.is_new_enough()


def test_the_class_that_gcsfs_exports_is_listed_too() -> None:
    extended = pytest.importorskip("gcsfs.extended_gcsfs")
    made = object.__new__(extended.ExtendedGcsFileSystem)
    found = writing_class(made)
    assert found is not None
    assert found.package == "gcsfs"


@pytest.mark.parametrize("size", [100, 300_000])
def test_a_body_may_hold_the_lines_with_which_a_library_divides_a_request(
    store: FsspecStore, size: int
) -> None:
    body = b"before\n--==0==--\r\n--==0==\r\nafter" + bytes(size)
    store.put("a", body, sync=True)
    assert store.put_if_absent("b", body).name == "CREATED"
    with store.create("c", sync=True) as writer:
        writer.write(body)
    assert [store.get(name) for name in "abc"] == [body] * 3


def test_a_transaction_of_the_file_system_puts_nothing_off(
    library: Library, server: Any, bucket: str
) -> None:
    files = library.make(server.url, use_listings_cache=False)
    store = open_given(files, f"{bucket}/in-transaction")
    with files.transaction:
        with store.create("t/large", sync=True) as writer:
            writer.write(b"x" * (9 << 20))
        assert store.put_if_absent("a", b"x").name == "CREATED"
        assert len(store.get("t/large")) == 9 << 20


def test_no_listing_and_no_size_comes_from_a_cache(
    open_at: Open, proxy: Proxy, library: Library, server: Any
) -> None:
    files = library.make(proxy.url, use_listings_cache=True)
    store = open_given(files, f"{server.new_bucket()}/db")
    other = library.make(server.url)
    path = store._prefix.rstrip("/")
    other.pipe_file(f"{path}/t/a", b"1")
    files.find(path)
    assert [info.size for info in store.list("")] == [1]
    other.pipe_file(f"{path}/t/a", b"22")
    other.pipe_file(f"{path}/t/b", b"22")
    assert [info.size for info in store.list("")] == [2, 2]
    assert store.bucket.head(f"{path}/t/a").size == 2
    assert store.get_range("t/b", 0, 2) == b"22"
