"""Bodies that are whole, cut or of another length than was asked for, and connections."""

from __future__ import annotations

import pytest
import requests
from urllib3.exceptions import MaxRetryError, NewConnectionError

from colonnade.manifests.store.bucket.http import (
    body_of,
    is_unconnected,
    part_body,
    session,
    whole_body,
)
from tests.manifests.store.hdfs.answers import answer


def test_a_body_that_is_cut_is_a_broken_connection_and_not_an_object() -> None:
    assert body_of(answer(body=b"abc")) == body_of(answer(body=b"abc", Content_Length="3"))
    with pytest.raises(ConnectionError):
        body_of(answer(body=b"ab", Content_Length="3"))


def test_the_size_of_an_object_is_checked_before_its_bytes_are_taken() -> None:
    sizes: list[int] = []
    assert whole_body(sizes.append)(answer(body=b"abc", Content_Length="3")) == b"abc"
    assert sizes == [3]


def test_a_part_of_another_length_than_was_asked_for_is_no_part() -> None:
    assert part_body(3)(answer(body=b"abc", Content_Length="3")) == b"abc"
    assert part_body(3)(answer(body=b"abc")) == b"abc"
    assert part_body(2)(answer(body=b"abc", Content_Length="3")) is None
    assert part_body(2)(answer(body=b"abc")) is None


def test_a_pool_of_connections_repeats_no_request_and_has_no_password_of_its_own() -> None:
    made = session(7)
    for url in ("http://a", "https://a"):
        assert made.get_adapter(url).max_retries.total == 0
    request = requests.Request("GET", "http://a").prepare()
    assert made.auth(request) is request


def test_an_error_of_a_new_connection_is_told_from_one_of_a_request() -> None:
    new = NewConnectionError(None, "refused")  # type: ignore[arg-type]
    assert is_unconnected(requests.ConnectionError(MaxRetryError(None, "/", new)))  # type: ignore[arg-type]
    assert not is_unconnected(requests.ConnectionError("reset"))
    assert not is_unconnected(requests.ConnectionError())
