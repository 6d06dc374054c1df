"""A map in pages holds what was put into it, at a bounded cost in bytes and objects."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.checkpoint.paged_map import PageTable, decode_table, encode_table
from colonnade.manifests.checkpoint.stored_map import StoredMap, write_map
from colonnade.manifests.errors import ColonnadeError, CorruptionError, NotFoundError
from colonnade.manifests.ids import new_job_id, new_object_id
from colonnade.manifests.model.map_ref import IntegerArray, MapRef
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore

KEYS = st.text(min_size=1, max_size=8)
CHANGES = st.dictionaries(KEYS, st.none() | st.integers(0, 2**53) | st.text(max_size=40))


def writer(store: MemoryStore) -> Callable[[bytes], str]:
    job = new_job_id()

    def write(data: bytes) -> str:
        name = new_object_id(job)
        store.put(checkpoint_name(name), data, sync=True)
        return name

    return write


@pytest.mark.slow
@given(st.lists(CHANGES, max_size=12))
def test_a_map_holds_what_a_dict_with_the_same_changes_holds(
    rounds: list[dict[str, object]],
) -> None:
    store, model, table = MemoryStore(), dict[str, object](), None
    for changes in rounds:
        table = write_map(store, table, changes, writer(store), 128)
        model.update(changes)
        model = {key: value for key, value in model.items() if value is not None}
        table = decode_table(encode_table(table), "root")
        stored = StoredMap(store, table)
        assert dict(stored.items()) == model
        assert len(stored) == len(model)
        assert all(stored.get(key) == model.get(key) for key in (*model, *changes, "absent"))


@pytest.mark.slow
def test_bytes_and_objects_of_a_map_stay_bounded_while_it_changes_for_ever() -> None:
    store, table, chance = MemoryStore(), None, random.Random(1)
    for _ in range(400):
        changes = {str(chance.randrange(3000)): chance.randrange(10**6) for _ in range(8)}
        table = write_map(store, table, changes, writer(store), 128)
        stored = sum(bundle.length for bundle in table.bundles)
        assert stored <= 2 * table.byte_count
        assert len(table.bundles) <= 2 + table.byte_count.bit_length()
        assert int(table.lengths.max()) < 8 * 128


def test_looking_for_one_entry_of_many_costs_one_small_read() -> None:
    store = MemoryStore()
    table = write_map(store, None, {str(i): i for i in range(20_000)}, writer(store), 128)
    watched = FaultyStore(store)
    assert StoredMap(watched, table).get("777") == 777
    assert len(watched.trace) == 1
    assert int(table.lengths.max()) < 16 * 128


def test_every_flipped_bit_of_a_page_is_detected() -> None:
    store = MemoryStore()
    table = write_map(store, None, {"a": 1, "b": [2, {"c": "d"}]}, writer(store), 128)
    name = checkpoint_name(table.bundles[0].object)
    data = store.get(name)
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        store.put(name, bytes(damaged), sync=False)
        with pytest.raises(ColonnadeError):
            StoredMap(store, table).get("a")
    store.put(name, data[:-1], sync=False)
    with pytest.raises(CorruptionError):
        StoredMap(store, table).get("a")
    store.delete(name)
    with pytest.raises(NotFoundError):
        StoredMap(store, table).get("a")


def test_a_damaged_page_is_never_copied_into_a_new_bundle() -> None:
    store = MemoryStore()
    first = write_map(store, None, {str(i): i for i in range(200)}, writer(store), 128)
    name = checkpoint_name(first.bundles[0].object)
    data = bytearray(store.get(name))
    data[-5] ^= 1
    store.put(name, bytes(data), sync=False)

    def change_all() -> None:
        table: PageTable = first
        for low in range(0, 200, 20):
            changes = {str(i): i + 1 for i in range(low, low + 20)}
            table = write_map(store, table, changes, writer(store), 128)

    with pytest.raises(CorruptionError):
        change_all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"pages": 3},
        {"bundle_indexes": IntegerArray(type="const", base="1")},
        {"offsets": IntegerArray(type="const", base="-1")},
        {"offsets": IntegerArray(type="const", base="1")},
        {"lengths": IntegerArray(type="const", base="100000")},
        {"bundles": ()},
    ],
)
def test_a_reference_to_impossible_pages_is_refused(wrong: dict[str, object]) -> None:
    store = MemoryStore()
    table = write_map(store, None, {"a": 1}, writer(store), 128)
    ref: MapRef = encode_table(table).model_copy(update=wrong)
    with pytest.raises(CorruptionError):
        decode_table(ref, "root")
