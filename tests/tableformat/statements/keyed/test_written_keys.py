"""Keys of written rows beside RowSets: what hashes and bounds leave out has none of the keys."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import WriteSettings
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys import parts
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_set import can_be_key
from colonnade.tableformat.statements.keyed import written_keys
from colonnade.tableformat.statements.keyed.new_keys import NewKeys, new_keys
from colonnade.tableformat.statements.keyed.written_keys import WrittenKeys
from colonnade.tableformat.statements.statement import write_batches
from tests.compaction_tables import live, new
from tests.examples_of import examples
from tests.strategies import PRIMITIVES, make_batch
from tests.tableformat.statements.tables import another, made, rows

KEYS = [text for text in PRIMITIVES if can_be_key(SchemaField(name="k", type=text))]


@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 3], ids=["one part", "many parts"])
@settings(max_examples=examples(40), deadline=None)
@given(
    types=st.lists(st.sampled_from(KEYS), min_size=1, max_size=2),
    written=st.integers(1, 20),
    stored=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_no_rowset_with_one_of_the_keys_is_left_out(
    part_rows: int, types: list[str], written: int, stored: list[int], seed: int
) -> None:
    fields = (SchemaField(name=f"k{n}", type=text, nullable=False) for n, text in enumerate(types))
    key = assign_ids(TableSchema(fields=tuple(fields)), 1)[0]
    rng, table = random.Random(seed), new(key, ())
    every = [make_batch(key, count, rng.randrange(2**32)) for count in (written, *stored)]
    batch, *others = every
    for other in others:
        shared = batch.filter(pa.array([rng.random() < 0.2 for _ in range(batch.num_rows)]))
        table.append(pa.Table.from_batches([other, shared] if rng.random() < 0.5 else [other]))
    store, state, rowsets = table._log.store, table._state, live(table)
    entries = write_batches(table._log, state, new_job_id(), [batch])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", part_rows)
        keys = WrittenKeys(store, state, key, entries)
        expected = {
            (found.rowset.id, part.shown(int(part.firsts[at])))
            for part in keys
            for found in find_rows(store, View.stored(state, rowsets), part.keys)
            for at in found.keys
        }
        seen = {
            (found.rowset.id, part.shown(int(part.firsts[at])))
            for part, near in keys.beside(rowsets)
            for found in find_rows(store, View.stored(state, near), part.keys)
            for at in found.keys
        }
        kept = {each.id for each in table._log.rowsets.read(state, keys.keep)}
    assert seen == expected
    assert {number for number, _ in expected} <= kept


def test_many_keys_are_read_again_only_beside_a_rowset_that_may_have_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = made(key=["id"])
    table.append(rows(7))
    rival, late = another(table), [rows(5, 205)]
    asked: list[list[int]] = []

    def counted(*given: Any) -> Iterator[NewKeys]:
        asked.append(given[-1])
        if late:
            rival.append(late.pop())  # Its own keys are one part, and are asked for, too.
        return new_keys(*given)

    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(written_keys, "new_keys", counted)
    table.append(rows(*range(10, 110)))
    assert asked == [[*range(10)], [0], []]
    asked.clear()
    late.append(rows(6, 208))
    chosen = WriteSettings(on_duplicate="ignore")
    table.append(rows(*range(300, 399), 208), settings=chosen)
    assert [len(each) for each in asked] == [10, 1, 1]
    assert table.scan().to_arrow().num_rows == 204
