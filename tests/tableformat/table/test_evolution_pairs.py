"""Rows of every type and encoding are read after each step, and again after a compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from tests.evolution.before import FORMS, Before
from tests.evolution.pairs import STEPS, after
from tests.strategies import identical

QUICK = ("add columns",)


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [pytest.param(each, marks=() if each in QUICK else pytest.mark.long) for each in STEPS],
)
def test_each_step_after_a_rowset_of_each_type_and_encoding(tmp_path: Path, step: str) -> None:
    table, expected = after(tmp_path / "t", step)
    for done in ("as written", "compacted"):
        if done == "compacted":
            table.optimize().option("min-rowsets", 2).executeCompaction()
        found = table.scan().to_arrow().sort_by("k")
        assert found.schema.equals(expected.schema), f"{step}, {done}"
        for name in expected.column_names:
            shown, wanted = (each[name].combine_chunks() for each in (found, expected))
            assert identical(shown, wanted), f"{step}, {done}: {name}, {wanted.type}"
    assert table.verify(4).is_sound


def test_the_rowsets_have_every_encoding(tmp_path: Path) -> None:
    table = Before(tmp_path / "t").table
    rowsets = table._log.rowsets.read(table._state)
    assert len(rowsets) == len(FORMS)
    found: dict[str, set[str]] = {}
    for rowset in rowsets:
        columns = [column_of(field) for field in table._state.schema.fields]
        opened = ColumnSegments(table._log.store, table._state.prefix, rowset).open(columns)
        for field, blocks in zip(table._state.schema.fields, opened, strict=True):
            assert blocks is not None
            encodings = {block.encoding for block in blocks.index.entries}
            found.setdefault(str(field.type), set()).update(encodings)
    every = {"plain", "dictionary", "constant", "null"}
    assert found["int"] == found["long"] == every | {"narrowed"}
    assert found["string"] == {"lengths", "dictionary", "constant", "null"}
    assert {"plain", "null"} <= found["double"]
