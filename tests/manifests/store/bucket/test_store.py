"""A bad network loses no commit, doubles none, and treats none as another writer's.

`s3/test_failures.py` holds S3 to the same promises.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from colonnade.manifests.epochs.slots import take_slot
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    InvalidInputError,
    StoreError,
)
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CreateDatabase
from colonnade.manifests.store import PutOutcome, open_store
from colonnade.manifests.store.azure import upload as azure_upload
from colonnade.manifests.store.bucket.store import BucketStore
from colonnade.manifests.store.gcs import upload as gcs_upload
from colonnade.manifests.store.hdfs import upload as hdfs_upload
from tests.setup.azurite import Azurite
from tests.setup.gcs_sessions import SessionProxy
from tests.setup.http_proxy import (
    Fault,
    Proxy,
    Seen,
    condition_ignored,
    reply_cut,
    reply_dropped,
    reply_late,
    request_dropped,
    status_after,
    status_before,
)

pytestmark = pytest.mark.timeout(900)  # the first test may build the server

CREATED, EXISTS, UNKNOWN = PutOutcome.CREATED, PutOutcome.EXISTS, PutOutcome.UNKNOWN
SLOT = "_manifest/00000000000000000000.json"

PART = 256 << 10
"""Bytes of a part in these tests: the fewest that GCS allows, since many objects are streamed."""

LANDED: dict[str, Fault] = {
    "reply dropped": reply_dropped,
    "reply late": reply_late,
    "reply cut": reply_cut,
    "500 after": status_after(500, "InternalError"),
    "503 after": status_after(503, "ServerBusy"),
}
NOT_LANDED: dict[str, Fault] = {
    "request dropped": request_dropped,
    "500 before": status_before(500, "InternalError"),
    "503 before": status_before(503, "ServerBusy"),
    "429 before": status_before(429, "TooManyRequests"),
}
FAULTS = [
    # The default run waits for a late reply only after a put and after a read.
    pytest.param(fault, marks=pytest.mark.long if fault is reply_late else (), id=name)
    for name, fault in (LANDED | NOT_LANDED).items()
]
FEW_FAULTS = [
    # Other faults of these calls reach the same code: an answer that comes, or one that does not.
    pytest.param(
        fault,
        marks=()
        if name in ("reply dropped", "503 after", "request dropped", "503 before")
        else pytest.mark.long,
        id=name,
    )
    for name, fault in (LANDED | NOT_LANDED).items()
]


class Kind(NamedTuple):
    """A kind of bucket: its server, how it is reached, and how it writes."""

    server: str
    scheme: str
    proxy: Callable[[int], Proxy]
    at: Callable[[str], dict[str, Any]]
    """The storage options that name a server by its URL."""
    times: dict[str, Any]
    commits_by: str
    denied: str
    repeats_parts: bool = True
    """Whether a large object survives that one of its parts is lost."""


KINDS = {
    "gcs": Kind(
        server="gcs",
        scheme="gs",
        proxy=SessionProxy,
        at=lambda url: {"endpoint_url": url},
        times={"read_timeout": 1, "connect_timeout": 1},
        commits_by="POST",
        denied="permission denied; the credentials need storage.objects.create",
    ),
    "azure": Kind(
        server="azurite",
        scheme="az",
        proxy=Proxy,
        at=Azurite.at,
        times={"read_timeout": 1, "connection_timeout": 1},
        commits_by="PUT",
        denied="permission denied; the credentials need the role Storage Blob Data Contributor",
    ),
    "hdfs": Kind(
        server="fake_hdfs",
        scheme="hdfs",
        proxy=Proxy,
        at=lambda url: {"http_address": url},
        times={"read_timeout": 1, "connect_timeout": 1},
        commits_by="PUT op=RENAME",
        denied="permission denied; the user needs permission to write",
        repeats_parts=False,
    ),
}


@pytest.fixture(scope="module", autouse=True)
def small_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for upload in (gcs_upload, azure_upload, hdfs_upload):
            patch.setattr(upload, "PART", PART)
        yield


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture(scope="module")
def server(kind: Kind, request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(kind.server)


@pytest.fixture(scope="module")
def proxy(kind: Kind, server: Any) -> Iterator[Proxy]:
    made = kind.proxy(server.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def bucket(server: Any) -> str:
    return str(server.new_bucket())


Open = Callable[..., BucketStore]


@pytest.fixture
def open_at(kind: Kind, server: Any, proxy: Proxy, bucket: str) -> Open:
    """Opens a new folder of a bucket through the proxy."""

    def opened(bucket: str = bucket, **options: Any) -> BucketStore:
        url = f"{kind.scheme}://{bucket}/{secrets.token_hex(4)}"
        given = {"patience": 20, **kind.times, **options}
        store = open_store(url, {**server.options(), **kind.at(proxy.url), **given})
        assert isinstance(store, BucketStore)
        return store

    return opened


@pytest.fixture
def store(open_at: Open, proxy: Proxy) -> Iterator[BucketStore]:
    proxy.plan = lambda seen: None
    made = open_at()
    made.require_writable()
    yield made
    proxy.plan = lambda seen: None


@pytest.mark.parametrize("fault", LANDED.values(), ids=LANDED)
def test_a_put_that_landed_without_an_answer_meets_itself(
    store: BucketStore, proxy: Proxy, kind: Kind, fault: Fault
) -> None:
    proxy.once(fault, kind.commits_by)
    assert store.put_if_absent(SLOT, b"mine") is EXISTS
    assert store.get(SLOT) == b"mine"


@pytest.mark.parametrize("fault", NOT_LANDED.values(), ids=NOT_LANDED)
def test_a_put_that_did_not_land_is_sent_again(
    store: BucketStore, proxy: Proxy, kind: Kind, fault: Fault
) -> None:
    proxy.once(fault, kind.commits_by)
    assert store.put_if_absent(SLOT, b"mine") is CREATED
    assert store.get(SLOT) == b"mine"


@pytest.mark.slow
@pytest.mark.parametrize("fault", LANDED.values(), ids=LANDED)
def test_a_put_without_any_answer_has_an_unknown_outcome_and_landed(
    open_at: Open, proxy: Proxy, kind: Kind, server: Any, store: BucketStore, fault: Fault
) -> None:
    # Its own client, because a client remembers that a server was silent.
    store = open_at(patience=1.5 + list(LANDED.values()).index(fault) / 100)
    proxy.always(fault, kind.commits_by)
    assert store.put_if_absent(SLOT, b"mine") in (UNKNOWN, EXISTS)
    assert open_store(store.url, server.options()).get(SLOT) == b"mine"


def test_a_refusal_is_an_error_and_nothing_is_written(
    store: BucketStore, proxy: Proxy, kind: Kind
) -> None:
    proxy.always(status_before(403, "AuthorizationPermissionMismatch"), kind.commits_by)
    with pytest.raises(StoreError, match=kind.denied):
        store.put_if_absent(SLOT, b"mine")
    proxy.plan = lambda seen: None
    assert store.put_if_absent(SLOT, b"other") is CREATED


def test_a_refusal_after_a_lost_answer_leaves_the_outcome_unknown(
    store: BucketStore, proxy: Proxy, kind: Kind
) -> None:
    faults = iter([reply_dropped, status_before(403, "AuthenticationFailed")])
    proxy.plan = lambda seen: next(faults, None) if seen.matches(kind.commits_by) else None
    assert store.put_if_absent(SLOT, b"mine") is UNKNOWN
    assert store.get(SLOT) == b"mine"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_slot_is_won_by_the_epoch_that_is_in_it(
    store: BucketStore, proxy: Proxy, kind: Kind, fault: Fault
) -> None:
    epochs = [epoch(number) for number in (1, 2)]
    proxy.once(fault, kind.commits_by)
    first = take_slot(store, epochs[0], encode_epoch(epochs[0]), lambda pause: None)
    proxy.once(fault, kind.commits_by)
    second = take_slot(store, epochs[1], encode_epoch(epochs[1]), lambda pause: None)
    assert first == second == epochs[0]
    assert store.get(SLOT) == encode_epoch(epochs[0])


def epoch(number: int) -> Epoch:
    return Epoch(
        epoch=0,
        transaction=f"{number:032x}",
        base=0,
        time_ms=0,
        operation="create_database",
        engine="test",
        ops=(CreateDatabase(database=f"{number:016x}", slot_block=4),),
    )


@pytest.mark.parametrize("fault", FEW_FAULTS)
@pytest.mark.parametrize("parts", [0, 2])
def test_a_streamed_object_is_whole_after_a_fault_at_any_request(
    store: BucketStore, proxy: Proxy, kind: Kind, fault: Fault, parts: int
) -> None:
    data = secrets.token_bytes(1000) * (parts * PART // 1000 + 1)
    for number in range(1, 5 if parts else 2):
        seen = [0]

        def plan(request: Seen, seen: list[int] = seen, number: int = number) -> Fault | None:
            seen[0] += request.method in ("PUT", "POST")
            return fault if request.method in ("PUT", "POST") and seen[0] == number else None

        proxy.plan = plan
        try:
            with store.create(f"t/{number}", sync=True) as writer:
                writer.write(data)
        except StoreError:
            assert parts
            assert not kind.repeats_parts
            assert list(store.list(f"t/{number}")) == []
        else:
            assert store.get(f"t/{number}") == data
        assert seen[0] >= min(number, 3)


def test_a_streamed_object_that_is_refused_is_not_there(
    store: BucketStore, proxy: Proxy, kind: Kind
) -> None:
    for size in (10, 8 * PART):
        writer = store.create("t/a", sync=True)
        refusal = status_before(403, "AuthorizationPermissionMismatch")
        proxy.plan = lambda seen, refusal=refusal: (  # type: ignore[misc]
            refusal if seen.method in ("PUT", "POST") else None
        )
        with pytest.raises(StoreError, match=kind.denied), writer:
            writer.write(b"x" * size)
        proxy.plan = lambda seen: None
        assert list(store.list("")) == []


def test_a_name_that_another_writer_took_is_never_replaced(
    store: BucketStore, proxy: Proxy, kind: Kind
) -> None:
    store.put("t/a", b"theirs", sync=True)
    for size in (10, PART + 10):
        proxy.once(reply_dropped, "PUT")
        writer = store.create("t/a", sync=True)
        with pytest.raises(AlreadyExistsError, match="t/a exists already"), writer:
            writer.write(b"x" * size)
        assert store.get("t/a") == b"theirs"


@pytest.mark.parametrize("fault", (LANDED | NOT_LANDED).values(), ids=LANDED | NOT_LANDED)
def test_reads_and_listings_pass_over_faults(
    store: BucketStore, proxy: Proxy, fault: Fault
) -> None:
    data = secrets.token_bytes(400_000)
    store.put("t/a", data, sync=True)
    proxy.once(fault, "GET")
    assert store.get("t/a") == data
    proxy.once(fault, "GET")
    assert list(store.get_ranges("t/a", [(5, 10), (390_000, 20)])) == [
        data[5:15],
        data[390000:390020],
    ]
    proxy.once(fault, "GET")
    assert [info.name for info in store.list("")] == ["t/a"]


@pytest.mark.parametrize("fault", FEW_FAULTS)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_removals_pass_over_faults(
    store: BucketStore, proxy: Proxy, fault: Fault, method: str
) -> None:
    for number in range(5):
        store.put(f"t/{number}", b"x", sync=True)
    proxy.once(fault, method)
    store.delete("t/0")
    assert store.remove_many([f"t/{number}" for number in range(4)]) == {}
    assert [info.name for info in store.list("")] == ["t/4"]


def test_a_body_that_is_always_cut_is_an_error_that_may_pass(
    open_at: Open, store: BucketStore, proxy: Proxy
) -> None:
    store = open_at(patience=1)
    store.put("a", b"x" * 100_000, sync=True)
    proxy.always(reply_cut, "GET")
    with pytest.raises(StoreError) as failed:
        store.get("a")
    assert failed.value.retryable


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_an_error_soon(kind: Kind, server: Any) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(64)
        place = kind.at(f"http://127.0.0.1:{deaf.getsockname()[1]}")
        options = {**server.options(), **place, **kind.times, "patience": 1}
        store = open_store(f"{kind.scheme}://bucket/db", options)
        began = time.monotonic()
        with pytest.raises(ColonnadeError):
            store.put_if_absent(SLOT, b"x")
        with pytest.raises(StoreError, match="did not answer in time") as failed:
            store.get(SLOT)
        # Once the server is known to be silent, calls do not wait for it one after another.
        for _ in range(20):
            with pytest.raises(StoreError):
                store.get(SLOT)
        assert time.monotonic() - began < 12
        assert failed.value.retryable


@pytest.mark.slow
def test_a_server_that_is_not_there_is_an_error_soon(kind: Kind, server: Any) -> None:
    options = {**server.options(), **kind.at("http://127.0.0.1:9"), "patience": 1}
    store = open_store(f"{kind.scheme}://bucket/db", options)
    began = time.monotonic()
    with pytest.raises(StoreError, match="cannot be reached; check"):
        store.put_if_absent(SLOT, b"x")
    assert time.monotonic() - began < 6


@pytest.mark.slow
def test_a_server_that_ignores_the_condition_is_refused_before_anything_is_written(
    open_at: Open, server: Any, proxy: Proxy, kind: Kind
) -> None:
    store = open_at(server.new_bucket())
    proxy.plan = lambda seen: condition_ignored if seen.matches(kind.commits_by) else None
    for write in (
        lambda: store.put_if_absent(SLOT, b"x"),
        lambda: store.put("a", b"x", sync=True),
        lambda: store.create("a", sync=True),
        store.require_writable,
    ):
        with pytest.raises(InvalidInputError, match="replaces an object .*; it needs"):
            write()
    proxy.always(status_before(501, "NotImplemented"), kind.commits_by)
    with pytest.raises(InvalidInputError, match="refuses conditional writes"):
        store.put_if_absent(SLOT, b"x")
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []
    assert store.put_if_absent(SLOT, b"x") is CREATED


def test_a_server_that_checks_the_condition_too_early_is_refused(
    open_at: Open, server: Any, proxy: Proxy, kind: Kind
) -> None:
    store = open_at(server.new_bucket())
    tries = [0]

    def plan(seen: Seen) -> Fault | None:
        if not seen.matches(kind.commits_by):
            return None
        tries[0] += 1
        return condition_ignored if tries[0] > 2 else None

    proxy.plan = plan
    with pytest.raises(InvalidInputError, match="several concurrent writers"):
        store.require_writable()
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", FEW_FAULTS)
def test_a_probe_passes_over_faults(
    open_at: Open, server: Any, proxy: Proxy, kind: Kind, fault: Fault
) -> None:
    store = open_at(server.new_bucket())
    proxy.once(fault, kind.commits_by)
    store.require_writable()
    before = len(proxy.seen)
    store.require_writable()
    assert len(proxy.seen) == before, "a bucket is probed once"
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []


def test_no_message_holds_a_secret_or_a_text_of_the_server(
    store: BucketStore, proxy: Proxy, server: Any
) -> None:
    for status in (400, 401, 403, 418):
        proxy.always(status_before(status, "Strange"), "GET")
        with pytest.raises(StoreError) as refused:
            store.get("t/a")
        shown = f"{refused.value.message} {store!r} {store.bucket!r} {store.address!r}"
        assert "t/a" in refused.value.message
        assert "canary" not in shown
        assert "127.0.0.1" not in shown
