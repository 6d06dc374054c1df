"""Roots lead to earlier checkpoints through a short list."""

from __future__ import annotations

from itertools import pairwise

from colonnade.manifests.checkpoint.root import CheckpointRef, plan_earlier
from colonnade.manifests.model.codec import byte_check


def test_the_list_of_earlier_checkpoints_stays_short_and_leads_everywhere() -> None:
    lists: dict[int, tuple[CheckpointRef, ...]] = {}
    previous: CheckpointRef | None = None
    for epoch in range(64, 64 * 2000, 64):
        older = (previous, *lists[previous.epoch]) if previous else ()
        lists[epoch] = plan_earlier(older, epoch)
        previous = CheckpointRef(epoch=epoch, root="a" * 32, check=byte_check(b"x"))
    assert max(map(len, lists.values())) <= 60
    for target in range(64, 64 * 1999, 6400):
        at, hops, best = max(lists), 0, 0
        while at > target:
            best = max([best, *(r.epoch for r in lists[at] if r.epoch <= target)])
            after = [r.epoch for r in lists[at] if r.epoch > target]
            if not after:
                break
            at, hops = min(after), hops + 1
        assert hops <= 12
        assert target - best <= 64 * 8


def test_epochs_between_checkpoints_ascend() -> None:
    refs = [CheckpointRef(epoch=e, root="a" * 32, check=byte_check(b"x")) for e in range(1, 300)]
    kept = [ref.epoch for ref in plan_earlier(refs, 300)]
    assert all(a > b for a, b in pairwise(kept))
    assert plan_earlier(refs, 100)[0].epoch == 99
