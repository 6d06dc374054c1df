"""The keys of RowSets are told part by part, and compared with RowSets that may have them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import WriteSettings
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys import key_parts as module
from colonnade.tableformat.keys import parts
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_parts import KeyPart, WrittenKeys, key_parts, repeated_keys
from colonnade.tableformat.keys.key_set import can_be_key, key_schema
from colonnade.tableformat.statements.statement import write_batches
from tests.compaction_tables import live, new
from tests.examples_of import examples
from tests.strategies import PRIMITIVES, make_batch
from tests.tableformat.statements.tables import another, made, rows

SCHEMA = pa.schema(
    [
        pa.field("a", pa.float64(), nullable=False),
        pa.field("b", pa.string(), nullable=False),
        pa.field("v", pa.int64()),
    ]
)
KEYS = st.lists(st.tuples(st.sampled_from([-0.0, 0.0, 1.5]), st.sampled_from("xy")), max_size=9)


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 2])
@settings(max_examples=examples(40), deadline=None)
@given(written=st.lists(KEYS.filter(bool), max_size=3))
def test_every_row_is_in_one_part_under_the_number_of_its_key(
    part_rows: int, written: list[list[tuple[float, str]]]
) -> None:
    table = made(schema=SCHEMA, key=["a", "b"], sort_key=["v"])
    state, store = table._state, table._log.store
    entries: list[RowSetEntry] = []
    for keys in written:
        a, b = zip(*keys, strict=True)
        rows = pa.table([a, b, range(len(keys))], SCHEMA).to_batches()
        entries += write_batches(table._log, state, new_job_id(), rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", part_rows)
        view = View.stored(state, map(as_written, entries))
        found = list(key_parts(store, view, key_schema(state)))
    seen = {}
    for part in found:
        for row in range(part.rows.num_rows):
            place = (int(part.places[0][row]), int(part.places[1][row]))
            key = tuple(column[row].as_py() for column in part.rows.columns)
            assert key == written[place[0]][place[1]]
            seen[place] = key
            first = int(part.firsts[part.numbers[row]])
            assert tuple(column[first].as_py() for column in part.rows.columns) == key
        assert len(part.firsts) == len(part.keys.codes[-1])
        assert set(part.repeated) == set(range(part.rows.num_rows)) - set(part.firsts.tolist())
    assert len(seen) == sum(map(len, written))
    assert sum(len(part.firsts) for part in found) == len({k for keys in written for k in keys})


def test_nan_is_no_key() -> None:
    table = made(schema=SCHEMA, key=["a", "b"])
    with pytest.raises(InvalidInputError, match="Column 'a' is a key and is NaN"):
        table.append(pa.table([[float("nan")], ["x"], [1]], SCHEMA))
    with pytest.raises(InvalidInputError, match="more than one new row has the key a = -?0.0"):
        table.append(pa.table([[0.0, -0.0], ["x", "x"], [1, 2]], SCHEMA))
    table.append(pa.table([[0.0], ["x"], [1]], SCHEMA))
    with pytest.raises(InvalidInputError, match="a row of the table has the key a = -0.0"):
        table.append(pa.table([[-0.0], ["x"], [1]], SCHEMA))


def test_one_look_tells_that_many_rows_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(module, "key_parts", None)
    table = made(schema=SCHEMA, key=["a", "b"])
    rows = [[float(n) for n in range(100)], ["x"] * 100, [1] * 100]
    table.append(pa.table(rows, SCHEMA))
    table.overwrite(pa.table(rows, SCHEMA))
    assert table.scan().to_arrow().num_rows == 100
    with pytest.raises(InvalidInputError, match="NaN"):
        table.overwrite(pa.table([[float("nan")] * 100, *rows[1:]], SCHEMA))


TYPES = [text for text in PRIMITIVES if can_be_key(SchemaField(name="k", type=text))]


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 3], ids=["one part", "many parts"])
@settings(max_examples=examples(40), deadline=None)
@given(
    types=st.lists(st.sampled_from(TYPES), min_size=1, max_size=2),
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
            (found.rowset.id, part.text(int(part.firsts[at])))
            for part in keys
            for found in find_rows(store, View.stored(state, rowsets), part.keys)
            for at in found.keys
        }
        seen = {
            (found.rowset.id, part.text(int(part.firsts[at])))
            for part, near in keys.near(rowsets)
            for found in find_rows(store, View.stored(state, near), part.keys)
            for at in found.keys
        }
        kept = {each.id for each in table._log.rowsets.read(state, keys.may_match)}
    assert seen == expected
    assert {number for number, _ in expected} <= kept


def test_many_keys_are_read_again_only_beside_a_rowset_that_may_have_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = made(key=["id"])
    table.append(rows(7))
    rival, late = another(table), [rows(5, 205)]
    asked: list[list[int]] = []

    def counted(*given: Any) -> Iterator[KeyPart]:
        asked.append(given[-1])
        if late:
            rival.append(late.pop())  # Its own keys are one part, and are asked for, too.
        return key_parts(*given)

    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(module, "key_parts", counted)
    table.append(rows(*range(10, 110)))
    assert asked == [[*range(10)], [0], []]
    asked.clear()
    late.append(rows(6, 208))
    chosen = WriteSettings(on_duplicate="ignore")
    table.append(rows(*range(300, 399), 208), settings=chosen)
    assert [len(each) for each in asked] == [10, 1, 1]
    assert table.scan().to_arrow().num_rows == 204


PLAIN = pa.schema([pa.field("k", pa.int64(), nullable=False), ("v", pa.int64())])


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 2])
@settings(max_examples=25, deadline=None)
@given(
    batches=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), max_size=3),
    deleted=st.integers(0, 5),
)
def test_keys_that_live_rows_share_are_found(
    part_rows: int, batches: list[list[int]], deleted: int
) -> None:
    table = made(schema=PLAIN)
    for each in batches:
        table.append(pa.table([each, each], PLAIN))
    table.delete(f"k = {deleted}")
    counts = Counter(k for each in batches for k in each if k != deleted)
    key = TableSchema(fields=table._state.schema.fields[:1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", part_rows)
        rowsets = table._log.rowsets.read(table._state)
        found = list(repeated_keys(table._log.store, View.stored(table._state, rowsets), key))
    assert {each.text: each.rows for each in found} == {
        f"k = {k}": n for k, n in counts.items() if n > 1
    }
    for key_of_rows in found:
        holding = [b for b in batches if int(key_of_rows.text[4:]) in b]
        assert len(key_of_rows.rowsets) == len(holding)
