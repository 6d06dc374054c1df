"""How a writer waits where others write to the same log.

Where the store can say whose turn it is among the processes of one machine (`ObjectStore.turn`),
writers put their epochs one after another, and hardly any slot is lost. A turn only orders those
who wait: after a while they go on without it, and put-if-absent alone decides who has a slot.
Spec: docs/spec/epoch-log.md#waiting
"""

from __future__ import annotations

import random
from collections.abc import Callable

from colonnade.manifests.store.base import Turn

TURN_LIMIT_S = 2.0
"""How long a writer waits for its turn, in seconds, before it goes on without."""

LOOK_S = 0.005
"""How often a writer that waits for its turn follows what others commit, in seconds."""

_LONGEST_PAUSE_S = 0.02


def pause_s(lost: int) -> float:
    """The pause of a writer that has lost so many slots, at least one, in seconds.

    Its length is random, so that those who lost together do not return together. It is shorter for
    those who have lost more, so that they come first.
    """
    return random.uniform(0.5, 1) * _LONGEST_PAUSE_S / lost


def wait_for_turn(
    turn: Turn, follow: Callable[[bool], bool], limit_s: float = TURN_LIMIT_S
) -> bool:
    """Wait for a turn, at most `limit_s` seconds, and `follow` others then and now and then before.

    Returns what `follow` says last: a change that somebody else has committed needs no turn. It is
    told whether others may have committed since the slot was last looked at. That is so where turns
    are ordered, even without a wait, and a look costs less than a lost slot.
    """
    if turn.take(0):
        return follow(turn.ordered)
    for _ in range(round(limit_s / LOOK_S)):
        if turn.take(LOOK_S):
            break
        if follow(True):
            return True
    return follow(True)
