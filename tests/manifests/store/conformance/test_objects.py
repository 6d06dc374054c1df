"""What every store must do with objects that are put, read, listed and deleted."""

from __future__ import annotations

import secrets
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.store import ObjectStore, PutOutcome
from tests.examples_of import examples
from tests.manifests.store.conformance.stores import SLOT, names


def test_windows_are_read_in_turn_into_one_buffer(store: ObjectStore) -> None:
    store.put("a/b", b"0123456789", sync=False)
    buffer = bytearray(b"....")
    windows = store.read_windows("a/b", [(3, 4), (0, 2), (5, 0), (7, 4)], memoryview(buffer))
    assert [bytes(next(windows)) for _ in range(3)] == [b"3456", b"01", b""]
    assert buffer == b"0156"
    with pytest.raises(CorruptionError, match="truncated"):
        next(windows)
    with pytest.raises(NotFoundError):
        list(store.read_windows("a/c", [(0, 1)], memoryview(buffer)))


def test_no_object_is_called_unfinished(store: ObjectStore) -> None:
    store.put("a/b", b"x", sync=False)
    store.put("c", b"x", sync=False)
    assert list(store.list_unfinished()) == []
    with pytest.raises(InvalidInputError):
        store.delete_unfinished("a/b")
    assert names(store) == ["a/b", "c"]


def test_one_listing_has_what_both_listings_have(store: ObjectStore) -> None:
    for name in (SLOT, "a/b", "a/x/c", "d"):
        store.put_if_absent(name, b"abc")
    both = [*store.list(""), *store.list_unfinished()]
    assert sorted(store.list_all(lambda name: True)) == sorted(both)
    few = {info.name: info for info in store.list_all(lambda name: name == "a/b")}
    assert sorted(few) == sorted(info.name for info in both)
    assert few["a/b"] in both


def test_a_store_that_writes_says_so(store: ObjectStore) -> None:
    store.require_writable()
    assert not store.read_only


def test_the_first_put_of_a_name_wins_and_stays(store: ObjectStore) -> None:
    assert store.put_if_absent(SLOT, b"first") is PutOutcome.CREATED
    assert store.put_if_absent(SLOT, b"second") is PutOutcome.EXISTS
    assert store.get(SLOT) == b"first"


def test_a_put_replaces_the_whole_object(store: ObjectStore) -> None:
    for data in (b"a long first body", b"short"):
        for sync in (True, False):
            store.put("_manifest/h.json", data, sync=sync)
            assert store.get("_manifest/h.json") == data


def test_a_body_may_be_a_view_of_wider_items(store: ObjectStore) -> None:
    view = memoryview(bytes(range(16))).cast("q")
    store.put_if_absent("a", view)
    store.put("b", view, sync=False)
    with store.create("c", sync=False) as writer:
        writer.write(view)
    assert {store.get(name) for name in "abc"} == {bytes(range(16))}


def test_an_empty_body_is_refused(store: ObjectStore) -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        store.put_if_absent(SLOT, b"")
    with pytest.raises(InvalidInputError, match="empty"):
        store.put(SLOT, b"", sync=True)
    assert names(store) == []


def test_an_absent_object_is_not_found_by_name(store: ObjectStore) -> None:
    store.put_if_absent("there/a", b"x")
    for name in ("a", "there/b", "nowhere/a"):
        with pytest.raises(NotFoundError, match=f"{name} does not exist"):
            store.get(name)
        with pytest.raises(NotFoundError, match=name):
            store.get_range(name, 0, 1)


def test_an_object_above_the_limit_is_refused(store: ObjectStore) -> None:
    store.put_if_absent(SLOT, b"12345")
    assert store.get(SLOT, limit=5) == b"12345"
    with pytest.raises(CorruptionError, match=SLOT):
        store.get(SLOT, limit=4)


@given(
    data=st.binary(min_size=1, max_size=40),
    ranges=st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)), max_size=5),
)
@example(data=b"x", ranges=[(0, 1), (2, 0)])
@example(data=b"x", ranges=[])
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_ranges_are_exact_slices_or_an_error(
    store: ObjectStore, data: bytes, ranges: list[tuple[int, int]]
) -> None:
    name = f"a/{secrets.token_hex(8)}.col"  # an object of a table never gets other bytes
    store.put(name, data, sync=False)
    if any(offset + length > len(data) for offset, length in ranges):
        with pytest.raises(CorruptionError, match=rf"{name} is truncated"):
            store.get_ranges(name, ranges)
    else:
        expected = [data[offset : offset + length] for offset, length in ranges]
        assert list(store.get_ranges(name, ranges)) == expected
        assert [store.get_range(name, *one) for one in ranges] == expected


def test_a_listing_holds_every_object_of_the_prefix_and_no_other(store: ObjectStore) -> None:
    objects = {
        "ab/1.col",
        "ab/1.idx",
        "ab/c/2.col",
        "abc.rowset",
        "b.dv",
        "_manifest/h.json",
    }
    before = time.time_ns() // 1_000_000
    for name in objects:
        store.put_if_absent(name, name.encode())
    for prefix in ("", "a", "ab", "ab/", "ab/1", "ab/c", "abc", "z", "z/", "b.dv", "b.dv/", "_"):
        assert names(store, prefix) == sorted(n for n in objects if n.startswith(prefix)), prefix
    for info in store.list(""):
        assert info.size == len(info.name)
        assert info.modified_ms is not None
        # File systems date by a coarse clock that may lag a tick behind, and Azure in seconds.
        assert before - 1000 <= info.modified_ms <= time.time_ns() // 1_000_000


def test_a_listing_of_nothing_is_empty(store: ObjectStore) -> None:
    assert names(store) == []
    assert names(store, "nowhere/") == []


def test_a_deleted_name_is_free_again_and_deleting_twice_is_fine(store: ObjectStore) -> None:
    store.delete("t/a")
    store.put_if_absent("t/a", b"1")
    store.delete("t/a")
    store.delete("t/a")
    with pytest.raises(NotFoundError):
        store.get("t/a")
    assert store.put_if_absent("t/a", b"2") is PutOutcome.CREATED


def test_many_objects_are_read_at_once_each_with_its_own_result(store: ObjectStore) -> None:
    wanted = [f"a/{number}" for number in range(20)]
    for number, name in enumerate(wanted):
        if number % 3:
            store.put(name, b"x" * number, sync=False)
    results = store.read_many(wanted, limit=15)
    assert len(results) == 20
    for number, found in enumerate(results):
        if number % 3 == 0:
            assert isinstance(found, NotFoundError)
        elif number > 15:
            assert isinstance(found, CorruptionError)
        else:
            assert found == b"x" * number
    assert store.read_many([]) == []


def test_many_objects_are_removed_at_once_also_where_some_are_absent(store: ObjectStore) -> None:
    for number in range(20):
        store.put(f"a/{number}", b"x", sync=False)
    assert store.remove_many([f"a/{number}" for number in range(1, 30)]) == {}
    assert names(store) == ["a/0"]
    assert store.remove_many([]) == {}


def test_removing_a_folder_removes_no_object(store: ObjectStore) -> None:
    store.remove_folder("t/o")
    store.put_if_absent("t/o/a", b"1")
    store.remove_folder("t/o")
    store.remove_folder("t")
    assert store.get("t/o/a") == b"1"
    store.delete("t/o/a")
    store.remove_folder("t/o")
    assert store.put_if_absent("t/o/a", b"2") is PutOutcome.CREATED
