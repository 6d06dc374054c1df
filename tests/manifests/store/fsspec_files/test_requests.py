"""A file system of fsspec that repeats in secret loses no commit, and doubles none."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

import pytest

from colonnade.manifests.clock import now_ms
from colonnade.manifests.epochs.slots import take_slot
from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.store import PutOutcome
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.manifests.store.fsspec_files.client import client_of
from tests.manifests.store.bucket.test_store import LANDED, NOT_LANDED, epoch
from tests.manifests.store.fsspec_files.conftest import Open
from tests.manifests.store.fsspec_files.given import Library, open_given
from tests.manifests.store.races import race
from tests.setup.http_proxy import (
    Fault,
    Proxy,
    Seen,
    condition_ignored,
    reply_dropped,
    reply_late,
    request_dropped,
    status_after,
    status_before,
)

pytestmark = pytest.mark.timeout(900)  # the first test may build the server

CREATED, EXISTS, UNKNOWN = PutOutcome.CREATED, PutOutcome.EXISTS, PutOutcome.UNKNOWN
SLOT = "_manifest/00000000000000000000.json"
OTHERS: dict[str, Fault] = {
    "412 after": status_after(412, "PreconditionFailed"),
    "412 before": status_before(412, "PreconditionFailed"),
    "409 after": status_after(409, "ConditionalRequestConflict"),
    "409 before": status_before(409, "ConditionalRequestConflict"),
    "403 after": status_after(403, "AccessDenied"),
    "400 after": status_after(400, "ExpiredToken"),
}
FAULTS = [
    pytest.param(fault, id=name, marks=pytest.mark.long if fault is reply_late else ())
    for name, fault in (LANDED | NOT_LANDED | OTHERS).items()
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_slot_is_won_by_the_epoch_that_is_in_it(
    store: FsspecStore, proxy: Proxy, library: Library, fault: Fault
) -> None:
    epochs = [epoch(number) for number in (1, 2)]
    proxy.once(fault, library.commits_by)
    first = take_slot(store, epochs[0], encode_epoch(epochs[0]), lambda pause: None)
    proxy.once(fault, library.commits_by)
    second = take_slot(store, epochs[1], encode_epoch(epochs[1]), lambda pause: None)
    assert first == second == epochs[0]
    assert store.get(SLOT) == encode_epoch(epochs[0])


@pytest.mark.slow
@pytest.mark.parametrize("fault", LANDED.values(), ids=LANDED)
def test_a_put_is_called_created_only_where_its_bytes_were_read_again(
    store: FsspecStore, proxy: Proxy, library: Library, fault: Fault
) -> None:
    proxy.once(fault, library.commits_by)
    assert store.put_if_absent(SLOT, b"mine") in (CREATED, EXISTS)
    assert store.get(SLOT) == b"mine"
    assert store.put_if_absent(SLOT, b"theirs") is EXISTS
    proxy.seen.clear()
    assert store.put_if_absent(f"{SLOT}x", b"mine") is CREATED
    assert [proxy.count(library.commits_by), proxy.count("GET")] == [1, 1]


def test_an_answer_that_says_created_does_not_count_where_other_bytes_are(
    store: FsspecStore, proxy: Proxy, library: Library
) -> None:
    assert store.put_if_absent(SLOT, b"theirs") is CREATED
    proxy.once(condition_ignored, library.commits_by)
    assert store.put_if_absent(SLOT, b"mine") is EXISTS
    assert store.get(SLOT) == b"theirs"


def test_a_refusal_leaves_the_outcome_unknown_and_writes_nothing(
    store: FsspecStore, proxy: Proxy, library: Library
) -> None:
    proxy.always(status_before(403, "AccessDenied"), library.commits_by)
    assert store.put_if_absent(SLOT, b"mine") is UNKNOWN
    with pytest.raises(StoreError, match=r"hint.json could not be written: .*"):
        store.put("a/hint.json", b"mine", sync=True)
    proxy.plan = lambda seen: None
    assert store.put_if_absent(SLOT, b"other") is CREATED


@pytest.mark.slow
def test_a_commit_is_one_request_whatever_its_size(
    store: FsspecStore, proxy: Proxy, library: Library
) -> None:
    body = secrets.token_bytes(1 << 20) * 60
    assert store.put_if_absent(SLOT, body) is CREATED
    assert [each.method for each in proxy.seen if each.method != "GET"] == [library.commits_by]


def test_a_library_that_drops_the_condition_is_refused_before_anything_is_written(
    open_at: Open, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """gcsfs does so in a zonal bucket, and s3fs where its botocore is old."""
    store = open_at(server.new_bucket())
    files = client_of(store._settings).files
    pipe_file = files.pipe_file
    monkeypatch.setattr(
        files, "pipe_file", lambda path, body, mode=None, **how: pipe_file(path, body, **how)
    )
    for write in (
        lambda: store.put_if_absent(SLOT, b"x"),
        lambda: store.put("a", b"x", sync=True),
        lambda: store.create("a", sync=True),
        store.require_writable,
    ):
        with pytest.raises(InvalidInputError, match="replaces an object .*; it needs"):
            write()
    monkeypatch.undo()
    assert list(store.list_unfinished()) == []
    assert store.put_if_absent(SLOT, b"x") is CREATED


@pytest.mark.parametrize("fault", [reply_dropped, status_before(503, "ServerBusy")])
def test_a_probe_passes_over_faults(
    open_at: Open, server: Any, proxy: Proxy, library: Library, fault: Fault
) -> None:
    store = open_at(server.new_bucket())
    proxy.once(fault, library.commits_by)
    store.require_writable()
    assert list(store.list_unfinished()) == []


@pytest.mark.parametrize("fault", [reply_dropped, request_dropped, status_before(503, "Busy")])
def test_reads_listings_and_removals_pass_over_faults(
    store: FsspecStore, proxy: Proxy, fault: Fault
) -> None:
    data = secrets.token_bytes(400_000)
    for number in range(3):
        store.put(f"t/{number}", data, sync=True)
    calls: list[tuple[str, Callable[[], bool]]] = [
        ("GET", lambda: store.get("t/0") == data),
        ("GET", lambda: store.get_range("t/0", 5, 10) == data[5:15]),
        ("GET", lambda: len(list(store.list("t/"))) == 3),
        ("DELETE", lambda: store.remove_many(["t/0"]) == {}),
        ("DELETE", lambda: store.remove_many(["t/0", "t/1"]) == {}),
    ]
    for method, call in calls:
        proxy.once(fault, method)
        assert call()
    assert [info.name for info in store.list("")] == ["t/2"]


def test_removals_that_are_refused_are_named(store: FsspecStore, proxy: Proxy) -> None:
    """The bulk deletion of s3fs says nothing of what the server has kept."""
    for number in range(3):
        store.put(f"t/{number}", b"x", sync=True)

    def plan(seen: Seen) -> Fault | None:
        denied = seen.method != "GET" and seen.path.partition("?")[0].endswith("1")
        return status_before(403, "AccessDenied") if denied else None

    proxy.plan = plan
    failed = store.remove_many([f"t/{number}" for number in range(3)])
    assert list(failed) == ["t/1"]
    assert "t/1 could not be removed" in failed["t/1"].message
    proxy.plan = lambda seen: None
    assert [info.name for info in store.list("")] == ["t/1"]


def test_dates_come_from_the_server(store: FsspecStore) -> None:
    store.put("a", b"x", sync=True)
    [listed] = store.list("")
    written, now = store.modified_ms("a"), store.date_of_write("a")
    assert listed.modified_ms is not None
    assert written is not None
    assert abs(listed.modified_ms - written) < 1000  # some requests say seconds alone
    assert now is not None
    assert abs(written - now_ms()) < 60_000
    assert -1000 < now - written < 60_000
    assert [info.name for info in store.list_all(lambda name: True)] == ["a"]


def test_the_object_of_a_killed_probe_is_unfinished_and_can_be_removed(store: FsspecStore) -> None:
    left = f"_manifest/.tmp-{'0' * 16}-00000000000000000000.json"
    store.bucket.put(store._prefix + left, b"x", if_absent=True)
    assert [info.name for info in store.list_unfinished()] == [left]
    assert list(store.list("")) == []
    store.delete_unfinished(left)
    store.delete_unfinished(left)
    assert list(store.list_unfinished()) == []


def test_a_missing_bucket_is_named(open_at: Open) -> None:
    store = open_at("no-such-bucket")
    with pytest.raises(NotFoundError, match="no-such-bucket.*/a does not exist"):
        store.get("a")
    assert list(store.list("")) == []
    with pytest.raises(StoreError, match="no-such-bucket/.*the bucket does not exist; create"):
        store.put_if_absent("a", b"x")


@pytest.mark.parametrize(("processes", "rounds"), [(2, 20), (8, 200)])
@pytest.mark.long
def test_of_racing_processes_one_wins_each_slot(
    name: str, library: Library, server: Any, bucket: str, processes: int, rounds: int
) -> None:
    path = f"{bucket}/race-{rounds}"
    won = race(f"{name} {server.url} {path}", os.environ, processes, rounds)
    store = open_given(library.make(server.url), path)
    bodies = store.read_many([f"_manifest/{slot}" for slot in range(rounds)])
    assert [bytes(body)[:1] for body in bodies] == won  # type: ignore[arg-type]
