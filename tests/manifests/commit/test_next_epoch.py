"""The epoch that a change becomes, and what is never written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.commit.next_epoch import fold_own, next_epoch
from colonnade.manifests.commit.rebase.change_at_base import change_at_base
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.model.entries import DeletionVectorEntry
from tests.log_samples import append, delete, epoch_after, make_log, vector, with_orders


def test_it_follows_the_head_and_names_the_base() -> None:
    log = make_log()
    base = with_orders(log.store, log)
    head = log.commit(append(), base)
    mine = append()
    made = next_epoch(change_at_base(mine, base, log.reader), head, log.clock, "tests")
    assert (made.epoch, made.base, made.previous) == (head.epoch + 1, base.epoch, head.transaction)
    assert (made.transaction, made.engine, made.ops) == (mine.transaction, "tests", mine.ops)
    assert made.time_ms > head.time_ms


def test_a_change_that_expects_another_head_becomes_none() -> None:
    log = make_log()
    base = with_orders(log.store, log)
    mine = replace(append(), expect_epoch=base.epoch)
    head = log.commit(append(), base)
    with pytest.raises(ConflictError, match=f"expects epoch {base.epoch}"):
        next_epoch(change_at_base(mine, base, log.reader), head, log.clock, "tests")


def test_what_readers_would_refuse_is_refused_before_it_is_written() -> None:
    log = make_log()
    base = with_orders(log.store, log)
    missing: DeletionVectorEntry = vector(1)
    with pytest.raises(InvalidInputError, match="This change cannot be committed"):
        fold_own(base, epoch_after(base, delete(7, missing)))
