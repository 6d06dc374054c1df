"""How a writer waits for concurrent writers of the same log.

If the store can order the writers of one machine or process (`ObjectStore.turn`), they put their
epochs one after another, and hardly any slot is lost. A turn only orders waiting writers. After a
while they continue without it, and put-if-absent alone decides who gets a slot.
Spec: docs/spec/epoch-log.md#waiting
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from colonnade.manifests.store.turn import Turn

T = TypeVar("T")

TURN_LIMIT_S = 2.0
"""The longest time that a writer waits for its turn, in seconds."""

LOOK_S = 0.005
"""The interval at which a writer that waits for its turn follows new epochs, in seconds."""

_LONGEST_PAUSE_S = 0.02


def pause_s(lost: int) -> float:
    """Return the pause of a writer that has lost `lost` slots (at least one), in seconds.

    Its length is random, so that writers that lost together do not return together. It is shorter
    for writers that have lost more, so that they come first.
    """
    return random.uniform(0.5, 1) * _LONGEST_PAUSE_S / lost


def wait_for_turn(
    turn: Turn, follow: Callable[[bool], T | None], limit_s: float = TURN_LIMIT_S
) -> T | None:
    """Wait for a turn, at most `limit_s` seconds. Call `follow` at the end and at intervals before.

    Returns the last result of `follow`, and the first that is not None: a change that another
    process has committed needs no turn.
    The argument of `follow` says whether the caller has waited, so that writers of other machines
    may have committed. Without a wait, and during it, the turn tells who may have committed.
    """
    if turn.take(0):
        return follow(False)
    waited_s = 0.0
    while waited_s < limit_s:
        if (found := follow(False)) is not None:
            return found
        if turn.take(LOOK_S):
            break
        waited_s += LOOK_S
    else:
        turn.give_up()
    return follow(True)
