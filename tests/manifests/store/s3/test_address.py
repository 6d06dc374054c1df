"""A URL of a bucket names a place, or is refused without its secrets."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.address import parse_address


@pytest.mark.parametrize(
    ("url", "place", "shown"),
    [
        ("s3://bucket", ("bucket", ""), "s3://bucket"),
        ("s3://bucket/", ("bucket", ""), "s3://bucket"),
        ("s3a://bucket/a/b", ("bucket", "a/b/"), "s3://bucket/a/b"),
        ("S3://bucket/a/", ("bucket", "a/"), "s3://bucket/a"),
        ("s3://bucket/a b%20/ü#x", ("bucket", "a b%20/ü#x/"), "s3://bucket/a b%20/ü#x"),
    ],
)
def test_a_url_names_a_bucket_and_a_key(url: str, place: tuple[str, str], shown: str) -> None:
    assert parse_address(url)[1:] == place
    assert parse_address(url).url == shown
    assert isinstance(open_store(url), S3Store)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("s3:///a", "names no bucket"),
        ("s3://b", "names no bucket"),
        ("s3://bucket/a/../b", "an empty part, '.', '..'"),
        ("s3://bucket/./b", "an empty part, '.', '..'"),
        ("s3://bucket/a//b", "an empty part, '.', '..'"),
        ("s3://bucket/a\nb", "a control character"),
        ("s3://bucket/" + "x" * 401, "too long"),
        ("s3://key:canary@bucket/a?canary", "pass them as storage options"),
        ("s3://bucket/a?X-Amz-Signature=canary", "leave out the '[?]'"),
    ],
)
def test_a_url_that_cannot_work_is_refused_without_its_secrets(url: str, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        open_store(url)
    assert "canary" not in refused.value.message
