"""Tables of every type and nesting at real sizes keep their rows, whatever is done to RowSets.

A quick sample of seeds runs always, more of them in the long run. The Java reader's half is
`tests/spark_ext/java/large/test_rewritten_in_the_large.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from colonnade.manifests.store import MemoryStore
from tests.compaction_tables import new
from tests.large_changes import append, chosen_steps, content, seeds
from tests.large_tables import TableMaker, same_rows


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(6, 60))
def test_rows_survive_whatever_is_done_to_their_rowsets(seed: int, tmp_path: Path) -> None:
    maker = TableMaker(seed)
    sizes = (0, 1, 3000, 20_000, 40_000, 70_000) if seed < 6 else (66_000, 140_000, 300_000)
    schema = maker.schema(columns=3)
    rows = maker.rows(schema, sizes[seed % len(sizes)])
    store = MemoryStore()
    if seed % 2:  # RowSets are one object each, and their ranges are read side by side.
        store.files_are_cheap, store.parallel = False, 4
    table = new(schema, ["id"] if seed % 3 == 0 else (), store)
    append(table, rows, maker, parts=1 + seed % 3)
    assert same_rows(content(table), rows)
    for step, change in chosen_steps(seed, sort_key=seed % 3 == 0):
        if rows.num_rows:
            rows = change(table, rows, tmp_path)
        assert same_rows(content(table), rows), step
    assert not table.verify(4).findings
    folders = [each.name for each in store.list("") if each.name.endswith("/rowset.json")]
    assert not (seed % 2 and folders)
