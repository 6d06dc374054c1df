"""Keys that are kept in memory are those of the table, whatever has happened to it since."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade import DropPrimaryKey, SetPrimaryKey, WidenColumn, WriteSettings
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys import find
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.kept_keys import KeptKeys, read_all_keys
from colonnade.tableformat.keys.key_set import KeySet, key_columns
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.statements.tables import another, made

ROWS = 3_000
INT_64 = np.iinfo(np.int64)
DAY = date(1969, 1, 1)

KEYS: dict[str, list[pa.Array]] = {
    "long": [pa.array(range(0, 2 * ROWS, 2), pa.int64())],
    "all of long": [pa.array([INT_64.min, INT_64.max, *range(ROWS - 2)], pa.int64())],
    "negative short": [pa.array(range(-ROWS, 0), pa.int16())],
    "date": [pa.array([DAY + timedelta(n) for n in range(ROWS)])],
    "timestamp": [pa.array([n * 10**9 - 10**12 for n in range(ROWS)], pa.timestamp("us"))],
    "two": [
        pa.array([n % 7 - 3 for n in range(ROWS)], pa.int8()),
        pa.array([n // 7 * 1_000_003 for n in range(ROWS)], pa.int64()),
    ],
    "one value beside all of long": [
        pa.array([-7] * ROWS, pa.int64()),
        pa.array([INT_64.min, INT_64.max, *range(ROWS - 2)], pa.int64()),
    ],
    "two that do not fit": [
        pa.array([INT_64.min + n for n in range(ROWS)], pa.int64()),
        pa.array([INT_64.max * (n % 2) for n in range(ROWS)], pa.int64()),
    ],
    "text": [pa.array([f"key {n}" for n in range(ROWS)])],
    "text and long": [
        pa.array([f"key {n % 5}" for n in range(ROWS)]),
        pa.array(range(ROWS), pa.int64()),
    ],
}


class CountingStore(MemoryStore):
    """A store that counts the bytes that are read."""

    read_bytes = 0

    def get_ranges(self, name: str, ranges: Any) -> Any:
        self.read_bytes += sum(length for _, length in ranges)
        return super().get_ranges(name, ranges)


def _found(table: ArrowTable, asked: pa.Table) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Return the RowSet and the row of each key that the table has."""
    state = table._refresh().tables[table._state.id]
    names = asked.column_names
    keys = KeySet.of(asked, key_columns(names, state.schema))
    rowsets = table._log.rowsets.read(state, keys.may_match)
    rows = asked.to_pylist()
    places: dict[tuple[Any, ...], tuple[int, int]] = {}
    for each in find_rows(table._log.store, View.stored(state, rowsets), keys):
        assert (np.diff(each.rows) > 0).all()
        for row, number in zip(each.rows.tolist(), each.keys.tolist(), strict=True):
            key = tuple(rows[number].values())
            assert key not in places
            places[key] = each.rowset.id, row
    return places


def _expected(table: ArrowTable, asked: pa.Table) -> set[tuple[Any, ...]]:
    names = asked.column_names
    live = {tuple(row.values()) for row in table.scan(names).to_arrow().to_pylist()}
    return live & {tuple(row.values()) for row in asked.to_pylist()}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("sorted_by", ["key", "other"])
def test_a_second_search_finds_the_rows_that_the_first_one_finds(kind: str, sorted_by: str) -> None:
    columns = KEYS[kind]
    names = [f"k{at}" for at in range(len(columns))]
    rows = pa.table([*columns, pa.array(range(ROWS), pa.int64())], [*names, "other"])
    order = np.random.default_rng(1).permutation(ROWS)
    mine = order[: ROWS * 3 // 4]
    other: dict[str, Any] = {"sort_key": ["other"]} if sorted_by == "other" else {}
    table = made(MemoryStore(), rows.schema, key=names, **other)
    table.append(rows.take(pa.array(mine[:1_500])))
    table.append(rows.take(pa.array(mine[1_500:])))
    asked = rows.select(names).take(pa.array(order[: ROWS // 4].tolist() + order[-700:].tolist()))
    first = _found(table, asked)
    assert set(first) == _expected(table, asked)
    assert first
    assert _found(table, asked) == first


def test_a_second_search_reads_no_keys() -> None:
    store = CountingStore()
    rows = pa.table({"id": pa.array(range(100_000), pa.int64())})
    table = made(store, rows.schema, key=["id"])
    table.append(rows)
    asked = rows.take(pa.array(range(0, 100_000, 100)))
    found = []
    for _ in range(2):
        before = store.read_bytes
        assert len(_found(table, asked)) == 1_000
        found.append(store.read_bytes - before)
    assert found[1] * 10 < found[0], found


def test_a_table_that_is_opened_again_reads_no_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"id": pa.array(range(1_000), pa.int64())})
    colonnade.create(tmp_path, rows.schema, primary_key=["id"]).append(rows)
    found = _found(colonnade.open(tmp_path), rows)
    monkeypatch.setattr(find, "read_all_keys", None)
    assert _found(colonnade.open(tmp_path), rows) == found
    assert len(found) == 1_000


@pytest.mark.slow
def test_rows_that_changed_since_are_where_they_are_now() -> None:
    chance = random.Random(3)
    first = _spared(range(40_000), 0, pa.int32())
    table = made(MemoryStore(), first.schema, key=["id"], sort_key=["n"])
    table.append(first)
    for turn in range(12):
        kind = pa.int32() if turn < 6 else pa.int64()
        table.upsert(_spared(chance.sample(range(80_000), 800), turn, kind))
        if turn == 2:
            table.delete("n = 1")
        if turn == 3:
            # While it is no key, values of the column are replaced, and rows stay where they are.
            table.alter(DropPrimaryKey())
            table.update({"id": "spare", "spare": "id"})
            table.alter(SetPrimaryKey("id"))
            rowsets = table._log.rowsets.read(table._state)
            assert any(each.replacements for each in rowsets)
        if turn == 5:
            table.alter(WidenColumn("id", "long"), WidenColumn("spare", "long"))
        if turn == 9:
            table.optimize().option("min-rowsets", 2).executeCompaction()
        kind = pa.int32() if turn < 5 else pa.int64()
        asked = pa.table({"id": pa.array(chance.sample(range(280_000), 30_000), kind)})
        assert set(_found(table, asked)) == _expected(table, asked)
    ids = table.scan(["id"]).to_arrow()["id"].to_pylist()
    assert len(ids) == len(set(ids))


def _spared(ids: Sequence[int], n: int, kind: pa.DataType) -> pa.Table:
    """Rows with another key that no row has."""
    spare = [each + 200_000 for each in ids]
    columns = {"id": pa.array(ids, kind), "spare": pa.array(spare, kind), "n": [n] * len(ids)}
    return pa.table({**columns, "text": [str(hash((each, n))) for each in ids]})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_writers_with_kept_keys_hold_what_a_dictionary_holds(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few keys are kept, too. Each of three handles keeps what it has read."""
    monkeypatch.setattr("colonnade.tableformat.keys.key_set._LISTED_KEYS", 0)
    chance = random.Random(seed)
    schema = pa.schema([("k", pa.int32()), ("id", pa.int64()), ("n", pa.int64())])
    key = chance.choice((["id"], ["k", "id"], ["id", "k"]))
    first = made(
        schema=schema,
        key=key,
        sort_key=chance.choice((key, ["n"])),
        properties={"merge.n": "add"},
    )
    handles = [first, another(first), another(first)]
    model: dict[tuple[int, int], int] = {}
    epochs: dict[int, dict[tuple[int, int], int]] = {}
    for _ in range(25):
        table = chance.choice(handles)
        table.refresh()
        rows = _random_rows(chance)
        keys = [*zip(rows["k"].to_pylist(), rows["id"].to_pylist(), strict=True)]
        match chance.randrange(7):
            case 0:
                table.append(rows, settings=WriteSettings(on_duplicate="ignore"))
                for each, n in zip(keys, rows["n"].to_pylist(), strict=True):
                    model.setdefault(each, n)
            case 1:
                table.delete_keys(rows.select(key))
                model = {each: n for each, n in model.items() if each not in keys}
            case 2:
                table.update({"id": 1000 + len(epochs)}, f"id = {keys[0][1]} AND k = {keys[0][0]}")
                if keys[0] in model:
                    model[keys[0][0], 1000 + len(epochs)] = model.pop(keys[0])
            case 3:
                table.optimize().option("min-rowsets", 2).executeCompaction()
            case 4 if epochs:
                epoch = chance.choice([*epochs])
                table.restore(epoch=epoch)
                model = dict(epochs[epoch])
            case _:
                table.upsert(rows)
                for each, n in zip(keys, rows["n"].to_pylist(), strict=True):
                    model[each] = model.get(each, 0) + n
        epochs[table.refresh().epoch] = dict(model)
        found = table.scan().to_arrow().to_pylist()
        assert {(row["k"], row["id"]): row["n"] for row in found} == model
        assert len(found) == len(model)


def _random_rows(chance: random.Random) -> pa.Table:
    """Rows whose `k` follows from their `id`, so that each of the two is a key."""
    ids = chance.sample(range(120), chance.choice((1, 5, 60)))
    columns = [[i % 5 for i in ids], ids, [chance.randrange(9) for _ in ids]]
    return pa.table([pa.array(columns[0], pa.int32()), *columns[1:]], ["k", "id", "n"])


def test_keys_of_another_database_with_the_same_names_are_not_mixed_up() -> None:
    for count in (1_000, 2_000):
        rows = pa.table({"id": pa.array(range(0, count * 2, 2), pa.int64())})
        table = made(MemoryStore(), rows.schema, key=["id"])
        table.append(rows)
        asked = pa.table({"id": pa.array(range(4_000), pa.int64())})
        assert len(_found(table, asked)) == len(_found(table, asked)) == count


def test_kept_keys_take_no_more_than_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptKeys(10_000)
    monkeypatch.setattr(find, "_KEPT", kept)
    schema = pa.schema([("id", pa.int64())])
    table = made(MemoryStore(), schema, key=["id"])
    for part in range(8):
        table.append(pa.table({"id": pa.array(range(part, 8_000, 8), pa.int64())}))
    asked = pa.table({"id": pa.array(range(8_000), pa.int64())})
    for _ in range(3):
        assert len(_found(table, asked)) == 8_000
        assert 4_000 < kept.byte_count <= 10_000


def test_keys_that_are_used_stay_and_others_make_room() -> None:
    tables = [_one(range(part, 4_000, 4)) for part in range(3)]
    kept = KeptKeys(tables[0][3].nbytes * 2)
    for store, rowset, keys, numbers in tables[:2]:
        kept.begin_search()
        kept.keep(store, rowset, keys, numbers)
    kept.keep(*tables[2])
    assert [kept.get(*each[:3]) is None for each in tables] == [False, False, True]
    for _ in range(9):
        kept.begin_search()
        assert kept.get(*tables[1][:3]) is not None
    kept.keep(*tables[2])
    assert [kept.get(*each[:3]) is None for each in tables] == [True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["whole numbers", "texts", "two columns"])
def test_a_search_for_few_keys_opens_only_small_rowsets_that_may_have_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(kind)

    def rows(numbers: Sequence[int]) -> pa.Table:
        texts = pa.array([f"key {number}" for number in numbers])
        columns: dict[str, Any] = {"whole numbers": {"a": [*numbers]}, "texts": {"a": texts}}
        return pa.table(columns.get(kind) or {"a": [1] * len(numbers), "b": texts})

    first = rows([0])
    table = made(MemoryStore(), first.schema, key=first.column_names)
    numbers = chance.sample(range(10**9), 1_200)
    for at in range(0, 1_200, 30):
        table.append(rows(numbers[at : at + 30]))
    for _ in range(2):
        # The first search reads them all, but for those whose bounds rule the keys out.
        assert len(_found(table, rows(numbers[::40]))) == 30
    opened: list[object] = []

    def reader(*args: Any) -> RowSetReader:
        opened.append(args)
        return RowSetReader(*args)

    monkeypatch.setattr(find, "RowSetReader", reader)
    absent = [number + 10**9 for number in numbers[:20]]
    assert not _found(table, rows([*absent, 5 * 10**8]))
    assert not opened
    assert len(_found(table, rows([numbers[7], *absent]))) == 1
    assert len(opened) <= 1


@pytest.mark.parametrize("nullable", [False, True])
def test_hashes_of_keys_leave_out_rows_with_null(nullable: bool) -> None:
    texts = ["a", "b", None if nullable else "c"]
    rows = pa.table({"k": pa.array(texts)})
    table = made(MemoryStore(), rows.schema)
    table.append(rows)
    for asked in (["b", "x"], ["x", "y"], ["b"]):
        expected = {(each,) for each in asked if each in texts}
        assert set(_found(table, pa.table({"k": asked}))) == expected


@pytest.mark.slow
def test_the_time_to_keep_keys_does_not_grow_with_those_that_are_kept() -> None:
    store, rowset, keys, numbers = _one(range(10))
    entries = [
        replace(rowset, entry=rowset.entry.model_copy(update={"object": f"{at:032x}"}))
        for at in range(3_000)
    ]

    def seconds_each(count: int) -> float:
        kept = KeptKeys()
        before = time.process_time()
        for each in entries[:count]:
            kept.keep(store, each, keys, numbers)
        return (time.process_time() - before) / count

    few = min(seconds_each(300) for _ in range(3))
    assert min(seconds_each(3_000) for _ in range(3)) < 4 * few


def _one(ids: range) -> tuple[Any, ...]:
    """A table of one RowSet: its store, the RowSet, a key, and the keys of the RowSet."""
    store, schema = MemoryStore(), pa.schema([("id", pa.int64())])
    table = made(store, schema, key=["id"])
    rows = pa.table({"id": pa.array(ids, pa.int64())})
    table.append(rows)
    keys = KeySet.of(rows, key_columns(["id"], table._state.schema))
    [rowset] = table._log.rowsets.read(table._state)
    reader = RowSetReader(table._log.store, View.written(table._state.prefix), rowset)
    return table._log.store, rowset, keys, read_all_keys(reader, rowset, keys.fields)
