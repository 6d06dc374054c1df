"""Origins are in the log while they are small, and damage to them is never taken for rows."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from colonnade.manifests.arrays.origins import encode_origins
from colonnade.manifests.commit.rebase.origin import read_origin, write_origin
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.object_names import origin_name
from colonnade.manifests.store.memory import MemoryStore
from tests.row_world import JOB

SCATTERED = np.random.default_rng(1).permutation(1000)
DATA = encode_origins([SCATTERED])


@pytest.mark.parametrize("inline_bytes", [0, 10_000])
def test_origins_are_read_back_from_the_log_and_from_an_object(inline_bytes: int) -> None:
    store = MemoryStore()
    entry = write_origin(store, "t/", JOB, DATA, inline_bytes=inline_bytes)
    objects = [] if inline_bytes else [origin_name("t/", entry.object)]
    assert [each.name for each in store.list("")] == objects
    assert (read_origin(store, "t/", entry, 1000) == SCATTERED).all()
    with pytest.raises(CorruptionError, match="does not have the origins of 999 rows"):
        read_origin(store, "t/", entry, 999)


def test_a_missing_or_damaged_origin_is_reported_with_its_name() -> None:
    store = MemoryStore()
    entry = write_origin(store, "t/", JOB, DATA, inline_bytes=0)
    name = origin_name("t/", entry.object)
    with pytest.raises(CorruptionError, match=f"{name} is missing"):
        read_origin(MemoryStore(), "t/", entry, 1000)
    other = b"x" * len(DATA)
    damaged = entry.model_copy(update={"data": base64.b64encode(other).decode()})
    with pytest.raises(CorruptionError, match=name):
        read_origin(store, "t/", damaged, 1000)
    foreign = damaged.model_copy(update={"check": byte_check(other)})
    with pytest.raises(CorruptionError, match="they are not deflated"):
        read_origin(store, "t/", foreign, 1000)
    broken = entry.model_copy(update={"data": "?"})
    with pytest.raises(CorruptionError, match="does not have the origins"):
        read_origin(store, "t/", broken, 1000)
