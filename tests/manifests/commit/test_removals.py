"""An object that is missing because a vacuum removed it is a conflict; any other one is damage."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.epochs.freed_slots import put_mark
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
)
from tests.log_samples import append, make_log, with_orders


@pytest.mark.parametrize(("fresh", "kind"), [(True, ConflictError), (False, CommitUnknownError)])
def test_after_the_slots_behind_a_base_were_freed_a_missing_object_tells_nothing(
    fresh: bool, kind: type[ColonnadeError]
) -> None:
    log = make_log()
    base = with_orders(log.store, log)
    mine = replace(append(), fresh=fresh)
    for block in range(base.blocks.of(base.epoch + 1) + 1):
        put_mark(log.store, base.blocks, block)
    with (
        pytest.raises(kind, match="removed by retention"),
        removals_are_conflicts(log.reader, mine, base),
    ):
        raise CorruptionError("a file is missing")


@pytest.mark.parametrize("planned", [append(), "delete"])
def test_damage_stays_damage_beside_epochs_that_remove_nothing(planned: object) -> None:
    log = make_log()
    base = with_orders(log.store, log)
    log.commit(append(), log.commit(append(), base))
    with (
        pytest.raises(CorruptionError, match="a file is missing"),
        removals_are_conflicts(log.reader, planned, base),  # type: ignore[arg-type]
    ):
        raise CorruptionError("a file is missing")
