"""A server of buckets behind a proxy that counts requests, and a store in one of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from colonnade.manifests.store.s3 import S3Store
from tests.setup.http_proxy import Proxy
from tests.setup.minio import Minio


@pytest.fixture(scope="module")
def proxy(minio: Minio) -> Iterator[Proxy]:
    made = Proxy(minio.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def bucket(minio: Minio) -> str:
    return minio.new_bucket()


@pytest.fixture
def store(minio: Minio, proxy: Proxy, bucket: str) -> S3Store:
    made = S3Store(f"s3://{bucket}/{secrets.token_hex(4)}", minio.options(endpoint_url=proxy.url))
    made.require_writable()
    proxy.seen.clear()
    return made
