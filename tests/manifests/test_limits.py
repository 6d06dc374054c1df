"""Limits divide the work of writers, and never what a reader accepts."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import EPOCH_LIMIT
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, contents, entry, make_log, replay, with_orders


def test_an_epoch_is_never_larger_than_every_reader_accepts() -> None:
    assert LIMITS.epoch_bytes <= EPOCH_LIMIT
    assert all(getattr(LIMITS, each.name) > 0 for each in fields(Limits))


@pytest.mark.parametrize(
    "limits",
    [
        replace(LIMITS, listed_rowsets=1, segment_rowsets=2),
        replace(LIMITS, root_tables=0, root_bytes=0, page_bytes=20),
        replace(LIMITS, pending_epochs=1, listed_bytes=1),
    ],
)
def test_a_log_of_a_writer_with_tiny_limits_is_read_under_any_limits(limits: Limits) -> None:
    store = MemoryStore()
    log = make_log(store, interval=2, limits=limits)
    state = with_orders(store, log)
    for _ in range(4):
        state = log.commit(append(entry(), entry(), entry()), state)
    reader = make_log(store)
    assert contents(reader, reader.reader.read_head()) == contents(log, state)
    assert contents(log, log.reader.read_head()) == contents(reader, replay(store))
