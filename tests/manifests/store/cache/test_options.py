"""The options of a cache are checked, and equal options mean one cache."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.cache.options import cache_of


def test_without_the_option_there_is_no_cache() -> None:
    assert cache_of({"key": "x"}, "s3://b") is None


def test_equal_options_mean_the_same_cache() -> None:
    one = cache_of({"cache": "/tmp/a/", "cache_bytes": "1 GiB"}, "s3://b")
    assert one is cache_of({"cache": "/tmp/a", "cache_bytes": 1 << 30}, "s3://c")
    assert one is not cache_of({"cache": "/tmp/a"}, "s3://b")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"cache": "relative"}, "cache of s3://b must be the absolute path"),
        ({"cache": True}, "cache of s3://b must be the absolute path"),
        ({"cache": ""}, "cache of s3://b must be the absolute path"),
        ({"cache": "/a\0b"}, "cache of s3://b must be the absolute path"),
        ({"cache": "/a", "cache_bytes": "much"}, "cache_bytes of s3://b must be a number of bytes"),
        ({"cache": "/a", "cache_bytes": -1}, "cache_bytes of s3://b must be a number of bytes"),
        ({"cache": "/a", "cache_bytes": 1.5}, "cache_bytes of s3://b must be"),
        ({"cache_bytes": 5}, "cache_bytes of s3://b needs the option cache"),
    ],
)
def test_a_malformed_option_is_named(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        cache_of(options, "s3://b")
