"""What every store must do. A new store that writes is one more entry in `STORES`."""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import (
    AlreadyExistsError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropDatabase
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore, PutOutcome, open_store
from colonnade.manifests.store.cache.options import cache_of
from colonnade.manifests.store.cache.store import CachedStore
from tests.faults import FaultyStore
from tests.log_samples import change, table


def _parallel(store: ObjectStore) -> ObjectStore:
    store.parallel = 8
    return store


def _cached(store: ObjectStore, folder: Path) -> ObjectStore:
    cache = cache_of({"cache": str(folder)}, store.url)
    assert cache is not None
    return CachedStore(store, cache)


STORES: dict[str, Callable[[Path], ObjectStore]] = {
    "local": lambda folder: LocalStore(folder / "new" / "db"),
    "memory": lambda folder: MemoryStore(),
    "side by side": lambda folder: _parallel(MemoryStore()),
    "cached": lambda folder: _cached(MemoryStore(), folder / "cache"),
    "faulty without faults": lambda folder: FaultyStore(MemoryStore()),
}
SLOT = "_manifest/00000000000000000000.json"
LATER = "_manifest/00000000000000000077.json"

FORGED = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../x",
    "a/../b",
    "a/./b",
    "a//b",
    "a/",
    ".hidden",
    "a/.tmp-0123456789abcdef-b",
    "a\\b",
    "a b",
    "a\n",
    "a\0",
    "a*",
    "ä",
    "-a",
    "x" * 201,
    "/".join("a" * 9),
    "s3://bucket/a",
]

CALLS: dict[str, Callable[[ObjectStore, str], object]] = {
    "get": lambda store, name: store.get(name),
    "get_range": lambda store, name: store.get_range(name, 0, 1),
    "get_ranges": lambda store, name: store.get_ranges(name, []),
    "put_if_absent": lambda store, name: store.put_if_absent(name, b"x"),
    "put": lambda store, name: store.put(name, b"x", sync=False),
    "create": lambda store, name: store.create(name, sync=False),
    "delete": lambda store, name: store.delete(name),
    "read_many": lambda store, name: store.read_many(["a", name]),
    "remove_many": lambda store, name: store.remove_many(["a", name]),
    "remove_folder": lambda store, name: store.remove_folder(name),
}


BUCKETS = {"minio": "s3", "gcs": "gs", "azurite": "az", "fake_hdfs": "hdfs", "hdfs": "hdfs"}
"""The servers of tests, each with its scheme."""

SERVERS = [
    pytest.param(name, marks=pytest.mark.long) if name == "hdfs" else name for name in BUCKETS
]


@pytest.fixture(scope="module")
def new_root() -> Callable[[Any], str]:
    """Returns a new folder of a bucket of a server; all folders of a server have one bucket."""
    buckets: dict[int, str] = {}

    def root(server: Any) -> str:
        bucket = buckets.setdefault(id(server), "") or server.new_bucket()
        buckets[id(server)] = bucket
        return f"{bucket}/a b%20ü/{secrets.token_hex(8)}"

    return root


@pytest.fixture(params=[*STORES, *SERVERS])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, new_root: Callable[[Any], str]
) -> ObjectStore:
    if request.param in STORES:
        return STORES[request.param](tmp_path)
    server = request.getfixturevalue(request.param)
    return open_store(f"{BUCKETS[request.param]}://{new_root(server)}", server.options())


@pytest.fixture(params=STORES)
def without_logs(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """Each store where a drop leaves no log."""
    return STORES[request.param](tmp_path)


def names(store: ObjectStore, prefix: str = "") -> list[str]:
    return sorted(info.name for info in store.list(prefix))


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


def test_what_is_absent_is_not_found_by_name(store: ObjectStore) -> None:
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
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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


def test_a_forged_range_takes_no_memory_and_no_byte_from_elsewhere(store: ObjectStore) -> None:
    store.put_if_absent("a", b"12345")
    with pytest.raises(CorruptionError):
        store.get_range("a", 0, 1 << 50)
    for offset, length in ((-1, 1), (0, -1), (4, -2)):
        with pytest.raises(InvalidInputError):
            store.get_range("a", offset, length)


def refuses(store: ObjectStore, call: str, name: str) -> bool:
    try:
        CALLS[call](store, name)
    except InvalidInputError:
        return True
    return False


@pytest.mark.parametrize("call", CALLS)
def test_a_forged_name_is_refused_by_every_call(store: ObjectStore, call: str) -> None:
    assert [name for name in FORGED if not refuses(store, call, name)] == []
    assert names(store) == []


@pytest.mark.parametrize("prefix", ["/", "../", "a//", ".tmp-"])
def test_a_forged_prefix_is_refused_before_the_first_item(store: ObjectStore, prefix: str) -> None:
    with pytest.raises(InvalidInputError):
        store.list(prefix)


def test_a_streamed_object_appears_whole_when_closed(store: ObjectStore) -> None:
    for sync in (True, False):
        name = f"t/{sync}.rowset"
        with store.create(name, sync=sync) as writer:
            writer.write(b"one ")
            writer.write(memoryview(b"two"))
            assert names(store, name) == []
            with pytest.raises(NotFoundError):
                store.get(name)
        assert store.get(name) == b"one two"
        writer.close()
        writer.abort()
        assert store.get(name) == b"one two"
        with pytest.raises(InvalidInputError, match="no longer"):
            writer.write(b"three")


def test_a_streamed_object_that_fails_leaves_nothing(store: ObjectStore) -> None:
    def fail_midway() -> None:
        with store.create("t/a.rowset", sync=True) as writer:
            writer.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_midway()
    assert names(store) == []
    with store.create("t/a.rowset", sync=True) as writer:
        writer.write(b"whole")
    assert store.get("t/a.rowset") == b"whole"


def test_a_streamed_object_never_replaces_another(store: ObjectStore) -> None:
    early = store.create("t/a.rowset", sync=True)
    early.write(b"early")
    store.put_if_absent("t/a.rowset", b"taken")
    with (
        pytest.raises(AlreadyExistsError, match=r"t/a\.rowset"),
        store.create("t/a.rowset", sync=True) as late,
    ):
        late.write(b"late")
    with pytest.raises(AlreadyExistsError, match=r"t/a\.rowset"):
        early.close()
    assert store.get("t/a.rowset") == b"taken"
    assert names(store) == ["t/a.rowset"]


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


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let threads interrupt each other nearly everywhere."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("sync", [True, False])
def test_objects_that_are_closed_together_are_all_there_and_whole(
    store: ObjectStore, sync: bool
) -> None:
    bodies = {f"t/{i % 3}/{i}": bytes([i]) * 5000 for i in range(40)}
    writers = [store.create(name, sync=sync) for name in bodies]
    for writer, body in zip(writers, bodies.values(), strict=True):
        writer.write(body)
    store.close_all(writers)
    assert {name: store.get(name) for name in bodies} == bodies
    store.close_all(writers)  # as `close` does nothing after `close`
    assert not list(store.list_unfinished())


def test_objects_that_are_closed_together_never_replace_one(store: ObjectStore) -> None:
    writers = [store.create(f"t/{i}", sync=True) for i in range(5)]
    for writer in writers:
        writer.write(b"mine")
    store.put("t/2", b"theirs", sync=False)
    with pytest.raises(AlreadyExistsError, match="t/2"):
        store.close_all(writers)
    assert store.get("t/2") == b"theirs"
    assert all(store.get(each.name) == b"mine" for each in store.list("t/") if each.name != "t/2")
    assert not list(store.list_unfinished())
    for writer in writers:
        with pytest.raises(InvalidInputError):
            writer.write(b"more")


@pytest.mark.usefixtures("eager_switching")
def test_of_racing_threads_exactly_one_creates_a_name(store: ObjectStore) -> None:
    rounds, racers = 60, 4
    created: list[tuple[int, int]] = []
    start = threading.Barrier(racers, timeout=10)

    def race(racer: int) -> None:
        for slot in range(rounds):
            start.wait()
            if store.put_if_absent(f"s/{slot}", bytes([racer]) * 4096) is PutOutcome.CREATED:
                created.append((slot, racer))

    _run_all([threading.Thread(target=race, args=(racer,)) for racer in range(racers)])
    assert sorted(slot for slot, _ in created) == list(range(rounds))
    for slot, racer in created:
        assert store.get(f"s/{slot}") == bytes([racer]) * 4096


@pytest.mark.usefixtures("eager_switching")
def test_of_racing_writers_exactly_one_publishes_a_name(store: ObjectStore) -> None:
    rounds, racers = 20, 3
    published: list[int] = []
    start = threading.Barrier(racers, timeout=10)

    def race() -> None:
        for slot in range(rounds):
            start.wait()
            try:
                with store.create(f"s/{slot}", sync=False) as writer:
                    writer.write(b"x")
                published.append(slot)
            except AlreadyExistsError:
                pass

    _run_all([threading.Thread(target=race) for _ in range(racers)])
    assert sorted(published) == list(range(rounds))


@pytest.mark.usefixtures("eager_switching")
def test_a_reader_never_sees_part_of_an_object(store: ObjectStore) -> None:
    bodies = {bytes([digit]) * 300_000 for digit in range(1, 4)}
    store.put("hint", min(bodies), sync=False)
    over = threading.Event()
    torn: list[int] = []

    def read() -> None:
        while not over.is_set():
            torn.extend(len(data) for data in [store.get("hint")] if data not in bodies)
            for info in store.list("s/"):
                data = store.get(info.name)
                torn.extend({info.size, len(data)} - {300_000})
                torn.extend(len(data) for _ in range(data not in bodies))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(15):
            for body in bodies:
                store.put("hint", body, sync=False)
            store.put_if_absent(f"s/{number % 5}", max(bodies))
    finally:
        over.set()
        reader.join()
    assert torn == []


def _run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("server", SERVERS)
def test_a_late_epoch_meets_the_end_of_a_log_that_a_bucket_keeps(
    server: str, request: pytest.FixtureRequest, new_root: Callable[[Any], str]
) -> None:
    """A bucket cannot refuse a name for want of a folder. So a drop never frees a slot."""
    place = request.getfixturevalue(server)
    store = open_store(f"{BUCKETS[server]}://{new_root(place)}", place.options())
    assert store.keeps_logs
    log, state = Log(store), create_database(store, lone_table=False)
    for number in range(3):
        state = log.commit(change(table(f"{number:016x}", f"t{number}")), state)
    assert drop_database(log, cascade=True)
    end = state.epoch + 1
    last = decode_slot(store.get(epoch_name(end)), end, "the end")
    assert isinstance(last, Epoch)
    assert isinstance(last.ops[0], DropDatabase)
    for number in range(end + 1):
        assert store.put_if_absent(epoch_name(number), b"late") is PutOutcome.EXISTS
    with pytest.raises(NotFoundError, match=f"was dropped in epoch {end}"):
        log.commit(change(table("f" * 16, "late")), state)
    with pytest.raises(AlreadyExistsError, match="A bucket keeps its log"):
        create_database(store, lone_table=False)
    assert log.is_dropped()


def test_no_epoch_but_the_first_begins_a_log(without_logs: ObjectStore) -> None:
    store = without_logs
    assert not store.keeps_logs
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(LATER, b"x")
    store.put_if_absent("a", b"x")
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(LATER, b"x")
    assert [info.name for info in store.list("")] == ["a"]
    store.put_if_absent(SLOT, b"x")
    assert store.put_if_absent(LATER, b"x") is PutOutcome.CREATED
    store.delete(SLOT)
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(LATER.replace("77", "78"), b"x")


def test_the_hint_and_marks_are_put_only_where_a_log_is(store: ObjectStore) -> None:
    hint, mark = "_manifest/hint.json", f"_manifest/freed-{'0' * 12}-{0:020}.json"
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put(hint, b"x", sync=False)
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(mark, b"x")
    assert names(store) == []
    store.put_if_absent(SLOT, b"x")
    store.put(hint, b"x", sync=False)
    assert store.put_if_absent(mark, b"x") is PutOutcome.CREATED
