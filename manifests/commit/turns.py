"""How a writer waits for concurrent writers of the same log.

If the store can order the writers of one machine or process (`ObjectStore.turn`), they put their
epochs one after another, and hardly any slot is lost. A turn only orders waiting writers. After a
while they continue without it, and put-if-absent alone decides who gets a slot.
Spec: docs/spec/epoch-log.md#waiting
"""

from __future__ import annotations

import random
from collections.abc import Callable

from colonnade.manifests.store.turn import Turn

TURN_LIMIT_S = 2.0
"""The longest time that a writer waits for its turn, in seconds."""

LOOK_S = 0.005
"""The interval at which a writer that waits for its turn follows new epochs, in seconds."""

STATED_S = 0.003
"""After this time a writer that has left a note first looks for the answer, in seconds."""

_GROWTH = 1.5
"""Each interval of looks is this many times the last one, so that few looks meet a late answer."""

WOKEN_S = 0.02
"""The longest interval of looks, also where a statement ends the wait for a turn, in seconds."""

NOTED_S = 0.1
"""After this time a writer without an answer leaves its note again, in seconds."""

_LONGEST_PAUSE_S = 0.02


def pause_s(lost: int) -> float:
    """Return the pause of a writer that has lost `lost` slots (at least one), in seconds.

    Its length is random, so that writers that lost together do not return together. It is shorter
    for writers that have lost more, so that they come first.
    """
    return random.uniform(0.5, 1) * _LONGEST_PAUSE_S / lost


def wait_for_turn(
    turn: Turn,
    follow: Callable[[bool], bool],
    offer: Callable[[], bytes | None] = lambda: None,
    limit_s: float = TURN_LIMIT_S,
) -> bool:
    """Wait for a turn, at most `limit_s` seconds. Call `follow` at the end and at intervals before.

    Returns the last result of `follow`: a change that another process has committed needs no turn.
    The argument of `follow` says whether the caller has waited, so that writers of other machines
    may have committed. Without a wait, and during it, the turn tells who may have committed.

    If there is a wait, `offer` is called at its beginning. It may leave a note of the change. If it
    does, the writer with the turn may commit the change, and state that in a line. `offer` returns
    the beginning of that line. Until the line is there, `follow` is not called. If notes may be
    lost, a wait without an answer calls `follow` and `offer` again after a while.
    """
    if turn.take(0):
        return follow(False)
    line = offer()
    if line is None and follow(False):
        return True
    interval = _first_interval_s(turn, line)
    waited_s, noted_s = 0.0, 0.0
    while waited_s < limit_s:
        if turn.take(interval):
            break
        if (line is None or line in turn.stated()) and follow(False):
            return True
        waited_s += interval
        if line is not None:
            interval = min(_GROWTH * interval, WOKEN_S)
        if line is not None and turn.loses_notes and waited_s >= noted_s + NOTED_S:
            if follow(False):
                return True
            line, noted_s = offer(), waited_s
            interval = _first_interval_s(turn, line)
    else:
        turn.give_up()
    return follow(True)


def _first_interval_s(turn: Turn, line: bytes | None) -> float:
    """Return the time to the first look for an answer, or for new epochs without a note."""
    return WOKEN_S if turn.wakes else LOOK_S if line is None else STATED_S
