"""An upload in parts holds few of them, and can be ended once its writer was killed."""

from __future__ import annotations

import secrets
import tracemalloc

import pytest

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.store.checks import finished_name
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.upload import PART, UNDER_WAY
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


def test_an_upload_that_a_killed_writer_left_is_unfinished_and_can_be_ended(
    store: S3Store, minio: Minio, bucket: str
) -> None:
    elsewhere = S3Store(f"{store.url}-other", minio.options()).create("t/a", sync=True)
    elsewhere.write(b"x" * (PART + 1))
    writers = [store.create(name, sync=True) for name in ("t/a", "t/a", "b")]
    for writer in writers:
        writer.write(b"x" * (PART + 1))
    found = sorted(info.name for info in store.list_unfinished())
    assert sorted(str(finished_name(name)) for name in found) == ["b", "t/a", "t/a"]
    assert all(info.modified_ms for info in store.list_unfinished())
    assert sorted(info.name for info in store.list_all(lambda name: True)) == found
    assert list(store.list("")) == []
    for name in found:
        store.delete_unfinished(name)
        store.delete_unfinished(name)
    assert list(store.list_unfinished()) == []
    for writer in writers:
        with pytest.raises(ColonnadeError):
            writer.close()
    assert list(store.list("")) == []
    elsewhere.close()


def test_a_stream_holds_a_few_parts_in_memory(store: S3Store) -> None:
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
    # One more part is copied where it is signed and sent.
    assert peak < (2 * UNDER_WAY + 3) * PART
