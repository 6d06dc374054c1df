"""A bucket that Spark reaches through a proxy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.setup.http_proxy import Proxy
from tests.setup.minio import KEY, SECRET, Minio
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.stores.s3.lake import Lake, settings


@pytest.fixture(scope="module")
def proxy(minio: Minio) -> Iterator[Proxy]:
    proxy = Proxy(minio.port)
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def lake(spark_shell: SparkShell, minio: Minio, proxy: Proxy) -> Iterator[Lake]:
    """The session has Hadoop's settings alone, and reaches the server through a proxy."""
    given = {
        "fs.s3a.endpoint": proxy.url,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.access.key": KEY,
        "fs.s3a.secret.key": SECRET,
    }
    with settings(spark_shell, **given):
        yield Lake(spark_shell, minio)


@pytest.fixture(autouse=True)
def no_fault(proxy: Proxy) -> Iterator[None]:
    """End the fault of a test with the test."""
    yield
    proxy.plan = lambda seen: None
