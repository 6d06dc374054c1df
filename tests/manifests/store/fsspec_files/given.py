"""File systems of fsspec as callers have them in hand, one for each class that writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from colonnade.manifests.store import StoreAddress, open_store
from colonnade.manifests.store.fsspec_files import FsspecStore
from tests.setup.azurite import Azurite
from tests.setup.gcs_sessions import SessionProxy
from tests.setup.http_proxy import Proxy
from tests.setup.minio import KEY, SECRET


class Library(NamedTuple):
    """A library with a class that writes: the server of the tests, and how it is reached.

    `make` takes the URL of the server, and options. `commits_by` is the method of the request that
    makes an object, and `proxy` makes a proxy before the port of the server.
    """

    server: str
    make: Callable[..., Any]
    commits_by: str
    proxy: Callable[[int], Proxy] = Proxy


def _s3(url: str, **options: Any) -> Any:
    from s3fs import S3FileSystem

    place = {"endpoint_url": url, "client_kwargs": {"region_name": "us-east-1"}}
    times = {"config_kwargs": {"connect_timeout": 2, "read_timeout": 1}}
    return S3FileSystem(key=KEY, secret=SECRET, **place, **times, **options)


def _gcs(url: str, **options: Any) -> Any:
    # The class that gcsfs exports asks Google first what kind of bucket it is.
    from gcsfs.core import GCSFileSystem

    return GCSFileSystem(project="tests", token="anon", endpoint_url=url, **options)


def _azure(url: str, **options: Any) -> Any:
    from adlfs import AzureBlobFileSystem

    return AzureBlobFileSystem(**Azurite.at(url), **options)


LIBRARIES = {
    "s3fs": Library("minio", _s3, "PUT"),
    "gcsfs": Library("gcs", _gcs, "POST", SessionProxy),
    "adlfs": Library("azurite", _azure, "PUT"),
}


def open_given(files: Any, path: str) -> FsspecStore:
    """Open a store on a file system."""
    store = open_store(StoreAddress.of(path, filesystem=files))
    assert isinstance(store, FsspecStore)
    return store
