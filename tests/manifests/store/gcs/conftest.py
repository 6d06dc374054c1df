"""Stores in buckets of a server with the API of GCS."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from colonnade.manifests.store.gcs import GcsStore
from tests.setup.gcs import FakeGcs
from tests.setup.gcs_sessions import SessionProxy


@pytest.fixture(scope="module")
def proxy(gcs: FakeGcs) -> Iterator[SessionProxy]:
    made = SessionProxy(gcs.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def bucket(gcs: FakeGcs) -> str:
    return gcs.new_bucket()


@pytest.fixture
def store(gcs: FakeGcs, proxy: SessionProxy, bucket: str) -> Iterator[GcsStore]:
    made = GcsStore(f"gs://{bucket}/{secrets.token_hex(4)}", {"endpoint_url": proxy.url})
    made.require_writable()
    proxy.seen.clear()
    yield made
    proxy.plan = lambda seen: None
