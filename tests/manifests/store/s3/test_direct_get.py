"""Reads that pass by botocore's layers ask for the same objects, and fail with the same errors."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from colonnade.manifests.errors import ColonnadeError, NotFoundError
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.client import S3Client, client_of
from colonnade.manifests.store.s3.settings import parse_settings
from tests.setup.http_proxy import Proxy, reply_cut, reply_dropped, status_before
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
KEYS = ("a b/c", "ü/%41?x=1&y", "~tilde/+plus", "q'uo\"te", "a/b#c")


def through_botocore(client: S3Client) -> list[str]:
    """Note the names of the operations that botocore's layers carry out from now on."""
    calls: list[str] = []
    client._sender.meta.events.register(
        "before-call.s3", lambda model, **others: calls.append(model.name)
    )
    return calls


@pytest.fixture
def fresh(minio: Minio, proxy: Proxy, bucket: str) -> Iterator[S3Store]:
    """A store with a client of its own, which has not asked for anything yet."""
    proxy.plan = lambda seen: None
    # An option of its own makes a client of its own.
    options = minio.options(endpoint_url=proxy.url, patience=5 + secrets.randbelow(10**6) / 10**6)
    yield S3Store(f"s3://{bucket}/{secrets.token_hex(4)}", options)
    proxy.plan = lambda seen: None


def test_botocore_is_asked_for_the_way_to_a_bucket_once(fresh: S3Store, proxy: Proxy) -> None:
    for key in KEYS:
        fresh.bucket.put(f"k/{key}", key.encode() * 9, if_absent=False)
    calls = through_botocore(fresh.client)
    for _ in range(2):
        for key in KEYS:
            body = key.encode() * 9
            assert fresh.bucket.read(f"k/{key}", lambda size: None) == body
            assert fresh.bucket.read_range(f"k/{key}", 3, 7) == body[3:10]
            assert fresh.bucket.read_range(f"k/{key}", len(body), 1) is None
    assert calls == ["GetObject"]


def test_an_absent_object_shows_the_way_to_its_bucket_too(fresh: S3Store) -> None:
    calls = through_botocore(fresh.client)
    for _ in range(3):
        with pytest.raises(NotFoundError):
            fresh.get("t/absent")
    assert calls == ["GetObject"]


ANSWERS: dict[str, Any] = {
    "403": status_before(403, "AccessDenied"),
    "expired": status_before(400, "ExpiredToken"),
    "no bucket": status_before(404, "NoSuchBucket"),
    "teapot": status_before(418, "Strange"),
    "busy": status_before(503, "SlowDown"),
    "cut": reply_cut,
    "dropped": reply_dropped,
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_failed_read_has_the_error_that_botocore_leads_to(
    fresh: S3Store, proxy: Proxy, answer: Any
) -> None:
    fresh.put("t/a", b"x" * 1000, sync=True)
    fresh.client.patience_s = 0.05

    def failed() -> tuple[type, str, object]:
        proxy.always(answer, "GET")
        with pytest.raises(ColonnadeError) as found:
            fresh.get("t/a")
        proxy.plan = lambda seen: None
        return type(found.value), found.value.message, getattr(found.value, "retryable", None)

    fresh.client._gets._ways.clear()
    through = failed()
    fresh.client._gets._ways.clear()
    assert fresh.get("t/a") == b"x" * 1000
    assert fresh.client._gets._ways  # of a new client, if the credentials of the first are over
    assert failed() == through


def test_a_busy_server_is_not_asked_twice_for_one_request(fresh: S3Store, proxy: Proxy) -> None:
    fresh.put("t/a", b"x", sync=True)
    assert fresh.get("t/a") == b"x"
    proxy.seen.clear()
    proxy.once(status_before(503, "SlowDown"), "GET")
    assert fresh.get("t/a") == b"x"
    assert proxy.count("GET") == 2, "the refused request, and its repetition"


def test_a_bucket_that_has_moved_is_looked_for_again(fresh: S3Store, proxy: Proxy) -> None:
    fresh.put("t/a", b"x", sync=True)
    assert fresh.get("t/a") == b"x"
    calls = through_botocore(fresh.client)
    proxy.once(status_before(301, "PermanentRedirect"), "GET")
    assert fresh.get("t/a") == b"x"
    assert calls.count("GetObject") == 1
    assert fresh.get("t/a") == b"x"
    assert calls.count("GetObject") == 1


def test_reads_without_credentials_and_by_the_requester_are_direct_too(
    minio: Minio, proxy: Proxy, bucket: str
) -> None:
    proxy.plan = lambda seen: None
    for options in ({"requester_pays": True}, {"anon": True, "key": None, "secret": None}):
        store = S3Store(f"s3://{bucket}/t", minio.options(endpoint_url=proxy.url, **options))
        proxy.seen.clear()
        for _ in range(2):
            with pytest.raises(ColonnadeError):
                store.get("t/absent")
        first, second = (seen.headers for seen in proxy.seen)
        kept = ("x-amz-request-payer", "user-agent")
        assert [first.get(name) for name in kept] == [second.get(name) for name in kept]
        assert ("authorization" in first) == ("authorization" in second) == ("anon" not in options)


def test_botocore_reads_everything_if_it_lacks_what_direct_reads_need(
    minio: Minio, bucket: str
) -> None:
    options = minio.options(patience=3.25)
    client = client_of(parse_settings(options, f"s3://{bucket}/t", {}))
    store = S3Store(f"s3://{bucket}/{secrets.token_hex(4)}", options)
    store.put("t/a", b"x", sync=True)
    gets = type(client._gets)(_Sender(client._sender))
    client._gets = gets
    calls = through_botocore(client)
    for _ in range(3):
        assert store.get("t/a") == b"x"
    assert calls == ["GetObject"] * 3


class _Sender:
    """A client of a botocore whose inner parts have other names."""

    def __init__(self, sender: Any) -> None:
        self.get_object = sender.get_object
        self.meta = sender.meta
