"""A bucket is written to only after it has shown that one of all conditional puts succeeds."""

from __future__ import annotations

import secrets
from collections import Counter

import pytest

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.store.bucket.probe import RACERS, probe_once
from tests.manifests.store.bucket.fakes import FakeBucket, failure


def bucket() -> FakeBucket:
    """A bucket of a server that this process has not probed."""
    return FakeBucket(f"http://{secrets.token_hex(8)}")


def test_a_sound_bucket_is_probed_once_and_nothing_stays_in_it() -> None:
    fake = bucket()
    probe_once(fake, "db/", "s3://bucket/db")
    assert fake.objects == {}
    asked = Counter(method for method, _ in fake.requests)
    assert asked == {"put": 2 + RACERS, "read": RACERS, "remove": 2}
    assert asked.total() == 20
    assert all(key.startswith("db/_manifest/.tmp-") for _, key in fake.requests)
    probe_once(fake, "other/", "s3://bucket/other")
    assert len(fake.requests) == asked.total()


def test_a_server_that_ignores_the_condition_is_refused_each_time() -> None:
    fake = bucket()
    fake.checks_condition = False
    for _ in range(2):
        with pytest.raises(InvalidInputError, match="replaces an object .* conditional writes"):
            probe_once(fake, "", "s3://bucket")
    assert fake.objects == {}


def test_a_server_that_lets_several_writers_create_one_object_is_refused() -> None:
    fake = bucket()
    first: list[str] = []

    def before(method: str, key: str) -> None:
        if method == "put":
            first.append(key)
            fake.checks_condition = key == first[0]

    fake.before = before
    with pytest.raises(InvalidInputError, match="several concurrent writers create one object"):
        probe_once(fake, "", "s3://bucket")


@pytest.mark.parametrize("status", [400, 405, 501])
def test_a_server_without_conditional_writes_is_refused(status: int) -> None:
    fake = bucket()

    def before(method: str, key: str) -> None:
        if method == "put":
            raise failure(status)

    fake.before = before
    with pytest.raises(InvalidInputError, match="refuses conditional writes"):
        probe_once(fake, "", "s3://bucket")


def test_a_put_whose_answer_was_lost_is_known_by_its_bytes() -> None:
    fake = bucket()
    put, lost = fake.put, [True]

    def losing(key: str, data: bytes, *, if_absent: bool) -> None:
        put(key, data, if_absent=if_absent)
        if lost:
            lost.pop()
            raise failure(None, arrived=True, passing=True)

    fake.put = losing  # type: ignore[method-assign, assignment]
    probe_once(fake, "", "s3://bucket")
    assert not lost


def test_a_bucket_that_cannot_be_written_to_is_an_error_and_may_be_probed_again() -> None:
    fake = bucket()

    def before(method: str, key: str) -> None:
        raise failure(403)

    fake.before = before
    with pytest.raises(StoreError, match="s3://bucket could not be written"):
        probe_once(fake, "", "s3://bucket")
    fake.before = lambda method, key: None
    probe_once(fake, "", "s3://bucket")
