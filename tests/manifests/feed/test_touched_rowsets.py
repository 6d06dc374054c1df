"""A RowSet that differs between two states was touched by an epoch between them."""

from __future__ import annotations

import random

import pytest

from colonnade.manifests.feed.steps import read_steps
from colonnade.manifests.feed.touched_rowsets import Touched
from colonnade.manifests.limits import Limits
from tests.tableformat.feed.test_histories import Longer


@pytest.mark.slow
@pytest.mark.parametrize("form", ["plain", "sorted", "keyed"])
def test_every_rowset_that_differs_was_touched(form: str) -> None:
    rng = random.Random(f"touched {form}")
    history = Longer(form, rng, Limits(listed_rowsets=1, in_place_bytes=0))
    for _ in range(20):
        history.turn()
    table = history.table()
    reader, id_ = table._log.reader, table._state.id
    for _ in range(20):
        first = rng.randint(1, table.epoch)
        last = rng.randint(first, table.epoch)
        base, after = reader.read_at(first - 1), reader.read_at(last)
        found = Touched()
        for step in read_steps(reader, id_, base, last):
            found.add(step)
        old, new = (
            {each.id: each for each in reader.rowsets.read(state.tables[id_], which="all")}
            if id_ in state.tables
            else {}
            for state in (base, after)
        )
        differ = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        assert differ <= found.rowsets
        for rowset in old.keys() & new.keys():
            if old[rowset].replacements != new[rowset].replacements:
                assert found.replaced[rowset]
