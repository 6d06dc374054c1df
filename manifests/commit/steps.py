"""Commit a change: the steps of the specification, in its order.

    outcome = commit(change, base, writer)
    match outcome:
        case Committed(state, epoch): ...
        case NotCommitted(error) | Unknown(error): raise error

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from functools import partial

from colonnade.manifests.commit.attempt import Attempt, SlotFreed, Writer
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import has_landed
from colonnade.manifests.commit.outcome import Committed, Outcome
from colonnade.manifests.commit.turns import pause_s, wait_for_turn
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.object_names import MANIFEST
from colonnade.manifests.state.snapshot import Snapshot


def commit(change: Change, base: Snapshot, writer: Writer) -> Outcome:
    """Make a change that was planned on `base` the next epoch, and say what is known of it then.

    Costs as `Log.commit_change`. Raises no ColonnadeError: an error that ends the steps is a part
    of the outcome.
    """
    attempt = Attempt(change, base, writer)
    try:
        # 1. Look.
        attempt.look()
        if has_landed(change, base):
            return Committed(base)
        attempt.begin()
        for lost in range(writer.reader.limits.lost_slots):
            if lost:
                writer.pause(pause_s(lost))
            with writer.reader.store.turn(MANIFEST) as turn:
                # 2. Follow.
                done = wait_for_turn(turn, partial(attempt.follow, turn))
                if done is not None:
                    attempt.make_durable(done)
                else:
                    # 3. Make.
                    made = attempt.make()
                    # 4. Put; 5. after another answer than CREATED, read the slot.
                    done = attempt.put(made)
            if done is not None:
                return attempt.committed(done)
        return attempt.outpaced()
    except SlotFreed:
        # 6. A slot was freed: look for the change in the epochs that can be read.
        return attempt.search_after_removal()
    except ColonnadeError as error:
        return attempt.ended(error)
