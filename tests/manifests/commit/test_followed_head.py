"""A head that is folded when it is asked for is the same as one that is folded epoch by epoch."""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.followed_head import FollowedHead
from colonnade.manifests.epochs.slots import read_slot
from tests.log_samples import append, contents, make_log, with_orders


@pytest.mark.parametrize("asked", [1, 2, 5, 99])
@pytest.mark.parametrize("most", [1, 3, 64])
def test_the_state_is_that_of_the_log_whenever_it_is_asked_for(most: int, asked: int) -> None:
    log = make_log()
    base = state = with_orders(log.store, log)
    states = {base.epoch: base}
    for _ in range(9):
        state = log.commit(append(), state)
        states[state.epoch] = state
    head = FollowedHead(base, most)
    for number in range(base.epoch + 1, state.epoch + 1):
        assert head.next_slot == number
        found = read_slot(log.store, number)
        assert found is not None
        head.add(found)
        if number % asked == 0:
            assert contents(log, head.state) == contents(log, states[number])
        first = max(base.epoch, number - most) + 1
        assert [each.epoch for each in head.epochs] == [*range(first, number + 1)]
    assert contents(log, head.state) == contents(log, state)
