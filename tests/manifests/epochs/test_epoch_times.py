"""A time finds the last epoch that is not after it, whatever epochs note of clocks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.epochs.dating import OWN_CLOCK
from colonnade.manifests.epochs.epoch_times import last_epoch_by
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, change, table

START_MS = 1_700_000_000_000


@pytest.mark.parametrize("note", [None, "", "-1", "٣", "1.5", "9" * 20, "9" * 5_000])
def test_a_note_that_is_not_a_time_is_ignored(note: str | None) -> None:
    now = START_MS
    store = MemoryStore(now_ms=lambda: now)
    log = Log(store, clock_ms=lambda: now, pause=lambda _: None)
    head = log.commit(
        change(table()), create_database(store, lone_table=False, clock_ms=lambda: now)
    )
    for _ in range(3):
        now += 1_000
        noted = append() if note is None else replace(append(), parameters={OWN_CLOCK: note})
        head = log.commit(noted, head)
    for epoch in range(2, 5):
        assert last_epoch_by(store, head, START_MS + 1_000 * (epoch - 1), now, 0) == epoch
