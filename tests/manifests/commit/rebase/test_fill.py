"""A change that fills columns asks again at each slot which RowSets there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from colonnade.manifests.commit.change import ColumnFill
from colonnade.manifests.commit.rebase.change_at_base import change_at_base
from colonnade.manifests.commit.rebase.fill import filled
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.state.snapshot import Snapshot
from tests.log_samples import ORDERS, append, change, make_log, with_orders


def test_it_is_asked_for_each_slot_and_counts_what_it_has_filled_there() -> None:
    log = make_log()
    base = with_orders(log.store, log)
    later = log.commit(append(), base)
    asked = list[int]()

    def fill(head: Snapshot) -> tuple[Sequence[ReplaceColumn], Mapping[str, int]]:
        asked.append(head.epoch)
        return (), {"rows_updated": len(head.tables[ORDERS].rowsets.added)}

    mine = replace(change(), fresh=True, metrics={"files": 1}, fill=ColumnFill(ORDERS, fill))
    begun = change_at_base(mine, base, log.reader)
    counts = [filled(begun, head).change.metrics["rows_updated"] for head in (base, later)]
    assert asked == [base.epoch, later.epoch]
    assert counts[0] < counts[1]
    assert filled(begun, later).change.metrics["files"] == 1


def test_a_change_that_fills_nothing_stays_as_it_is() -> None:
    log = make_log()
    base = with_orders(log.store, log)
    begun = change_at_base(append(), base, log.reader)
    assert filled(begun, base) is begun
