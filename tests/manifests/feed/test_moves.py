"""Where the rows that an epoch adds were: beside a reading of the log that shares no code."""

from __future__ import annotations

import random

import pytest

from colonnade.manifests.arrays.origins import NEW, rowsets_and_rows
from colonnade.manifests.feed.moves import moves_of
from colonnade.manifests.feed.steps import Step
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import Compaction, Restore
from tests.row_changes import places, row_changes
from tests.tableformat.feed.test_histories import LIMITS, Longer
from tests.tableformat.statements.test_row_histories import FORMS


@pytest.mark.slow
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("form", FORMS)
def test_rows_come_from_where_the_log_says(form: str, limits: Limits) -> None:
    rng = random.Random(f"moves {form} {limits}")
    history = Longer(form, rng, limits)
    for _ in range(20):
        history.turn()
    table = history.table()
    log, id_, seen = table._log, table._state.id, 0
    for number in range(2, table.epoch + 1):
        before, after = log.reader.read_at(number - 1), log.reader.read_at(number)
        [epoch] = log.reader.read_epochs(number, 1)
        kinds = {type(op) for op in epoch.ops}
        if Restore in kinds or after.tables[id_].changed_epoch != number:
            continue
        moves = moves_of(log.reader, Step(id_, before, epoch, after))
        found = {
            (rowset, row): (int(old), int(place))
            for rowset, moved in moves.items()
            for row, (old, place) in enumerate(zip(*rowsets_and_rows(moved.numbers), strict=True))
            if moved.numbers[row] != NEW
        }
        if Compaction in kinds:
            old_places, new_places = places(log, before, "t"), places(log, after, "t")
            assert not any(moved.rewritten for moved in moves.values())
            for key, place in new_places.items():
                assert found.get(place, place) == old_places[key]
        else:
            expected = row_changes(log, before, epoch, after, id_).moved
            assert found == {new: old for old, new in expected.items()}
            assert all(moved.rewritten for moved in moves.values())
        seen += len(found)
    assert seen
