"""Evaluate a statement until it can be committed."""

from __future__ import annotations

import random
from collections.abc import Callable

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.errors import ConflictError, CorruptionError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.snapshot import Snapshot

TRIES = 10
"""How often a statement is evaluated before its conflict is reported."""

_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 1.0


def pause_before(attempt: int) -> float:
    """Return the seconds to wait before a try after the first; random, to separate rivals."""
    pause: float = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt)
    return pause * random.uniform(0.5, 1.0)


def commit_statement(
    log: Log,
    base: Snapshot,
    evaluate: Callable[[Snapshot], Change | Snapshot | None],
    operation: str = "statement",
    tries: int = TRIES,
) -> tuple[Snapshot, Epoch | None]:
    """Evaluate a statement on a state and commit it; after a conflict, again on the newest state.

    It is also evaluated again when a vacuum has removed the state, or files of the statement,
    meanwhile. `evaluate` returns None if the statement changes nothing, or a later state if it
    changes nothing there. Returns the state after the statement, and its epoch. The epoch is None
    when the statement changes nothing, and when its batch has landed before. `operation` names the
    statement in errors. Raises ConflictError after ten `tries` with growing pauses, or at once when
    the change expects an epoch. Raises whatever `evaluate` and `Log.commit` raise.
    """
    for attempt in range(tries):
        if attempt:
            log.pause(pause_before(attempt))
            base = log.reader.refresh(base)
        last = attempt == tries - 1
        try:
            change = evaluate(base)
        except CorruptionError:
            try:
                with removals_are_conflicts(log.reader, operation, base):
                    raise
            except ConflictError:
                if last:
                    raise
                continue
        if change is None:
            return base, None
        if isinstance(change, Snapshot):
            return change, None
        try:
            return log.commit_change(change, base)
        except ConflictError:
            if last or change.expect_epoch is not None:
                raise
    raise AssertionError("unreachable")
