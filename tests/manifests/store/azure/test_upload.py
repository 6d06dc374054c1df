"""An object of Azure is a list of blocks. Blocks without a list are not an object."""

from __future__ import annotations

import secrets
import tracemalloc

import pytest

from colonnade.manifests.store.azure import AzureStore
from colonnade.manifests.store.azure.upload import PART, UNDER_WAY

pytestmark = pytest.mark.timeout(900)  # the first test may install the server


def test_blocks_of_a_writer_that_aborts_are_no_object(store: AzureStore) -> None:
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (PART + 1))
    writer.abort()
    assert list(store.list("")) == []
    assert list(store.list_unfinished()) == []
    with store.create("t/a", sync=True) as again:
        again.write(b"y" * (PART + 1))
    assert store.get("t/a") == b"y" * (PART + 1)


def test_a_stream_holds_a_few_parts_in_memory(store: AzureStore) -> None:
    block = secrets.token_bytes(1 << 20)
    tracemalloc.start()
    try:
        with store.create("t/a", sync=True) as writer:
            for _ in range(96):
                writer.write(block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert next(store.list("t/")).size == 96 << 20
    # The proxy of this test is in the same process, and holds a part for each under way, too.
    assert peak < (2 * UNDER_WAY + 4) * PART
