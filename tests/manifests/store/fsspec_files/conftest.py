"""Stores on file systems of fsspec, behind a proxy before a server of the tests."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from azure.storage.blob.aio import ExponentialRetry

from colonnade.manifests.store.fsspec_files import FsspecStore
from tests.manifests.store.fsspec_files.given import LIBRARIES, Library, open_given
from tests.setup.http_proxy import Proxy

Open = Callable[..., FsspecStore]


@pytest.fixture(scope="session", autouse=True)
def hasty_libraries() -> Iterator[None]:
    """Azure's client would wait for 15 s and more before it repeats a request."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExponentialRetry, "get_backoff_time", lambda self, settings: 0.1)
        yield


@pytest.fixture(scope="module", params=LIBRARIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def library(name: str) -> Library:
    return LIBRARIES[name]


@pytest.fixture(scope="module")
def server(library: Library, request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(library.server)


@pytest.fixture(scope="module")
def proxy(library: Library, server: Any) -> Iterator[Proxy]:
    made = library.proxy(server.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def bucket(server: Any) -> str:
    return str(server.new_bucket())


@pytest.fixture
def open_at(library: Library, proxy: Proxy, bucket: str) -> Open:
    """Opens a new folder of a bucket, through the proxy unless a URL is given."""

    def opened(bucket: str = bucket, url: str = proxy.url, **options: Any) -> FsspecStore:
        return open_given(library.make(url, **options), f"{bucket}/{secrets.token_hex(4)}")

    return opened


@pytest.fixture
def store(open_at: Open, proxy: Proxy) -> Iterator[FsspecStore]:
    proxy.plan = lambda seen: None
    made = open_at()
    made.require_writable()
    proxy.seen.clear()
    yield made
    proxy.plan = lambda seen: None
