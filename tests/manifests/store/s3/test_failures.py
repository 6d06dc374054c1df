"""A bad network loses no commit, doubles none, and treats none as another writer's."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Iterator
from typing import Any

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
from colonnade.manifests.store import PutOutcome
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.upload import PART
from tests.setup.http_proxy import (
    Fault,
    Handler,
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
from tests.setup.minio import KEY, SECRET, Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server

CREATED, EXISTS, UNKNOWN = PutOutcome.CREATED, PutOutcome.EXISTS, PutOutcome.UNKNOWN
SLOT = "_manifest/00000000000000000000.json"
TIMES = {"patience": 20, "config_kwargs": {"read_timeout": 1, "connect_timeout": 1}}

LANDED: dict[str, Fault] = {
    "reply dropped": reply_dropped,
    "reply late": reply_late,
    "reply cut": reply_cut,
    "500 after": status_after(500, "InternalError"),
    "503 after": status_after(503, "SlowDown"),
}
NOT_LANDED: dict[str, Fault] = {
    "request dropped": request_dropped,
    "500 before": status_before(500, "InternalError"),
    "503 before": status_before(503, "SlowDown"),
    "429 before": status_before(429, "TooManyRequests"),
    "409 before": status_before(409, "ConditionalRequestConflict"),
    "400 before": status_before(400, "RequestTimeout"),
}


@pytest.fixture
def store(minio: Minio, proxy: Proxy, bucket: str) -> Iterator[S3Store]:
    made = store_of(minio, proxy, bucket)
    made.require_writable()
    yield made
    proxy.plan = lambda seen: None


def store_of(minio: Minio, proxy: Proxy, bucket: str, **options: Any) -> S3Store:
    place = minio.options(endpoint_url=proxy.url, **{**TIMES, **options})
    return S3Store(f"s3://{bucket}/{secrets.token_hex(4)}", place)


@pytest.mark.parametrize("fault", LANDED.values(), ids=LANDED)
def test_a_put_that_landed_without_an_answer_meets_itself(
    store: S3Store, proxy: Proxy, fault: Fault
) -> None:
    proxy.once(fault, "PUT")
    assert store.put_if_absent(SLOT, b"mine") is EXISTS
    assert store.get(SLOT) == b"mine"


@pytest.mark.parametrize("fault", NOT_LANDED.values(), ids=NOT_LANDED)
def test_a_put_that_did_not_land_is_sent_again(store: S3Store, proxy: Proxy, fault: Fault) -> None:
    proxy.once(fault, "PUT")
    assert store.put_if_absent(SLOT, b"mine") is CREATED
    assert store.get(SLOT) == b"mine"


@pytest.mark.slow
@pytest.mark.parametrize("fault", LANDED.values(), ids=LANDED)
def test_a_put_without_any_answer_has_an_unknown_outcome_and_landed(
    minio: Minio, bucket: str, proxy: Proxy, store: S3Store, fault: Fault
) -> None:
    store = store_of(minio, proxy, bucket, patience=1 if fault is reply_late else 1.5)
    store.require_writable()
    proxy.always(fault, "PUT")
    assert store.put_if_absent(SLOT, b"mine") in (UNKNOWN, EXISTS)
    proxy.plan = lambda seen: None
    assert S3Store(store.url, minio.options()).get(SLOT) == b"mine"


def test_a_refusal_is_an_error_and_nothing_is_written(store: S3Store, proxy: Proxy) -> None:
    proxy.always(status_before(403, "AccessDenied"), "PUT")
    with pytest.raises(StoreError, match="permission denied; the credentials need s3:PutObject"):
        store.put_if_absent(SLOT, b"mine")
    proxy.plan = lambda seen: None
    assert store.put_if_absent(SLOT, b"other") is CREATED


@pytest.mark.parametrize("code", ["AccessDenied", "ExpiredToken"])
def test_a_put_that_a_gateway_refused_after_it_was_done_meets_itself(
    store: S3Store, proxy: Proxy, code: str
) -> None:
    proxy.once(status_after(403, code), "PUT")
    assert store.put_if_absent(SLOT, b"mine") is EXISTS
    proxy.once(status_after(403, code), "PUT")
    with pytest.raises(StoreError):
        store.put_if_absent(SLOT, b"other")
    assert store.get(SLOT) == b"mine"


@pytest.mark.long
def test_an_answer_that_comes_a_minute_late_is_given_up_and_the_commit_found(
    minio: Minio, proxy: Proxy, bucket: str
) -> None:
    store = store_of(minio, proxy, bucket, config_kwargs={})  # the usual time limits

    def a_minute_late(handler: Handler, body: bytes) -> None:
        answer = handler.pass_on(body)
        time.sleep(60)
        handler.answer(*answer)

    store.require_writable()
    proxy.once(a_minute_late, "PUT")
    began = time.monotonic()
    assert store.put_if_absent(SLOT, b"mine") is EXISTS
    assert time.monotonic() - began < 30
    assert store.get(SLOT) == b"mine"


def test_a_refusal_after_a_lost_answer_leaves_the_outcome_unknown(
    store: S3Store, proxy: Proxy
) -> None:
    faults = iter([reply_dropped, status_before(403, "ExpiredToken")])
    proxy.plan = lambda seen: next(faults, None) if seen.method == "PUT" else None
    assert store.put_if_absent(SLOT, b"mine") is UNKNOWN
    assert store.get(SLOT) == b"mine"


@pytest.mark.parametrize("fault", (LANDED | NOT_LANDED).values(), ids=LANDED | NOT_LANDED)
def test_a_slot_is_won_by_the_epoch_that_is_in_it(
    store: S3Store, proxy: Proxy, fault: Fault
) -> None:
    epochs = [epoch(number) for number in (1, 2)]
    proxy.once(fault, "PUT")
    first = take_slot(store, epochs[0], encode_epoch(epochs[0]), lambda pause: None)
    proxy.once(fault, "PUT")
    second = take_slot(store, epochs[1], encode_epoch(epochs[1]), lambda pause: None)
    assert first == epochs[0]
    assert second == epochs[0]
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


@pytest.mark.parametrize("fault", (LANDED | NOT_LANDED).values(), ids=LANDED | NOT_LANDED)
@pytest.mark.parametrize("size", [100, 2 * PART + 100])
def test_a_streamed_object_is_whole_after_a_fault_at_any_request(
    store: S3Store, proxy: Proxy, fault: Fault, size: int
) -> None:
    data = secrets.token_bytes(1000) * (size // 1000 + 1)
    for method, number in (("PUT", 1), ("POST", 1), ("POST", 2)):
        seen = [0]

        def plan(
            request: Seen, seen: list[int] = seen, method: str = method, number: int = number
        ) -> Fault | None:
            seen[0] += request.method == method
            return fault if request.method == method and seen[0] == number else None

        proxy.plan = plan
        name = f"t/{method}{number}"
        with store.create(name, sync=True) as writer:
            writer.write(data)
        assert store.get(name) == data


def test_a_streamed_object_that_is_refused_leaves_no_upload(store: S3Store, proxy: Proxy) -> None:
    writer = store.create("t/a", sync=True)
    proxy.always(status_before(403, "AccessDenied"), "PUT")
    with pytest.raises(StoreError, match="s3:PutObject"):
        writer.write(b"x" * 8 * PART)
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []
    assert list(store.list("")) == []


def test_a_name_that_another_writer_took_is_never_replaced(store: S3Store, proxy: Proxy) -> None:
    store.put("t/a", b"theirs", sync=True)
    for size in (10, PART + 10):
        proxy.once(reply_dropped, "PUT")
        writer = store.create("t/a", sync=True)
        with pytest.raises(AlreadyExistsError, match="t/a exists already"), writer:
            writer.write(b"x" * size)
        assert store.get("t/a") == b"theirs"
    assert list(store.list_unfinished()) == []


@pytest.mark.parametrize("fault", (LANDED | NOT_LANDED).values(), ids=LANDED | NOT_LANDED)
def test_reads_and_listings_pass_over_faults(store: S3Store, proxy: Proxy, fault: Fault) -> None:
    data = secrets.token_bytes(100_000)
    store.put("t/a", data, sync=True)
    proxy.once(fault, "GET")
    assert store.get("t/a") == data
    proxy.once(fault, "GET")
    assert list(store.get_ranges("t/a", [(5, 10), (50_000, 20)])) == [data[5:15], data[50000:50020]]
    proxy.once(fault, "GET")
    assert [info.name for info in store.list("")] == ["t/a"]


def test_a_body_that_is_cut_is_an_error_that_may_pass_whatever_is_handled_meanwhile(
    store: S3Store, proxy: Proxy
) -> None:
    store.put("t/a", b"x" * 1000, sync=True)
    proxy.always(status_before(403, "AccessDenied"), "PUT")
    try:
        store.put("t/b", b"x", sync=True)
    except StoreError:
        proxy.once(reply_cut, "GET")
        assert store.get("t/a") == b"x" * 1000
    else:
        pytest.fail("the put was not refused")


def test_a_body_that_is_always_cut_is_an_error_that_may_pass(
    minio: Minio, bucket: str, proxy: Proxy
) -> None:
    proxy.plan = lambda seen: None
    store = store_of(minio, proxy, bucket, patience=1)
    store.put("t/a", b"x" * 100_000, sync=True)
    proxy.always(reply_cut, "GET", "t/a")
    with pytest.raises(StoreError, match="the answer broke off") as failed:
        store.get("t/a")
    proxy.plan = lambda seen: None
    assert failed.value.retryable


SENTENCES = {
    (403, "AccessDenied"): "permission denied; the credentials need s3:GetObject",
    (403, "InvalidAccessKeyId"): "does not know the access key",
    (403, "SignatureDoesNotMatch"): "the secret key is wrong",
    (400, "ExpiredToken"): "the credentials have expired",
    (403, "RequestTimeTooSkewed"): "the clock of this machine is wrong",
    (404, "NoSuchBucket"): "the bucket does not exist",
    (400, "AuthorizationHeaderMalformed"): "the region is wrong",
    (418, "Strange"): "the server refused it .HTTP 418, Strange",
}


@pytest.mark.parametrize("answer", SENTENCES, ids=str)
def test_a_refusal_is_one_sentence_without_secrets(
    store: S3Store, proxy: Proxy, answer: tuple[int, str]
) -> None:
    proxy.always(status_before(*answer), "GET")
    with pytest.raises(StoreError, match=SENTENCES[answer]) as refused:
        store.get("t/a")
    assert "t/a" in refused.value.message
    assert not refused.value.retryable
    for secret in (KEY + " ", SECRET, "canary", "Signature="):
        assert secret not in f"{refused.value.message} {store!r}"


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_an_error_soon(minio: Minio) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(64)
        options = minio.options(endpoint_url=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        store = S3Store("s3://bucket/db", {**options, **TIMES, "patience": 1})
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


def test_a_server_that_is_not_there_is_an_error_soon(minio: Minio) -> None:
    store = S3Store("s3://bucket/db", minio.options(endpoint_url="http://127.0.0.1:9", patience=1))
    began = time.monotonic()
    with pytest.raises(StoreError, match="cannot be reached; check endpoint_url"):
        store.put_if_absent(SLOT, b"x")
    assert time.monotonic() - began < 6


def test_a_server_that_ignores_the_condition_is_refused_before_anything_is_written(
    minio: Minio, proxy: Proxy
) -> None:
    bucket = minio.new_bucket()
    store = store_of(minio, proxy, bucket)
    proxy.plan = lambda seen: condition_ignored if seen.method == "PUT" else None
    for write in (
        lambda: store.put_if_absent(SLOT, b"x"),
        lambda: store.put("a", b"x", sync=True),
        lambda: store.create("a", sync=True),
        store.require_writable,
    ):
        with pytest.raises(InvalidInputError, match="replaces an object .* 'If-None-Match: [*]'"):
            write()
    proxy.always(status_before(501, "NotImplemented"), "PUT")
    with pytest.raises(InvalidInputError, match="refuses conditional writes"):
        store.put_if_absent(SLOT, b"x")
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []
    assert store.put_if_absent(SLOT, b"x") is CREATED


def test_a_server_that_checks_the_condition_too_early_is_refused(
    minio: Minio, proxy: Proxy
) -> None:
    store = store_of(minio, proxy, minio.new_bucket())
    first: list[str] = []

    def plan(seen: Seen) -> Fault | None:
        if seen.method != "PUT":
            return None
        first.append(seen.path)
        return None if seen.path == first[0] else condition_ignored

    proxy.plan = plan
    with pytest.raises(InvalidInputError, match="several concurrent writers"):
        store.require_writable()
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []


@pytest.mark.parametrize("fault", (LANDED | NOT_LANDED).values(), ids=LANDED | NOT_LANDED)
def test_a_probe_passes_over_faults(minio: Minio, proxy: Proxy, fault: Fault) -> None:
    store = store_of(minio, proxy, minio.new_bucket())
    proxy.once(fault, "PUT")
    store.require_writable()
    before = proxy.count("PUT")
    store.require_writable()
    assert proxy.count("PUT") == before, "a bucket is probed once"
    proxy.plan = lambda seen: None
    assert list(store.list_unfinished()) == []
