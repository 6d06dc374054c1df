"""A RowSet is invisible until its entry is committed, says where its bytes are, and leaves none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.ids import ObjectId, new_object_id
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore, ObjectStore, ObjectWriter
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write.output import RowSetOutput
from colonnade.tableformat.rowset.write_options import WriteOptions
from tests.tableformat.rowset.written import JOB, PLACES

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="n", type="long"),
        SchemaField(id=2, name="s", type="string"),
    )
)
COLUMNS = [column_of(field) for field in SCHEMA.fields]


def output(store: ObjectStore, place: str = "packed", **options: object) -> RowSetOutput:
    made = WriteOptions(**{**PLACES[place], **options})  # type: ignore[arg-type]
    return RowSetOutput(store, "t/", new_object_id(JOB), COLUMNS, made)


def arrays(first: int, count: int) -> list[list[pa.Array]]:
    """A column of numbers in one piece, and one of strings in two."""
    numbers = range(first, first + count)
    text = [f"t{each}" * (each % 5) for each in numbers]
    return [
        [pa.array(numbers, pa.int64())],
        [pa.array(text[:1], pa.string()), pa.array(text[1:], pa.string())],
    ]


def read(store: ObjectStore, entry: RowSetEntry) -> list[tuple[int, str]]:
    reader = RowSetReader(store, View.written("t/"), as_written(entry))
    batches = [batch for _, batch in reader.read(SCHEMA.fields)]
    columns = [[v for batch in batches for v in batch.column(i).to_pylist()] for i in (0, 1)]
    return list(zip(*columns, strict=True))


def names(store: ObjectStore) -> list[str]:
    return sorted(each.name for each in store.list(""))


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.sampled_from(sorted(PLACES)))
def test_rows_cuts_bytes_and_bounds_of_the_entry_are_those_of_the_rows(
    cuts: Sequence[int], place: str
) -> None:
    store = MemoryStore()
    made = output(store, place, indexed_columns=frozenset((1,)), block_rows=8)
    total = 0
    for count in cuts:
        made.add_cut(arrays(total, count), count)
        total += count
        assert made.rows == total
        assert not [name for name in names(store) if name.endswith("rowset.json")]
    entry = made.finish()
    assert read(store, entry) == [(n, f"t{n}" * (n % 5)) for n in range(total)]
    assert entry.rows == total
    ends = [sum(cuts[: i + 1]) for i in range(len(cuts))]
    if isinstance(entry.cuts, int):
        assert ends == [*range(entry.cuts, total, entry.cuts), total]
    else:
        assert list(entry.cuts) == ends
    stored = sum(each.size for each in store.list(""))
    assert entry.bytes == (stored or entry.bytes)
    assert (entry.data is not None) == (entry.place == "inline") == (not names(store))
    assert entry.statistics.keys() == {1}
    assert (entry.statistics[1].min, entry.statistics[1].max) == ("i:0", f"i:{total - 1}")


@pytest.mark.parametrize(
    ("place", "expected"),
    [(each, each) for each in ("inline", "packed", "directory")],
)
def test_the_options_decide_where_the_bytes_are(place: str, expected: str) -> None:
    store = MemoryStore()
    made = output(store, place)
    made.add_cut(arrays(0, 100), 100)
    assert made.finish().place == expected


def test_a_large_rowset_is_one_object_where_that_is_asked_for() -> None:
    made = output(MemoryStore(), "one object")
    made.add_cut(arrays(0, 100), 100)
    assert made.finish().place == "packed"


def test_where_files_are_dear_a_large_rowset_is_one_object() -> None:
    store = MemoryStore()
    store.files_are_cheap = False
    made = output(store, "directory")
    for first in range(0, 300, 100):
        made.add_cut(arrays(first, 100), 100)
    assert made.finish().place == "packed"
    assert len(names(store)) == 1


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = pa.cpu_count()
    yield pa.set_cpu_count
    pa.set_cpu_count(before)


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize("is_sorted", [True, False])
def test_the_bytes_do_not_depend_on_the_number_of_threads(
    place: str, is_sorted: bool, threads: Callable[[int], None]
) -> None:
    """The rows are so many that several threads encode their blocks."""
    count, found = 40_000, []
    for number in (1, 2, 5):
        threads(number)
        store = MemoryStore()
        options = WriteOptions(**PLACES[place], block_bytes=9_000, bloom_columns=frozenset((1,)))  # type: ignore[arg-type]
        made = RowSetOutput(store, "t/", ObjectId("0" * 32), COLUMNS, options)
        if is_sorted:
            columns = [pa.concat_arrays(each) for each in arrays(0, count)]
            order = np.random.default_rng(1).permutation(count)
            made.add_sorted(columns, pa.array(order), 7_000)
        else:
            made.add_cut(arrays(0, count), count)
        entry = made.finish()
        assert len({n for n, _ in read(store, entry)}) == count
        found.append((entry.data, {each: store.get(each) for each in names(store)}))
    assert found[0] == found[1] == found[2]


def test_a_block_that_cannot_be_encoded_in_a_thread_fails_the_write(
    threads: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(array: pa.Array, column: StoredColumn) -> Any:
        if column.id == 2:
            raise InvalidInputError("no block can hold it")
        return encode_block(array, column)

    threads(3)
    monkeypatch.setattr("colonnade.tableformat.rowset.write.output.encode_block", refuse)
    with pytest.raises(InvalidInputError, match="no block can hold it"):
        output(MemoryStore()).add_cut(arrays(0, 40_000), 40_000)


def test_added_arrays_are_released_at_once() -> None:
    made = output(MemoryStore())
    chunks = arrays(0, 10)
    made.add_cut(chunks, 10)
    assert chunks == [[], []]


def test_rows_in_another_order_are_cut_at_the_given_distance() -> None:
    store = MemoryStore()
    made = output(store)
    columns = [pa.concat_arrays(each) for each in arrays(0, 10)]
    made.add_sorted(columns, pa.array([*range(9, -1, -1)]), 4)
    entry = made.finish()
    assert [n for n, _ in read(store, entry)] == [*range(9, -1, -1)]
    assert entry.cuts == 4


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize("finished", [True, False])
def test_an_aborted_rowset_leaves_nothing(place: str, finished: bool) -> None:
    store = MemoryStore()
    made = output(store, place)
    for first in range(0, 300, 100):
        made.add_cut(arrays(first, 100), 100)
    if finished:
        made.finish()
    made.abort()
    assert names(store) == []


class Full(MemoryStore):
    """A store whose objects cannot be created."""

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        raise StoreError(f"{name} could not be written: no space.")


@pytest.mark.parametrize("place", ["packed", "directory", "one object"])
def test_a_full_disk_is_an_error_and_leaves_nothing(place: str) -> None:
    made = output(Full(), place)

    def write() -> None:
        made.add_cut(arrays(0, 100), 100)
        made.finish()

    with pytest.raises(StoreError, match="no space"):
        write()
    made.abort()


def test_a_rowset_that_was_written_without_sync_says_so_unless_the_log_holds_it() -> None:
    for place, unsynced in (("packed", True), ("inline", False)):
        made = output(MemoryStore(), place, sync=False)
        made.add_cut(arrays(0, 10), 10)
        assert made.finish().unsynced is unsynced
