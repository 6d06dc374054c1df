"""A log that was just seen is trusted for a time, and no commit goes into another log for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest

from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import HINT, epoch_name
from colonnade.manifests.reading import last_look
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import FarStore
from tests.log_samples import (
    append,
    change,
    contents,
    database,
    make_log,
    overwrite,
    table,
    with_orders,
)
from tests.manifests.log.far import far_log


def test_a_refresh_that_finds_nothing_new_costs_one_request() -> None:
    store, _ = far_log(70)
    log = Log(store)
    head = log.reader.read_head()
    for _ in range(3):
        with store.counted() as cost:
            assert log.reader.refresh(head) is head
        assert cost.requests == 1


def test_a_refresh_long_after_the_last_look_takes_two_rounds_and_looks_for_the_mark() -> None:
    store, _ = far_log(70)
    log = Log(store)
    head = log.reader.read_head()
    with patch.object(last_look, "elapsed_s", lambda: 1e12), store.counted() as cost:
        assert log.reader.refresh(head) is head
    assert (cost.requests, cost.rounds) == (4, 2)


def test_a_log_that_was_just_seen_is_found_removed_once_the_look_is_too_old() -> None:
    store, _ = far_log(70)
    log = Log(store)
    head = log.reader.read_head()
    for info in [*store.inner.list("")]:
        store.inner.delete(info.name)
    with patch.object(last_look, "elapsed_s", lambda: 1e12):
        with pytest.raises(NotFoundError, match="removed or replaced"):
            log.reader.refresh(head)
        with pytest.raises(NotFoundError, match="removed or replaced"):
            log.commit(append(), head)


def test_a_commit_to_a_log_that_was_just_seen_is_a_put_and_a_look_for_the_mark() -> None:
    store, _ = far_log(70)
    log = Log(store)
    state = log.reader.read_head()
    for _ in range(5):
        with store.counted() as cost:
            state = log.commit(append(), state)
        assert cost.operations == ["put_if_absent", "get"]
    assert contents(log, Log(store).reader.read_head()) == contents(log, state)


def test_a_commit_long_after_the_last_look_looks_before_in_one_round() -> None:
    store, _ = far_log(70)
    log = Log(store)
    state = log.reader.read_head()
    with patch.object(last_look, "elapsed_s", lambda: 1e12), store.counted() as cost:
        log.commit(append(), state)
    assert (cost.requests, cost.rounds) == (4, 3)


def test_a_commit_that_puts_without_a_look_follows_whoever_was_first() -> None:
    store, head = far_log(70)
    log = Log(store)
    seen = log.reader.read_head()
    other = make_log(store.inner)
    for _ in range(3):
        head = other.commit(append(), head)
    mine = append()
    after = log.commit(mine, seen)
    assert after.epoch == head.epoch + 1
    assert contents(log, after) == contents(log, Log(store).reader.read_head())
    # Sent once more on the same base, it is found where it is.
    assert log.commit(mine, seen).epoch == after.epoch


def test_a_commit_that_puts_without_a_look_meets_conflicts_as_any_other() -> None:
    store, head = far_log(70)
    log = Log(store)
    seen = log.reader.read_head()
    make_log(store.inner).commit(overwrite((0, 3)), head)
    with pytest.raises(ConflictError):
        log.commit(overwrite((0, 3)), seen)


def test_a_commit_never_goes_into_a_log_that_has_replaced_its_own() -> None:
    store, _ = far_log(5)
    log = Log(store)
    seen = log.reader.read_head()
    for info in [*store.inner.list("")]:
        store.inner.delete(info.name)
    near = make_log(store.inner)
    state = with_orders(store.inner, near)
    while state.epoch < 6:
        state = near.commit(append(), state)
    with pytest.raises(NotFoundError, match="removed or replaced"):
        log.commit(append(), seen)
    assert near.reader.read_head().epoch == state.epoch


@pytest.mark.parametrize("parallel", [96, 1])
@pytest.mark.parametrize("replaced", [True, False])
def test_a_writer_whose_database_was_removed_by_other_means_stops_at_its_next_look(
    *, replaced: bool, parallel: int
) -> None:
    """Its own later epochs are at the place, so its base alone tells nothing."""
    store, _ = far_log(5)
    store.keeps_logs, store.parallel = True, parallel
    log = Log(store, checkpoint_interval=1)
    seen = log.commit(append(), log.reader.read_head())
    near = store.inner
    for info in [*near.list("")]:
        if replaced or info.name != epoch_name(seen.epoch):
            near.delete(info.name)
    if replaced:
        other = database(near)
        seen = log.commit(append(), seen)
    with patch.object(last_look, "elapsed_s", lambda: 1e12):
        uses = [log.reader.refresh, lambda base: log.commit(append(), base)]
        for use in (*uses, log.reader.can_follow) if parallel > 1 else uses:
            with pytest.raises(NotFoundError, match="removed or replaced; open it again"):
                use(seen)
    # No checkpoint of the lost log has led a reader away from the new one.
    if replaced:
        with pytest.raises(CorruptionError, match="a later epoch is there"):
            Log(near).reader.read_head()
        near.delete(epoch_name(seen.epoch))
        assert Log(near).reader.read_head() == other
    assert HINT not in {info.name for info in near.list("")}


def test_a_damaged_first_epoch_stops_no_writer() -> None:
    store, _ = far_log(5)
    store.keeps_logs = True
    log = Log(store)
    seen = log.reader.read_head()
    store.inner.put(epoch_name(0), b"damage", sync=True)
    with patch.object(last_look, "elapsed_s", lambda: 1e12):
        assert log.commit(append(), log.reader.refresh(seen)).epoch == seen.epoch + 1


def test_a_put_that_took_too_long_does_not_count_where_the_log_was_replaced_meanwhile() -> None:
    store, _ = far_log(5)
    log = Log(store)
    seen = log.reader.read_head()

    class Slow:
        """The time, which makes a leap once the log was replaced."""

        now = 0.0

    def replace_database() -> None:
        Slow.now = 1e12
        patched.stop()
        for info in [*store.inner.list("")]:
            store.inner.delete(info.name)
        database(store.inner)

    real = store.inner.put_if_absent

    def put(name: str, data: bytes) -> object:
        replace_database()
        return real(name, data)

    log.reader.last_look.record(seen, 0.0)
    patched = patch.object(store.inner, "put_if_absent", put)
    patched.start()
    with (
        patch.object(last_look, "elapsed_s", lambda: Slow.now),
        pytest.raises(NotFoundError, match="removed or replaced"),
    ):
        log.commit(append(), seen)


def test_a_put_that_took_too_long_is_never_reported_as_not_committed_while_reads_fail() -> None:
    store, _ = far_log(5)
    log = make_log(store)
    seen = log.reader.read_head()
    log.reader.last_look.record(seen, 0.0)
    real, slot = store.inner.get_ranges, epoch_name(seen.epoch)

    def get_ranges(name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        if name == slot:
            raise StoreError("The store is busy.", retryable=True)
        return real(name, ranges)

    def elapsed() -> float:
        """Return a time that makes a leap once the epoch was put."""
        return 1e12 if epoch_name(seen.epoch + 1) in names() else 0.0

    def names() -> list[str]:
        return [info.name for info in store.inner.list("")]

    change = replace(append(), fresh=True)
    with (
        patch.object(last_look, "elapsed_s", elapsed),
        patch.object(store.inner, "get_ranges", get_ranges),
        pytest.raises(CommitUnknownError, match=change.transaction),
    ):
        log.commit(change, seen)
    assert log.reader.read_head().transaction == change.transaction


def test_a_state_cannot_be_followed_once_retention_has_removed_the_next_epoch() -> None:
    store, head = far_log(5)
    log = Log(store)
    assert log.reader.can_follow(head)
    assert log.reader.last_look.covers(head)
    with store.counted() as cost:
        assert log.reader.can_follow(head)
    assert cost.requests == 0
    near = make_log(store.inner)
    later = near.commit(append(), near.commit(append(), head))
    with patch.object(last_look, "elapsed_s", lambda: 1e12), store.counted() as cost:
        assert log.reader.can_follow(head)
    assert (cost.requests, cost.rounds) == (2, 1)
    for _ in range(70):
        later = near.commit(append(), later)
    vacuum(near, VacuumRequest(hours=0, epochs=1, trust_clock=True))
    assert near.reader.read_head().floor > head.epoch + 1
    with patch.object(last_look, "elapsed_s", lambda: 1e12):
        assert not log.reader.can_follow(head)


def test_a_state_in_a_block_that_a_killed_vacuum_has_freed_in_part_is_not_followed() -> None:
    """An append would get a freed slot, again and again, because each look was trusted."""
    near = MemoryStore()
    state = create_database(near, lone_table=False, slot_block=4, clock_ms=lambda: 0)
    writer = make_log(near)
    head = writer.commit(change(table(), name="create_table"), state)
    own = near.get(epoch_name(head.epoch))
    log, later = Log(FarStore(near)), head
    for _ in range(20):
        later = writer.commit(append(), later)
    vacuum(writer, VacuumRequest(hours=0, epochs=1, trust_clock=True))
    near.put(epoch_name(head.epoch), own, sync=True)
    assert not log.reader.can_follow(head)
    assert not log.reader.last_look.covers(head)
    assert log.reader.refresh(head).epoch == Log(near).reader.read_head().epoch
