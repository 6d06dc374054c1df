"""A time finds the last epoch that is not after it, whatever the clocks of its writers said."""

from __future__ import annotations

import pytest

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.epochs.epoch_times import last_epoch_by
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, change, table

START_MS = 1_700_000_000_000


class Silent(MemoryStore):
    """A store that does not tell its time."""

    def date_of_write(self, name: str) -> int | None:
        return None


@pytest.mark.parametrize("behind_ms", [0, 2 * DAY_MS, 900 * DAY_MS, 2 * START_MS])
def test_the_clock_of_a_writer_counts_for_readers_and_its_date_for_removal(behind_ms: int) -> None:
    now = START_MS
    store = Silent(now_ms=lambda: START_MS)
    log = Log(store, clock_ms=lambda: now - behind_ms, pause=lambda _: None)
    head = create_database(store, lone_table=False, clock_ms=lambda: START_MS)
    dates, clocks = {}, {}
    for number, operation in enumerate((table(), None, None, None), 1):
        now += 1_000
        made = append() if operation is None else change(operation)
        head = log.commit(made, head)
        dates[number], clocks[number] = head.time_ms, head.committed_ms
    assert [*clocks.values()] == [max(0, START_MS + 1_000 * each - behind_ms) for each in dates]
    for number, date in dates.items():
        assert last_epoch_by(store, head, date, START_MS, 1, for_removal=True) == number
        if clocks[number]:  # no clock runs before 1970
            assert last_epoch_by(store, head, clocks[number], START_MS, 1) == number
