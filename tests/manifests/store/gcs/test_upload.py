"""An object of GCS is sent in a session, and the server must have stored the same bytes."""

from __future__ import annotations

import json
import secrets
import tracemalloc

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.gcs import GcsStore
from colonnade.manifests.store.gcs.upload import PART
from tests.setup.gcs_sessions import SessionProxy
from tests.setup.http_proxy import answered

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


def test_the_session_of_a_writer_that_aborts_is_ended(store: GcsStore, proxy: SessionProxy) -> None:
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (PART + 1))
    writer.abort()
    assert proxy.seen[-1].method == "DELETE"
    assert list(store.list("")) == []
    assert list(store.list_unfinished()) == []


def test_a_server_that_stores_other_bytes_than_were_sent_is_found_out(
    store: GcsStore, proxy: SessionProxy
) -> None:
    final = answered(200, json.dumps({"crc32c": "AAAAAA=="}))
    proxy.plan = lambda seen: final if "/*" not in seen.headers.get("content-range", "/*") else None
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (PART + 1))
    with pytest.raises(StoreError, match="stored other bytes than were sent"):
        writer.close()


def test_a_stream_holds_a_few_parts_in_memory(store: GcsStore) -> None:
    block = secrets.token_bytes(1 << 20)
    tracemalloc.start()
    try:
        with store.create("t/a", sync=True) as writer:
            for _ in range(60):
                writer.write(block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert next(store.list("t/")).size == 60 << 20
    # The proxy of this test is in the same process, and holds a part, too.
    assert peak < 6 * PART
